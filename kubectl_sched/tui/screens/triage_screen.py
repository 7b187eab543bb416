"""All pending pods by what keeps them pending; the groups come in while pods are judged and help is searched."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import work

from kubectl_sched.queries.triage import Triage
from kubectl_sched.render.answers.triage import lacking_in_words
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.group_sentences import cause_in_words
from kubectl_sched.tui.keys import TRIAGE
from kubectl_sched.tui.lines.group_lines import group_rows, lines_above, lines_below, matching_groups
from kubectl_sched.tui.screens.filtered_page import FilteredPage
from kubectl_sched.tui.screens.group_screen import GroupScreen, TrialScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.triage import Group, Triaging
    from kubectl_sched.tui.engine import Engine
    from kubectl_sched.tui.widgets.line_list import LineList

_STEP_SECONDS = 0.2
"""The time after which what has been judged is shown."""


class TriageScreen(FilteredPage):
    """A row for each group, the largest first, then the nodes whose kubelets refuse pods, and notes."""

    def __init__(self, triaging: Triaging, engine: Engine, open_one: Callable[[Explanation], None]) -> None:
        super().__init__(TRIAGE, cursor=True)
        self._triaging = triaging
        self._engine = engine
        self._open_one = open_one
        self._groups: list[Group] = []
        self._shown: list[Group] = []
        self._triage = Triage(groups=())
        self._judged = 0
        self._is_judging = True
        self._is_settled = False
        self._searched = 0

    def on_mount(self) -> None:
        """Begin to judge."""
        self.fill_in()

    @work(exclusive=True, group="fill")
    async def fill_in(self) -> None:
        """Judge pods and show their groups, then search what helps each group, the largest first."""
        judging = self._triaging.judge()
        while self._is_judging:
            self._judged, self._is_judging = await self._engine.run(lambda: _advanced(judging, self._judged))
            await self._engine.run(self._group)
            self.draw()
        for index, group in enumerate(self._groups):
            self._groups[index] = await self._engine.run(partial(self._triaging.helped, group))
            self._searched = index + 1
            self.draw()
        found = await self._engine.run(lambda: self._triaging.answer(tuple(self._groups)))
        self._triage = replace(found, changing=(*found.warnings, *found.changing))
        self.draw()

    def _group(self) -> None:
        """Group what has been judged, with every sentence that is drawn: replays take turns in the engine's thread."""
        self._groups = list(self._triaging.groups())
        workloads = self._triaging.workloads(self._groups)
        self._triage = Triage(groups=(), workloads=workloads, at=self._triaging.at, refusals=self._triaging.refusals)
        for group in self._groups:
            cause_in_words(group)

    def draw(self) -> None:
        """The groups that match, at the present width."""
        self.head(lines_above(self._told(), self._triage, self.size.width))
        at = self.lines.cursor
        # Until all are judged the cursor of somebody who has not moved it stays on the largest group.
        is_kept = at < len(self._shown) and (at or self._is_settled)
        chosen = self._shown[at].cause if is_kept else None
        self._is_settled = not self._is_judging
        self._shown = matching_groups(self._groups, self.entry.value)
        width = self.size.width - 1
        causes = [group.cause for group in self._shown]
        self.lines.show_rows(
            group_rows(self._shown, self._triage, width),
            heading=None,
            cursor=causes.index(chosen) if chosen in causes else 0,
            below=lines_below(self._triage, width),
        )

    def _told(self) -> str:
        """The progress: pods judged, then groups searched, then the sum."""
        told = lacking_in_words(self._groups)
        refusing = len({each.node for each in self._triaging.refusals})
        nodes = f"; {count(refusing, 'node')} {'refuses' if refusing == 1 else 'refuse'} pods" if refusing else ""
        if self._is_judging:
            total = len(self._triaging.pods)
            causes = count(len(self._groups), "cause")
            return f"{count(total, 'pod')} to judge, {self._judged:,} judged so far: {causes}{nodes}"
        if self._searched < len(self._groups):
            return f"{told}{nodes}; looking for what helps: {self._searched:,} of {len(self._groups):,}"
        return f"{told}{nodes}"

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Open the group."""
        self.app.push_screen(GroupScreen(self._shown[event.index], self._try, self._open_one))

    def action_try_all(self) -> None:
        """Try what helps on all pods of the group under the cursor."""
        if self._shown:
            self._try(self._shown[self.lines.cursor])

    @work(exclusive=True, group="try")
    async def _try(self, group: Group) -> None:
        group = next((each for each in self._groups if each.cause == group.cause), group)
        if group.suggestions is None:
            self.app.notify("looking for what helps these pods", markup=False)
            group = await self._engine.run(lambda: self._triaging.helped(group))
        self.app.push_screen(TrialScreen(group))


def _advanced(judging: Iterator[int], done: int) -> tuple[int, bool]:
    """Judge pods for a moment, and return how many are done, and whether any may be left."""
    until = time.monotonic() + _STEP_SECONDS
    for number in judging:
        done = number
        if time.monotonic() >= until:
            return done, True
    return done, False

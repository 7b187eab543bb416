"""One group of pending pods: a line for each pod, of which one opens in the explorer; and what helps all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.tui.keys import GROUP, TRIAL
from kubectl_sched.tui.lines.group_lines import group_heading, trial_lines
from kubectl_sched.tui.lines.pod_lines import PodLines, matching, whole
from kubectl_sched.tui.screens.filtered_page import FilteredPage
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.triage import Group
    from kubectl_sched.tui.widgets.line_list import LineList


class GroupScreen(FilteredPage):
    """The pods in the order of the cluster."""

    def __init__(
        self, group: Group, try_all: Callable[[Group], object], open_one: Callable[[Explanation], None]
    ) -> None:
        super().__init__(GROUP, cursor=True)
        self._group = group
        self._try_all = try_all
        self._open_one = open_one
        self._shown = list(range(len(group.answers)))

    def draw(self) -> None:
        """Draw the pods that match, at the present width."""
        explanations = self._group.answers
        self.head(group_heading(self._group, self.size.width))
        self._shown = matching(explanations, self.entry.value)
        line_of = PodLines(explanations, self.size.width - 1)
        self.lines.show(
            len(self._shown),
            lambda index: line_of(explanations[self._shown[index]]),
            heading=line_of.heading,
            cursor=self.lines.cursor,
        )
        self.on_line_list_moved()

    def on_line_list_moved(self) -> None:
        """Show the whole sentence about the pod under the cursor."""
        at = self.lines.cursor
        self.show_below(whole(self._group.answers[self._shown[at]], self.size.width) if self._shown else ())

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Open the pod; one that was never created has no verdict of any node to show."""
        answer = self._group.answers[self._shown[event.index]]
        if not isinstance(answer.result, CycleResult) and self._group.missing:
            self.app.notify("it was never created, so no node was judged", markup=False)
        else:
            self._open_one(answer)

    def action_try_all(self) -> None:
        """Try what helps on all pods of the group."""
        self._try_all(self._group)


class TrialScreen(Page[None]):
    """The ladder of the group, and where its pods land by each rung."""

    def __init__(self, group: Group) -> None:
        super().__init__(TRIAL, cursor=True)
        self._group = group

    def draw(self) -> None:
        """All of it, at the present width."""
        self.head(group_heading(self._group, self.size.width))
        self.lines.show_lines(trial_lines(self._group, self.size.width - 1), cursor=self.lines.cursor)

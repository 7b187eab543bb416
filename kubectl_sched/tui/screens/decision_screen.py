"""One pod's decision as a screen holds it: the view, and what if."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen
from textual.widgets import Static

from kubectl_sched.errors import SchedError
from kubectl_sched.tui import explorer_state
from kubectl_sched.tui.decision import context_of, why_untriable
from kubectl_sched.tui.edits import EditNodes, TakeUp, texts
from kubectl_sched.tui.entry_completion import words_of
from kubectl_sched.tui.keys import EXPLORER, WHAT_IF
from kubectl_sched.tui.lines.what_if_lines import suggestion_lines
from kubectl_sched.tui.listing import Listing
from kubectl_sched.tui.pipeline import stage_named, stages
from kubectl_sched.tui.screens.lines_screen import copied
from kubectl_sched.tui.typed_edits import parse
from kubectl_sched.tui.widgets.key_line import KeyLine
from kubectl_sched.tui.widgets.line_list import LineList
from kubectl_sched.tui.widgets.texts import as_texts
from kubectl_sched.tui.widgets.what_if_pane import WhatIfPane

if TYPE_CHECKING:
    from kubectl_sched.suggestions.suggestion import Suggestion
    from kubectl_sched.tui.decision import Decision
    from kubectl_sched.tui.edits import Edit
    from kubectl_sched.tui.engine import Engine
    from kubectl_sched.tui.explorer_input import Exploration
    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.pipeline import Stage


class DecisionScreen(Screen[None]):
    """Holds one View; every key makes another of it, and `show` has it drawn. Edits are replayed in another thread."""

    def __init__(self, decision: Decision, about: Exploration, engine: Engine) -> None:
        super().__init__()
        self._decision = decision
        self.about = about
        self.engine = engine
        self._replaying = asyncio.Lock()
        self.view: View = explorer_state.opened(decision.explanation)
        self.listing = Listing(decision.explanation.result, decision.explanation.result)
        self.stages = stages(decision.explanation)
        self.rows: list[int] = []
        """The rows of the nodes that are listed, in their order."""

        self.suggestions: tuple[Suggestion, ...] = ()
        self.chosen_suggestion = 0
        self.message = ""

    @property
    def nodes(self) -> LineList:
        """The list."""
        return self.query_one("#nodes", LineList)

    @property
    def pane(self) -> WhatIfPane:
        """The pane in which changes are typed."""
        return self.query_one(WhatIfPane)

    @property
    def row(self) -> int | None:
        """The row of the node under the cursor; None if no node is listed."""
        return self.rows[self.nodes.cursor] if self.rows else None

    @property
    def row_name(self) -> str:
        """Its name; empty where no node is listed."""
        return "" if self.row is None else self.view.result.nodes.names[self.row]

    @property
    def stage(self) -> Stage | None:
        """The step that the list is narrowed to."""
        return stage_named(self.stages, self.view.stage)

    def show(self, view: View, message: str = "", *, row: int | None = None) -> None:
        """Draw another view; the cursor stays on its node, unless another is given."""
        is_other = view.result is not self.view.result
        row = self.row if row is None else row
        self.view, self.message = view, message
        if is_other:
            self.listing = Listing(view.result, view.base.result)
            self.stages = stages(view.explanation)
            self.suggestions = ()
            self.suggest()
        self.draw(row=row)

    @abstractmethod
    def draw(self, *_: object, row: int | None = None) -> None:
        """Draw the view, with the cursor on that row, or where it is."""

    def draw_suggestion(self) -> None:
        """The suggestion that a key would apply, and what the edits come to."""
        room = self.query_one("#side").content_size.width or self.size.width
        lines = suggestion_lines(self.suggestions, self.chosen_suggestion, room)
        line = self.query_one("#suggestion", Static)
        line.display = bool(lines)
        line.update(as_texts(lines, self.app.theme))
        self.pane.show(self.view, self.suggestions, self.chosen_suggestion)

    @work(exclusive=True, group="suggestions")
    async def suggest(self, node: str | None = None) -> None:
        """Search for changes that let the pod in, or bring it to one node."""
        explanation = self.view.explanation
        try:
            found = await self.engine.run(lambda: self._decision.suggestions(explanation, node))
        except SchedError as error:
            self.show(self.view, str(error))
            return
        if node is not None and not found:
            self.show(self.view, f"no change that was tried brings the pod to {node}")
        self.suggestions, self.chosen_suggestion = found, 0
        self.draw_suggestion()

    def action_what_if(self) -> None:
        """Begin to type a change."""
        self.add_class("what-if")
        self.pane.open(words_of(self.view.result))
        self.query_one(KeyLine).show(WHAT_IF)
        self.draw_suggestion()

    def on_what_if_pane_left(self) -> None:
        """Back to the list."""
        self.remove_class("what-if")
        self.set_focus(self.nodes)
        self.query_one(KeyLine).show(EXPLORER)
        self.call_after_refresh(self.draw)  # the width of a hidden widget is not known

    def on_what_if_pane_submitted(self, event: WhatIfPane.Submitted) -> None:
        """Make the change that was typed."""
        try:
            edits = parse(event.entry, context_of(self.view.result, self.row_name))
        except SchedError as error:
            self.pane.tell(str(error))
            return
        self.pane.taken()
        self.edit(edits, entry=event.entry)

    def action_cordon(self) -> None:
        """Cordon the node under the cursor, or uncordon it."""
        if self.row is not None:
            verb = "uncordon" if self.view.result.nodes.unschedulable[self.row] else "cordon"
            self.edit((EditNodes(verb=verb, nodes=self.row_name),))

    def action_apply(self) -> None:
        """Make the changes of the suggestion that is shown."""
        if not self.suggestions:
            self.show(self.view, "there is no suggestion to apply")
            return
        suggestion = self.suggestions[self.chosen_suggestion % len(self.suggestions)]
        if why := why_untriable(suggestion):
            self.show(self.view, why)
            return
        self.suggestions = ()  # none is made twice, nor one that was tried without this change
        self.edit(tuple(TakeUp(change=change) for change in suggestion.changes))

    def action_copy(self) -> None:
        """Copy the commands of the suggestion that is shown."""
        chosen = self.suggestions[self.chosen_suggestion % len(self.suggestions)] if self.suggestions else None
        self.show(self.view, copied(self.app, chosen.to_paste if chosen is not None else ""))

    def action_ask(self) -> None:
        """Search for changes that let the pod land on the node under the cursor."""
        if self.row is not None:
            self.suggest(self.row_name)

    def action_next_suggestion(self) -> None:
        """Show the next one."""
        self.chosen_suggestion += 1
        self.draw_suggestion()

    @work(group="edits")
    async def edit(self, edits: tuple[Edit, ...], entry: str | None = None) -> None:
        """Replay with more edits, in the other thread; one after the other, each on top of the one before."""
        async with self._replaying:
            wanted = (*self.view.edits, *edits)
            try:
                explanation = await self.engine.run(lambda: self._decision.with_edits(wanted))
            except SchedError as error:
                self._refuse(str(error), entry)
                return
            self.show(explorer_state.edited(self.view, wanted, explanation))

    def _refuse(self, problem: str, entry: str | None) -> None:
        if self.pane.is_open:
            self.pane.tell(problem, entry=entry)
        else:
            self.show(self.view, problem)

    @work(group="edits")
    async def action_undo(self) -> None:
        """Take the last change back, once it has been made."""
        async with self._replaying:
            if self.view.past:
                before = explorer_state.undone(self.view)
                told = "; ".join(texts(self.view.edits[len(before.edits) :]))
                self.show(before, f"undone: {told}")
            else:
                self.show(self.view, "there is nothing to undo")

    @work(group="edits")
    async def action_redo(self) -> None:
        """Make it again."""
        async with self._replaying:
            if self.view.future:
                self.show(explorer_state.redone(self.view))
            else:
                self.show(self.view, "there is nothing to redo")

"""The pane in which changes are typed, with their result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from kubectl_sched.tui.entry_completion import completion
from kubectl_sched.tui.lines.what_if_lines import hint, pane_lines
from kubectl_sched.tui.widgets.line_list import LineList
from kubectl_sched.tui.widgets.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult

    from kubectl_sched.suggestions.suggestion import Suggestion
    from kubectl_sched.tui.explorer_state import View


class _Words(Suggester):
    """Completes an entry with the names of this cluster."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.words: Mapping[str, tuple[str, ...]] = {}

    async def get_suggestion(self, value: str) -> str | None:
        return completion(value, self.words)


class WhatIfPane(Vertical):
    """An entry, how to write it, and below it the edits and what they change."""

    DEFAULT_CSS = """
    WhatIfPane {
        height: 9;
        border-top: solid $primary;
        border-title-align: left;
    }
    WhatIfPane Input { border: none; height: 1; padding: 0; }
    WhatIfPane #hint { height: auto; max-height: 3; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False),
        Binding("tab", "complete", "Complete", show=False, priority=True),
    ]

    @dataclass
    class Submitted(Message):
        """An entry, as it was typed."""

        entry: str

    class Left(Message):
        """Back to the list."""

    def __init__(self) -> None:
        super().__init__()
        self.border_title = "What if"
        self.display = False
        self._suggester = _Words()
        self._problem = ""

    def compose(self) -> ComposeResult:
        """An entry above its hint and a list."""
        yield Input(
            placeholder="tolerate key=value:NoSchedule", suggester=self._suggester, compact=True, select_on_focus=False
        )
        yield Static(id="hint", markup=False)
        yield LineList(cursor=False, id="edits")

    def open(self, words: Mapping[str, tuple[str, ...]]) -> None:
        """Show the pane and begin to type."""
        self._suggester.words = words
        self.display = True
        self.screen.set_focus(self.query_one(Input))  # at once: what is typed ahead is meant for it
        self.tell("")

    @property
    def is_open(self) -> bool:
        """Report whether it is on the screen."""
        return bool(self.display)

    def tell(self, problem: str, *, entry: str | None = None) -> None:
        """Say what is wrong with an entry, which is then there to be corrected; an empty problem takes it away."""
        self._problem = problem
        if entry is not None:
            with self.prevent(Input.Changed):
                self.query_one(Input).value = entry
        self._show_hint()

    def show(self, view: View, suggestions: Sequence[Suggestion], chosen: int) -> None:
        """Show the result of the edits."""
        lines = self.query_one("#edits", LineList)
        lines.show_lines(pane_lines(view, suggestions, chosen, self.content_size.width or self.app.size.width))

    def _show_hint(self) -> None:
        width = self.content_size.width or self.app.size.width
        lines = hint(self.query_one(Input).value, self._problem, width)
        self.query_one("#hint", Static).update(as_texts(lines, self.app.theme))

    def on_input_changed(self) -> None:
        """Another entry, another hint."""
        self._problem = ""
        self._show_hint()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the entry over."""
        event.stop()
        if event.value.strip():
            self.post_message(self.Submitted(event.value))

    def taken(self) -> None:
        """The entry has been made: the next one begins."""
        self.query_one(Input).clear()
        self.tell("")

    def action_leave(self) -> None:
        """Close the pane; the edits stay."""
        self.display = False
        self.post_message(self.Left())

    def action_complete(self) -> None:
        """Take what is shown ahead of the cursor."""
        self.query_one(Input).action_cursor_right()

"""A list that is filtered as one types: every letter goes into the filter, `q` too, and the arrows move in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult


class _Filter(Input):
    """Takes every letter; a question mark asks for help, as nothing that is listed has one."""

    async def on_key(self, event: events.Key) -> None:
        """Help, before the entry takes the key."""
        if event.key == "question_mark":
            event.stop()
            event.prevent_default()
            await self.run_action("app.help")


class FilteredPage(Page[None]):
    """The filter has the focus; enter opens what is under the cursor."""

    DEFAULT_CSS = """
    FilteredPage Input { border: none; height: 1; padding: 0; dock: bottom; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "list_move(1)", "Down", show=False),
        Binding("up", "list_move(-1)", "Up", show=False),
        Binding("pagedown", "list_page(1)", "Page down", show=False),
        Binding("pageup", "list_page(-1)", "Page up", show=False),
        Binding("tab", "try_all", "Try"),
        Binding("escape", "back", "Back"),
    ]

    def compose(self) -> ComposeResult:
        """The list, and the filter below it."""
        yield from super().compose()
        yield _Filter(placeholder="type to filter by cause, workload or pod", compact=True, select_on_focus=False)

    @property
    def entry(self) -> Input:
        """The filter: whatever is typed goes into it."""
        return self.query_one(Input)

    def action_list_move(self, step: int) -> None:
        """A line up or down."""
        self.lines.action_move(step)

    def action_list_page(self, direction: int) -> None:
        """A screen up or down."""
        self.lines.action_page(direction)

    def on_input_changed(self) -> None:
        """Filter as it is typed."""
        self.draw()

    def on_input_submitted(self) -> None:
        """Open what is under the cursor."""
        self.lines.action_choose()

    def action_back(self) -> None:
        """Drop the filter; without one, to the screen before, or out."""
        if self.entry.value:
            self.entry.value = ""
        elif len(self.app.screen_stack) > 2:
            self.dismiss(None)
        else:
            self.app.exit()

"""A screen of lines above a line of keys: what the smaller screens have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from kubectl_sched.render.safe_text import clipped
from kubectl_sched.tui.lines.line import first_lines
from kubectl_sched.tui.widgets.key_line import KeyLine
from kubectl_sched.tui.widgets.line_list import LineList
from kubectl_sched.tui.widgets.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App, ComposeResult
    from textual.widget import Widget

    from kubectl_sched.tui.keys import Key
    from kubectl_sched.tui.lines.line import Line

R = TypeVar("R")

_TOLD = 60
"""So much of a command shows which it is."""


def copied(app: App[Any], command: str) -> str:
    """Copy a command to the clipboard of the terminal (OSC 52), and return the words that tell so."""
    if not command:
        return "there is no command here to copy"
    app.copy_to_clipboard(command)
    return f"copied: {clipped(command, _TOLD)}"


class Page(Screen[R]):
    """A heading of some lines, a list, lines below it, and the keys.

    `draw` shows them, and again whenever the width changes.
    """

    DEFAULT_CSS = """
    Page #heading { height: auto; border-bottom: solid $primary; }
    Page #below { height: auto; border-top: solid $primary; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "app.leave", "Quit"),
        Binding("question_mark", "app.help", "Help"),
        Binding("t", "app.next_theme", "Theme"),
        Binding("y", "copy", "Copy"),
    ]

    def __init__(self, keys: Sequence[Key], *, cursor: bool) -> None:
        super().__init__()
        self.keys = keys
        self._has_cursor = cursor

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="heading", markup=False)
        yield LineList(cursor=self._has_cursor, id="lines")
        yield Static(id="below", markup=False)
        yield KeyLine(self.keys)

    @property
    def lines(self) -> LineList:
        """The list."""
        return self.query_one("#lines", LineList)

    @property
    def entry(self) -> Widget:
        """The widget that keys are for."""
        return self.lines

    def head(self, lines: Sequence[Line]) -> None:
        """Show the heading."""
        self.query_one("#heading", Static).update(as_texts(self._fitting(lines), self.app.theme))

    def show_below(self, lines: Sequence[Line]) -> None:
        """Show lines below the list; without any, the list has their room."""
        below = self.query_one("#below", Static)
        below.display = bool(lines)
        below.update(as_texts(self._fitting(lines), self.app.theme))

    def _fitting(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Return what fits, with a border, on two fifths of the screen: the list has the rest."""
        return first_lines(lines, max(self.size.height * 2 // 5 - 1, 1), self.size.width)

    def on_mount(self) -> None:
        """Colours follow the theme."""
        self.set_focus(self.entry)
        self.watch(self.app, "theme", self.draw, init=False)

    def on_resize(self) -> None:
        """Another width."""
        self.draw()

    @abstractmethod
    def draw(self) -> None:
        """Show everything at the present width."""

    def action_copy(self) -> None:
        """Copy the command under the cursor."""
        self.app.notify(copied(self.app, self.lines.command), markup=False)

    def action_back(self) -> None:
        """To the screen before."""
        self.dismiss(None)

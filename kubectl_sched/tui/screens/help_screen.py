"""All keys, marks and entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from kubectl_sched.tui.entry import FORMS
from kubectl_sched.tui.keys import help_lines
from kubectl_sched.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult


class HelpScreen(ModalScreen[None]):
    """A page over whatever is shown; any of its keys closes it."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen LineList { width: 92%; height: 92%; border: round $primary; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """One list."""
        lines = LineList(cursor=False)
        lines.border_title = "Help"
        lines.border_subtitle = "esc closes"
        yield lines

    def on_resize(self) -> None:
        """Another width, other lines."""
        lines = self.query_one(LineList)
        lines.show_lines(help_lines(list(FORMS.values()), max(self.size.width * 92 // 100 - 6, 20)))

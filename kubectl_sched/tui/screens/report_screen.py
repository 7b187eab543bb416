"""Everything that is said of the decision as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.tui.keys import REPORT
from kubectl_sched.tui.lines.line import Tone, line
from kubectl_sched.tui.lines.report_lines import report_lines
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.suggestions.change import Suggestion
    from kubectl_sched.tui.explorer_state import View


class ReportScreen(Page[None]):
    """Paragraphs to scroll through."""

    def __init__(self, view: View, suggestions: Sequence[Suggestion], notes: Sequence[str]) -> None:
        super().__init__(REPORT, cursor=True)
        self._view = view
        self._suggestions = suggestions
        self._notes = notes

    def draw(self) -> None:
        """All of it, at the present width."""
        self.head([line(f"All that is said of {self._view.result.pod.key}", Tone.STRONG)])
        self.lines.show_lines(
            report_lines(self._view, self._suggestions, self._notes, self.size.width - 1),
            cursor=self.lines.cursor,
        )

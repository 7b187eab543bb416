"""Several pods: a line each; one opens its decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from kubectl_sched.render.answers.pods import in_sum
from kubectl_sched.tui.keys import PODS
from kubectl_sched.tui.lines.line import Tone, wrapped
from kubectl_sched.tui.lines.pod_lines import PodLines, matching, whole
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from kubectl_sched.tui.decision import Decision
    from kubectl_sched.tui.widgets.line_list import LineList


class PodsScreen(Page[None]):
    """The pods in the order in which they were asked for."""

    DEFAULT_CSS = """
    PodsScreen Input { border: none; height: 1; padding: 0; dock: bottom; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "filter", "Filter")]

    def __init__(self, decisions: Sequence[Decision], open_one: Callable[[Decision], None]) -> None:
        super().__init__(PODS, cursor=True)
        self._decisions = decisions
        self._open_one = open_one
        self._shown = list(range(len(decisions)))

    def compose(self) -> ComposeResult:
        """The list, and a filter below it."""
        yield from super().compose()
        yield Input(placeholder="filter: part of a name or reason", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """The filter is out of sight until it is asked for."""
        self.query_one(Input).display = False

    def draw(self) -> None:
        """Draw the pods that match, at the present width."""
        width = self.size.width
        explanations = [decision.explanation for decision in self._decisions]
        self.head(wrapped(in_sum(explanations, None), width, Tone.STRONG))
        self._shown = matching(explanations, self.query_one(Input).value)
        line_of = PodLines(explanations, width - 1)
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
        self.show_below(whole(self._decisions[self._shown[at]].explanation, self.size.width) if self._shown else ())

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Open one."""
        self._open_one(self._decisions[self._shown[event.index]])

    def action_filter(self) -> None:
        """Type a filter."""
        entry = self.query_one(Input)
        entry.display = True
        self.set_focus(entry)

    def on_input_changed(self) -> None:
        """Filter as it is typed."""
        self.draw()

    def on_input_submitted(self) -> None:
        """Keep the filter, and go back to the list."""
        self.lines.focus()

    def action_back(self) -> None:
        """Drop the filter; without one there is nowhere to go back to."""
        entry = self.query_one(Input)
        entry.value = ""
        entry.display = False
        self.lines.focus()

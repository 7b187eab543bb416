"""One node: every plugin, and the evidence behind the one under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kubectl_sched.tui.keys import NODE
from kubectl_sched.tui.lines.line import Tone, first_lines, line, wrapped
from kubectl_sched.tui.lines.node_lines import about, findings, title
from kubectl_sched.tui.screens.lines_screen import Page
from kubectl_sched.tui.widgets.key_line import KeyLine
from kubectl_sched.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.engine import Engine
    from kubectl_sched.tui.lines.node_lines import Finding


class NodeScreen(Page[int]):
    """Plugins above, evidence below. It ends with the row that it last showed."""

    DEFAULT_CSS = """
    NodeScreen #lines { height: 3fr; }
    NodeScreen #evidence { height: 2fr; border-top: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "step(1)", "Next node"),
        Binding("left,h", "step(-1)", "Previous node"),
    ]

    def __init__(self, result: ScheduleResult, rows: Sequence[int], at: int, engine: Engine) -> None:
        super().__init__(NODE, cursor=True)
        self._result = result
        self._rows = rows
        self._at = at
        self._engine = engine
        self._findings: list[Finding] = []

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="heading", markup=False)
        yield LineList(id="lines")
        yield LineList(cursor=False, id="evidence")
        yield KeyLine(NODE)

    def draw(self) -> None:
        """The plugins, once their evidence is gathered."""
        row, width = self._rows[self._at], self.size.width
        place = f" ({self._at + 1:,} of {len(self._rows):,})"
        text, tone = title(self._result, row)
        verdict = first_lines(wrapped(f"{text}{place}", width, tone), 3, width)
        self.head([*verdict, *wrapped(about(self._result, row), width, Tone.DIM)])
        self._gather(row, width)

    @work(exclusive=True, group="findings")
    async def _gather(self, row: int, width: int) -> None:
        self._findings = await self._engine.run(lambda: findings(self._result, row, width - 1))
        keep = self.lines.cursor
        self.lines.show_lines([each.line for each in self._findings], cursor=keep)
        self._unfold(self.lines.cursor)

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Another plugin, other evidence."""
        self._unfold(event.index)

    def _unfold(self, index: int) -> None:
        if self._findings:
            finding = self._findings[index]
            nothing = (line("    no evidence beyond the figures above"),)
            self.query_one("#evidence", LineList).show_lines(finding.evidence or nothing)

    def action_step(self, step: int) -> None:
        """The next node of the list, or the one before."""
        self._at = max(0, min(self._at + step, len(self._rows) - 1))
        self.draw()

    def action_back(self) -> None:
        """To the list, at the node that was shown last."""
        self.dismiss(self._rows[self._at])

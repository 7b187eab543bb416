"""Two nodes side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from kubectl_sched.render.safe_text import safe
from kubectl_sched.tui.keys import COMPARE
from kubectl_sched.tui.lines.comparison import comparison
from kubectl_sched.tui.lines.line import Tone, line
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.engine import Engine


class CompareScreen(Page[None]):
    """Every plugin's bars for both, who leads by how much, and what would turn it round."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "swap", "Swap sides")]

    def __init__(self, result: ScheduleResult, left: int, right: int, engine: Engine) -> None:
        super().__init__(COMPARE, cursor=False)
        self._result = result
        self._sides = left, right
        self._engine = engine

    def draw(self) -> None:
        """Both, at the present width."""
        names = [safe(self._result.nodes.names[row]) for row in self._sides]
        self.head([line(f"{names[0]} against {names[1]}", Tone.STRONG)])
        self._compare(self.size.width - 1)

    @work(exclusive=True, group="compare")
    async def _compare(self, width: int) -> None:
        left, right = self._sides
        self.lines.show_lines(await self._engine.run(lambda: comparison(self._result, left, right, width)))

    def action_swap(self) -> None:
        """The other way round."""
        self._sides = self._sides[1], self._sides[0]
        self.draw()

"""The weights at which another node would win."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from kubectl_sched.render.safe_text import listed, safe
from kubectl_sched.tui.edits import Weigh
from kubectl_sched.tui.keys import WEIGHTS
from kubectl_sched.tui.lines.line import Tone, line
from kubectl_sched.tui.lines.weight_lines import heading, weight_lines
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.engine import Engine
    from kubectl_sched.tui.lines.weight_lines import WeightLine
    from kubectl_sched.tui.widgets.line_list import LineList


class WeightsScreen(Page[Weigh]):
    """Ends with the weight to try, where one was chosen."""

    def __init__(self, result: ScheduleResult, row: int, engine: Engine) -> None:
        super().__init__(WEIGHTS, cursor=True)
        self._result = result
        self._row = row
        self._engine = engine
        self._turns: list[WeightLine] = []

    def draw(self) -> None:
        """The plugins, at the present width."""
        best = listed(self._result.best)
        self.head([
            line(f"{best} {'wins' if len(self._result.best) == 1 else 'are tied'}: what would change it", Tone.STRONG),
            line("each weight by itself, with all others left as they are", Tone.DIM),
        ])  # fmt: skip
        self._weigh(self.size.width - 1)

    @work(exclusive=True, group="weights")
    async def _weigh(self, width: int) -> None:
        self._turns = await self._engine.run(lambda: weight_lines(self._result, self._row, width))
        name = safe(self._result.nodes.names[self._row])
        self.lines.show_lines([turn.line for turn in self._turns], heading(name, width), cursor=self.lines.cursor)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Try this weight."""
        turn = self._turns[event.index]
        if turn.weight is not None:
            self.dismiss(Weigh(plugin=turn.plugin, weight=turn.weight))

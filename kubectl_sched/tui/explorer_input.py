"""The decisions to explore, and the settings of the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.decision import Decision


class Exploration(Record, frozen=True, kw_only=True):
    """One decision or several, the output formats there are, and the notes about the state as a whole."""

    decisions: tuple[Decision, ...]
    formats: tuple[str, ...]
    notes: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    """The notes that change the answers."""

    node: str | None = None
    """At which node to begin; None for the best."""

    is_list: bool = False
    """Report whether several pods were asked for, even if one was found."""

    def row_in(self, result: ScheduleResult) -> int | None:
        """The row of that node."""
        return result.nodes.row_of.get(self.node) if self.node is not None else None

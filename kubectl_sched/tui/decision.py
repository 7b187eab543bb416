"""One pod's decision and all that can be asked about it: replays, warnings, suggestions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.warnings import warnings
from kubectl_sched.tui.edits import Replay
from kubectl_sched.tui.entry import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.suggestions.change import Suggestion
    from kubectl_sched.tui.edits import Edit


class Decision:
    """What `explain` found of one pod, with the scheduler that found it."""

    def __init__(self, result: ScheduleResult, scheduler: Scheduler) -> None:
        self.result = result
        self._scheduler = scheduler
        self._replay = Replay(result)

    def with_edits(self, edits: Sequence[Edit]) -> ScheduleResult:
        """The decision with the edits made. Raises SchedError for one that cannot be made."""
        if not edits:
            return self.result
        replayed = self._replay(edits)
        return replace(replayed, warnings=warnings(replayed, self._scheduler.configuration))

    def suggestions(self, result: ScheduleResult, node: str | None = None) -> tuple[Suggestion, ...]:
        """What would let the pod in, or make it land on a node, each replayed; takes as long as some replays."""
        if node is None and result.suggestions:
            return result.suggestions
        return self._scheduler.with_suggestions(result, node).suggestions


def context_of(result: ScheduleResult, node: str) -> Context:
    """What an entry may leave out, with the node under the cursor."""
    scores = result.framework.profile.plugins.get("score", ()) if result.framework else ()
    return Context(node, tuple(each.name for each in scores), tuple(result.nodes.table.allocatable))

"""One pod's decision and all that can be asked about it: replays, warnings, suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.diagnostics.warnings import warnings
from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.tui.edits import Replay
from kubectl_sched.tui.typed_edits import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.suggestions.suggestion import Suggestion
    from kubectl_sched.tui.edits import Edit


class Decision:
    """The explanation of one pod, with the scheduler that made it.

    A gated pod is shown, and replayed with edits, with the fields that its controller would set on it.
    """

    def __init__(self, explanation: Explanation, scheduler: Scheduler, now: str | None = None) -> None:
        """`now` is the time of the state (RFC 3339), from which ages count."""
        self._gated = explanation.result if explanation.sets_fields else None
        self.explanation = replace(explanation, result=self._held_back(explanation.shown))
        self._scheduler = scheduler
        self._now = now
        self._replay = Replay(explanation.shown)

    def _held_back(self, result: ScheduleResult) -> ScheduleResult:
        """Return the result as one of the gated pod."""
        gated = self._gated
        return result if gated is None else replace(result, outcome=gated.outcome, pre_enqueue=gated.pre_enqueue)

    def with_edits(self, edits: Sequence[Edit]) -> Explanation:
        """Return the decision with the edits made. Raises SchedError for one that cannot be made."""
        if not edits:
            return self.explanation
        replayed = self._held_back(self._replay(edits))
        return replace(
            self.explanation,
            result=replayed,
            warnings=warnings(replayed, self._scheduler.configuration),
            queue_place=self.explanation.queue_place if replayed.pre_enqueue.is_success else None,
            stage=None,
            history=None,
            observed=None,
            said=None,
            sampling=None,
            contrast=contrast_of(replayed),
            marks=(),
            new_nodes=None,
            suggestions=(),
            gates=(),
            ungated=(),
        )

    def suggestions(self, explanation: Explanation, node: str | None) -> tuple[Suggestion, ...]:
        """Return the changes that would let the pod in, or make it land on a node. It takes as long as some replays."""
        found = explanation.suggestions if node is None else ()
        if not found and self._gated is None:
            found = suggest(explanation.result, node, needs=explanation.needs, now=self._now)
        return found


def why_untriable(suggestion: Suggestion) -> str:
    """Return why the explorer cannot make the changes of a suggestion, else an empty text.

    It compares nodes row by row, so that none can be added in it.
    """
    if suggestion.adds_nodes:
        return "no node can be added here: kubectl sched whatif --add-nodes does it"
    is_change = any(
        each.pod or each.node or each.frees or each.evicts or each.resizes or each.moves or each.weight
        for each in suggestion.changes
    )
    return "" if is_change else "that is nothing to try here: another has to act"


def context_of(result: ScheduleResult, node: str) -> Context:
    """Return the names that an entry may leave out, with the node under the cursor."""
    scores = result.framework.profile.plugins.get("score", ()) if isinstance(result, CycleResult) else ()
    return Context(
        node=node, plugins=tuple(each.name for each in scores), resources=tuple(result.nodes.table.allocatable)
    )

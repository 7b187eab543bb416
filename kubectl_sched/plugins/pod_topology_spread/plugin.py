"""The extension points of PodTopologySpread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import (
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SKIP, SUCCESS, NodeToStatus, Status
from kubectl_sched.plugins.pod_topology_spread import filtering, scoring
from kubectl_sched.plugins.pod_topology_spread.constraints import Constraints
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.types import PodTopologySpreadArgs
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.replicas import ReplicaHelp
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows


class PodTopologySpread(PreFilterPlugin, PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin, SignPlugin):
    """Keeps matching pods evenly spread."""

    name: ClassVar[str] = "PodTopologySpread"

    def __init__(self, args: PodTopologySpreadArgs | None, handle: Handle) -> None:
        self.constraints = Constraints(
            args, handle.features, empty_selector_counts=handle.release.empty_spread_selector_counts
        )
        self._grows_in_place = handle.grows_in_place

    @property
    def replica_help(self) -> ReplicaHelp:
        """Counts by domain that equal pods raise."""
        from kubectl_sched.plugins.pod_topology_spread.replica_help import SpreadHelp  # one pod alone needs none

        return SpreadHelp(self.constraints)

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return None for a pod with constraints, and for every pod where the plugin has default ones."""
        return None if pod.spec.topology_spread_constraints or self.constraints.has_defaults else {}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Count matching pods by domain; skip pods without hard constraints."""
        if self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        nodes = nodes.whole
        self.constraints.spend(state.budget, pod, nodes)
        try:
            constraints = self.constraints.hard(pod, nodes)
        except PluginError as failure:
            raise PluginError(f"get constraints from pod: {failure}") from failure
        if not constraints:
            return PreFilterResult(status=SKIP)
        state.write(filtering.STATE, filtering.spread_now(pod, nodes, constraints, self.constraints))
        return PreFilterResult()

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """One more pod in the domains of its node."""
        self._change(state, pod, added, row, nodes, 1)

    def concerns(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether some constraint selects it."""
        return other.metadata.namespace == pod.metadata.namespace and any(
            spread.constraint.selector.matches(other.metadata.labels) for spread in state.read(filtering.STATE).spreads
        )

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """One pod less in the domains of its node."""
        self._change(state, pod, removed, row, nodes, -1)

    def _change(self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot, amount: int) -> None:
        before = state.read(filtering.STATE)
        state.budget.spend(len(before.spreads))
        state.write(filtering.STATE, filtering.with_pod(before, pod, changed, nodes, row, self.constraints, amount))

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes where one more pod would make the skew larger than maxSkew."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        counted = state.read(filtering.STATE)
        state.budget.spend_on_arrays(2 * len(counted.spreads), len(nodes))
        return filtering.verdicts(counted, pod, nodes)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each constraint that the node breaks, with the counts of its domains."""
        if self._grows_in_place(pod):
            return ()

        from kubectl_sched.plugins.pod_topology_spread import evidence

        return evidence.rejection(state.read(filtering.STATE), pod, nodes, row, self.constraints)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The constraints that these nodes break."""
        from kubectl_sched.plugins.pod_topology_spread import evidence

        return evidence.summary(state.read(filtering.STATE), pod, nodes, rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Count matching pods by domain; skip pods without soft constraints."""
        self.constraints.spend(state.budget, pod, nodes.whole)
        try:
            constraints = self.constraints.soft(pod, nodes)
        except PluginError as failure:
            raise PluginError(f"calculating preScoreState: {failure}") from failure
        if not constraints:
            return SKIP
        state.write(scoring.STATE, scoring.pre_score_state(pod, nodes, rows, constraints, self.constraints))
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """The matching pods of each node's domains, weighed."""
        counted = state.read(scoring.STATE)
        state.budget.spend_on_arrays(4 * len(counted.spreads), len(nodes.existing_pods) + len(nodes))
        return scoring.scores(counted, pod, nodes, rows)

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """The fewest pods become 100."""
        return scoring.normalized(state.read(scoring.STATE), nodes, rows, scores)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each soft constraint with the matching pods of the node's domain."""
        before = state.get(scoring.STATE)
        if before is None:
            return ()
        counts = scoring.pod_counts(before, pod, nodes)

        from kubectl_sched.plugins.pod_topology_spread import evidence

        return evidence.points(before, counts, nodes, row, self.constraints.origin(pod))

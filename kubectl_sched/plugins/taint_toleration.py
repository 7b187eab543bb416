"""Keeps pods off tainted nodes, and prefers nodes without PreferNoSchedule taints.

Answers to plugins/tainttoleration/taint_toleration.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kubectl_sched.api.component_helpers.taints import (
    DO_NOT_SCHEDULE,
    PREFER_NO_SCHEDULE,
    Tolerations,
)
from kubectl_sched.api.meta import find_condition
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import (
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.plugin_scores import default_normalize_score
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import TolerationsSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node, Taint
    from kubectl_sched.api.meta import Condition
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

PRE_SCORE_STATE: StateKey[Tolerations] = StateKey(name="PreScoreTaintToleration")

_TAINTS_TOLD: Final = 3
_CONDITION_OF: Final = {
    "node.kubernetes.io/not-ready": "Ready",
    "node.kubernetes.io/unreachable": "Ready",
    "node.kubernetes.io/memory-pressure": "MemoryPressure",
    "node.kubernetes.io/disk-pressure": "DiskPressure",
    "node.kubernetes.io/pid-pressure": "PIDPressure",
    "node.kubernetes.io/network-unavailable": "NetworkUnavailable",
}
"""The taints that the node lifecycle controller makes of a node's conditions."""

_MEANING_OF: Final = {
    "node.kubernetes.io/unschedulable": "the node is cordoned",
    "node.kubernetes.io/out-of-service": "somebody has declared the node out of service",
    "node.cloudprovider.kubernetes.io/uninitialized": "the cloud controller manager has not set up the node yet",
    "node.cloudprovider.kubernetes.io/shutdown": "the cloud says that the machine is shut down",
    "ToBeDeletedByClusterAutoscaler": "the cluster autoscaler is removing the node",
    "karpenter.sh/disrupted": "Karpenter is removing the node",
    "karpenter.sh/unregistered": "Karpenter takes it off once the node has registered",
    "node.cilium.io/agent-not-ready": "Cilium takes it off once its agent runs there",
    "ebs.csi.aws.com/agent-not-ready": "the EBS CSI driver takes it off once it runs there",
    "efs.csi.aws.com/agent-not-ready": "the EFS CSI driver takes it off once it runs there",
}


class TaintToleration(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, TolerationsSigner):
    """The PreFilter part is enabled from 1.37 on."""

    name: ClassVar[str] = "TaintToleration"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._features = handle.features
        self._grows_in_place = handle.grows_in_place
        self._reason = handle.release.taint_reason

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods that only wait for room to grow where they are."""
        return PreFilterResult(status=SKIP if self._grows_in_place(pod) else SUCCESS)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes with a NoSchedule or NoExecute taint that the pod does not tolerate."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        tolerations = Tolerations.of(pod, self._features)
        _spend(state.budget, tolerations, nodes)
        return nodes.table.by_tolerations(
            (self._reason, tolerations),
            lambda: nodes.taints.map(lambda taints: self._verdict(taints, tolerations)).distinct(),
        )

    def _verdict(self, taints: tuple[Taint, ...], tolerations: Tolerations) -> Status:
        taint = tolerations.first_untolerated(taints)
        if taint is None:
            return SUCCESS
        return unresolvable(self._reason.format(key=taint.key, value=taint.value))

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Keep the tolerations that may tolerate PreferNoSchedule."""
        state.write(PRE_SCORE_STATE, Tolerations.of(pod, self._features).of_prefer_no_schedule())
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """Count the PreferNoSchedule taints that the pod does not tolerate: less is better."""
        tolerations = state.read(PRE_SCORE_STATE)
        _spend(state.budget, tolerations, nodes)
        counts = nodes.table.by_tolerations(
            (PREFER_NO_SCHEDULE, tolerations), lambda: nodes.taints.numbers(tolerations.count_intolerable)
        )
        return counts[rows]

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """100 for no such taint, 0 for the most of them."""
        return default_normalize_score(scores, reverse=True)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Every taint that keeps the pod off, the one that kube-scheduler stops at first."""
        if self._grows_in_place(pod):
            return ()
        kept_off_by = [taint for taint in nodes.taints[row] if taint.effect in DO_NOT_SCHEDULE]
        return self._untolerated(kept_off_by, pod, nodes.node_objects[row])

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The taint that kube-scheduler stops at on each of these nodes, and how many have it."""
        taints = nodes.taints.take(rows)
        first = taints.map(Tolerations.of(pod, self._features).first_untolerated)
        counts: dict[Taint, int] = {}
        for taint, count in first.counts():
            if taint is not None:
                counts[taint] = counts.get(taint, 0) + count
        return self._clause(counts, pod, nodes, rows)

    def _clause(self, counts: dict[Taint, int], pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        by_count = sorted(counts, key=lambda taint: (-counts[taint], str(taint)))
        hints = [hint for each in by_count for hint in self._hints(each, pod)]
        near = f" ({hints[0]})" if hints else ""
        if len(by_count) > 1:
            parts = [f"{counts[taint]:,} {taint}" for taint in by_count[:_TAINTS_TOLD]]
            others = [counts[taint] for taint in by_count[_TAINTS_TOLD:]]
            if others:
                parts.append(f"{sum(others):,} with {len(others):,} other {'taint' if len(others) == 1 else 'taints'}")
            return f"have untolerated taints: {first_few(parts, len(parts))}{near}"
        taint = by_count[0]
        row = min(rows.tolist(), key=nodes.names.__getitem__)
        condition = _condition(taint, nodes.node_objects[row])
        if condition is not None:
            told = _condition_text(condition)
            return f"have taint {taint}{f': {told}' if len(rows) == 1 else f' ({nodes.names[row]}: {told})'}"
        meaning = f" ({_MEANING_OF[taint.key]})" if taint.key in _MEANING_OF and not near else ""
        return f"have the untolerated taint {taint}{near or meaning}"

    def _hints(self, taint: Taint, pod: Pod) -> tuple[str, ...]:
        from kubectl_sched.framework.near_tolerations import toleration_hints

        return toleration_hints(taint, Tolerations.of(pod, self._features))

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Every PreferNoSchedule taint that counts against the node."""
        preferred_not = [taint for taint in nodes.taints[row] if taint.effect == PREFER_NO_SCHEDULE]
        return self._untolerated(preferred_not, pod, nodes.node_objects[row])

    def _untolerated(self, taints: list[Taint], pod: Pod, node: Node) -> tuple[Evidence, ...]:
        from kubectl_sched.framework.near_tolerations import toleration_hints

        tolerations = Tolerations.of(pod, self._features)
        return tuple(
            _evidence(taint, node, toleration_hints(taint, tolerations))
            for taint in taints
            if not tolerations.tolerate(taint)
        )


def _spend(budget: CycleBudget, tolerations: Tolerations, nodes: Snapshot) -> None:
    """Count each toleration for each taint of the distinct lists of taints."""
    budget.spend_on_entries(len(tolerations.each) * (1 + sum(map(len, nodes.taints.values))))


def _evidence(taint: Taint, node: Node, hints: tuple[str, ...]) -> Evidence:
    facts: dict[str, JSON] = {
        "taint": str(taint),
        "key": taint.key,
        "value": taint.value,
        "effect": taint.effect,
        "since": taint.time_added,
    }
    condition = _condition(taint, node)
    text = f"has taint {taint}, which no toleration of the pod matches"
    if condition is not None:
        facts["condition"] = {
            "type": condition.type,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
            "since": condition.last_transition_time,
        }
        text = f"has taint {taint}: {_condition_text(condition)}"
    elif taint.key in _MEANING_OF:
        text = f"{text}: {_MEANING_OF[taint.key]}"
    return Evidence(text=text, facts=facts, hints=hints, distance=0.5 if hints else 1.0)


def _condition(taint: Taint, node: Node) -> Condition | None:
    kind = _CONDITION_OF.get(taint.key)
    return find_condition(node.status.conditions, kind) if kind is not None else None


def _condition_text(condition: Condition) -> str:
    """`Ready is Unknown since 2026-01-02T03:04:05Z (NodeStatusUnknown: Kubelet stopped posting node status.)`."""
    since = f" since {condition.last_transition_time}" if condition.last_transition_time else ""
    why = ": ".join(filter(None, (condition.reason, condition.message)))
    return f"{condition.type} is {condition.status}{since}" + (f" ({why})" if why else "")

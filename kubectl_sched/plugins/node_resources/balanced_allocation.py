"""NodeResourcesBalancedAllocation: equal shares of all resources (plugins/noderesources/balanced_allocation.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options, scoring_request
from kubectl_sched.config.types import NodeResourcesBalancedAllocationArgs
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.golang import truncated_divisions
from kubectl_sched.framework.interface import PreScorePlugin, ScorePlugin
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SKIP, SUCCESS
from kubectl_sched.plugins.node_resources.device_counts import device_counts
from kubectl_sched.plugins.node_resources.insufficient import steps_to_sum
from kubectl_sched.plugins.node_resources.requests_signature import requests_signature
from kubectl_sched.plugins.node_resources.strategies import PreScoreState, node_amounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import Status
    from kubectl_sched.plugins.node_resources.strategies import ResourceAmounts
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

PRE_SCORE_STATE: StateKey[PreScoreState] = StateKey(name="PreScoreNodeResourcesBalancedAllocation")

_HALF = MAX_NODE_SCORE // 2


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin, SignPlugin):
    """A node whose cpu is nearly gone while its memory is free is of little use to later pods."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    depends_on: ClassVar[DependsOn] = DependsOn.USAGE_OF_NODE

    def __init__(self, args: NodeResourcesBalancedAllocationArgs | None, handle: Handle) -> None:
        self._handle = handle
        self._resources = (args or NodeResourcesBalancedAllocationArgs()).resources
        self._options = scheduler_options(handle.features.enabled, handle.release)
        self._against_before = handle.release.balance_against_before

    def _pre_score_state(self, pod: Pod, nodes: Snapshot) -> PreScoreState | None:
        """None for a pod that asks for none of the resources that count: it is best-effort here."""
        requests = scoring_request(pod, self._options, use_requested=True)
        counted = {spec.name: requests.get(spec.name, 0) for spec in self._resources}
        if not any(counted.values()):
            return None
        return PreScoreState(
            requests=counted, devices=device_counts(self._resources, nodes, self._handle, selects=False)
        )

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return the requests."""
        return requests_signature(pod, nodes, self._handle)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Skip best-effort pods, which would all go to the best balanced node."""
        state.budget.spend(steps_to_sum(pod))
        prepared = self._pre_score_state(pod, nodes)
        if prepared is None:
            return SKIP
        state.write(PRE_SCORE_STATE, prepared)
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """Since 1.36, 75 is where the pod changes nothing, and 100 where it makes an unbalanced node balanced."""
        prepared = state.get(PRE_SCORE_STATE) or self._pre_score_state(pod, nodes)
        if prepared is None:
            return np.zeros(len(rows), dtype=np.int64)
        amounts = self._amounts(prepared, nodes, rows)
        with_pod = balance([each.requested for each in amounts], [each.allocatable for each in amounts])
        if not self._against_before:
            return with_pod
        without = balance([each.allocated for each in amounts], [each.allocatable for each in amounts])
        return _HALF + truncated_divisions(_HALF + with_pod - without, 2)

    def _amounts(self, prepared: PreScoreState, nodes: Snapshot, rows: Rows) -> list[ResourceAmounts]:
        saturates = self._handle.release.amounts_saturate
        return node_amounts(self._resources, prepared, nodes, rows, use_requested=True, saturates=saturates)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """The share of each resource without and with the pod."""
        prepared = state.get(PRE_SCORE_STATE) or self._pre_score_state(pod, nodes)
        if prepared is None:
            return ()
        rows = np.array([row], dtype=np.intp)
        amounts = self._amounts(prepared, nodes, rows)

        from kubectl_sched.plugins.node_resources import evidence

        return evidence.shares(amounts, prepared.requests)


def balance(requested: Sequence[Integers], allocatable: Sequence[Integers]) -> Integers:
    """int64[n]: 100 less the standard deviation, in percent, of the shares of the resources that a node has."""
    present = np.zeros(len(requested[0]), dtype=np.int64)
    for bit, amount in enumerate(allocatable):
        present |= (amount != 0).astype(np.int64) << bit
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [np.minimum(some / whole, 1.0) for some, whole in zip(requested, allocatable, strict=True)]
    deviation = np.zeros(len(present), dtype=np.float64)
    # All alike is the rule; numpy.unique would import numpy.ma.
    patterns = set(present[:1].tolist() if np.all(present == present[:1]) else present.tolist())
    for pattern in patterns:
        rows = present == pattern if len(patterns) > 1 else slice(None)
        deviation[rows] = _deviation([share[rows] for bit, share in enumerate(shares) if pattern >> bit & 1])
    scores: Integers = ((1 - deviation) * MAX_NODE_SCORE).astype(np.int64)
    return scores


def _deviation(shares: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64] | float:
    """Summed in upstream's order, and for two by its shorter formula, so that the last bit is the same."""
    if len(shares) < 2:
        return 0.0
    if len(shares) == 2:
        halved: npt.NDArray[np.float64] = np.abs((shares[0] - shares[1]) / 2)
        return halved
    total = np.zeros_like(shares[0])
    for share in shares:
        total += share
    mean = total / len(shares)
    squares = np.zeros_like(mean)
    for share in shares:
        squares += (share - mean) * (share - mean)
    root: npt.NDArray[np.float64] = np.sqrt(squares / len(shares))
    return root

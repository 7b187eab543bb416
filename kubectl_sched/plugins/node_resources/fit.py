"""NodeResourcesFit: room for the pod's requests (plugins/noderesources/fit.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.pod_requests import fit_request, scheduler_options, scoring_request
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.config.types import NodeResourcesFitArgs
from kubectl_sched.framework.cycle_state import PluginError, StateKey
from kubectl_sched.framework.interface import (
    FilterPlugin,
    PlacementScorePlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SUCCESS, unresolvable
from kubectl_sched.plugins.node_resources.device_counts import device_counts
from kubectl_sched.plugins.node_resources.insufficient import (
    BYTES_A_REQUEST,
    OPERATIONS_A_REQUEST,
    PreFilterState,
    device_backed,
    shortages,
    statuses,
    steps_to_sum,
)
from kubectl_sched.plugins.node_resources.requests_signature import requests_signature
from kubectl_sched.plugins.node_resources.strategies import PreScoreState, node_amounts, placement_score, strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import Placement, PodGroupInfo, ProposedAssignment
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.plugins.node_resources.insufficient import Shortage
    from kubectl_sched.plugins.node_resources.strategies import ResourceAmounts
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Rows

PRE_FILTER_STATE: StateKey[PreFilterState] = StateKey(
    name="PreFilterNodeResourcesFit", absent='error reading "{}" from cycleState: not found'
)
PRE_SCORE_STATE: StateKey[PreScoreState] = StateKey(name="PreScoreNodeResourcesFit")

_SIDECARS_OFF = unresolvable("Pod has a restartable init container and the SidecarContainers feature is disabled")

_CONTAINERS_ALONE = PodResourcesOptions(skip_pod_level_resources=True)
"""Up to 1.37 the feature gates never come to the scorer, so it looks at the containers' specs alone."""


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, PlacementScorePlugin, SignPlugin):
    """Compares requests, never usage, with what is allocatable."""

    name: ClassVar[str] = "NodeResourcesFit"
    depends_on: ClassVar[DependsOn] = DependsOn.USAGE_OF_NODE

    def __init__(self, args: NodeResourcesFitArgs | None, handle: Handle) -> None:
        args = args or NodeResourcesFitArgs()
        self._handle = handle
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._resources = args.scoring_strategy.resources
        self._saturates = handle.release.amounts_saturate
        self._strategy = strategy_of(args.scoring_strategy, is_exact=self._saturates)
        features = handle.features
        self._sidecars = features.enabled("SidecarContainers")
        self._devices = features.enabled("DRAExtendedResource")
        self._options = PodResourcesOptions(
            skip_pod_level_resources=not features.enabled("PodLevelResources"), saturates=self._saturates
        )
        self._scoring = _CONTAINERS_ALONE
        if handle.release.fit_scores_whole_pod:
            self._scoring = scheduler_options(features.enabled, handle.release)
        self._absent_only = handle.release.device_class_hides_missing_resource
        self._tells_unresolvable = handle.release.fit_tells_unresolvable

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return the requests."""
        return requests_signature(pod, nodes, self._handle)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Sum up the requests once."""
        if not self._sidecars and any(each.restart_policy == "Always" for each in pod.spec.init_containers):
            return PreFilterResult(status=_SIDECARS_OFF)
        state.budget.spend(steps_to_sum(pod))
        state.write(PRE_FILTER_STATE, self._pre_filter_state(pod, nodes))
        return PreFilterResult()

    def _pre_filter_state(self, pod: Pod, nodes: Snapshot) -> PreFilterState:
        requests = {name: amount for name, amount in fit_request(pod, self._options).items() if amount}
        backed = (
            device_backed(requests, nodes.whole, in_first_release=self._absent_only) if self._devices else frozenset()
        )
        return PreFilterState(
            requests={name: amount for name, amount in requests.items() if not self._is_ignored(name)},
            device_backed=backed,
        )

    def _is_ignored(self, name: str) -> bool:
        return is_extended_resource_name(name) and (
            name in self._ignored or name.partition("/")[0] in self._ignored_groups
        )

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes with too little of anything, and say everything that is too little."""
        request = state.read(PRE_FILTER_STATE)
        budget, masks = state.budget, BYTES_A_REQUEST * len(request.requests) * len(nodes)
        budget.spend_on_arrays(OPERATIONS_A_REQUEST * len(request.requests), len(nodes))
        budget.hold(masks)
        found = self._shortages(request, nodes)
        verdict = statuses(found, len(nodes), budget, tells_unresolvable=self._tells_unresolvable)
        budget.release(masks)
        return verdict

    def _shortages(self, request: PreFilterState, nodes: Snapshot) -> list[Shortage]:
        return shortages(request, nodes, absent_only=self._absent_only)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """For each resource: wanted, used, capacity, and the pods that use most of it."""
        from kubectl_sched.plugins.node_resources import evidence

        request = state.get(PRE_FILTER_STATE) or self._pre_filter_state(pod, nodes)
        lacking = [each.resource for each in self._shortages(request, nodes) if each.insufficient[row]]
        return tuple(evidence.shortage(name, request.requests.get(name, 1), pod, nodes, row) for name in lacking)

    def shortfall(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Floats:
        """The greatest missing share of any of its requests."""
        request = state.get(PRE_FILTER_STATE) or self._pre_filter_state(pod, nodes)
        missing = np.zeros(len(rows), dtype=np.float64)
        for each in self._shortages(request, nodes):
            wanted = request.requests.get(each.resource)
            if wanted:
                free = np.maximum(nodes.allocatable(each.resource)[rows] - nodes.requested(each.resource)[rows], 0)
                missing = np.maximum(missing, np.clip((wanted - free) / wanted, 0.0, 1.0))
        return missing

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the resources that these nodes lack, and the node that has most of them."""
        from kubectl_sched.plugins.node_resources import evidence

        request = state.get(PRE_FILTER_STATE) or self._pre_filter_state(pod, nodes)
        lacking = {each.resource: each.insufficient for each in self._shortages(request, nodes)}
        return evidence.summary(lacking, evidence.Requests(pod, request.requests), nodes, rows)

    def summarize_reason(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, reason: str) -> str:
        """Name the one resource that the reason is about, and the node that has most of it."""
        from kubectl_sched.plugins.node_resources import evidence

        request = state.get(PRE_FILTER_STATE) or self._pre_filter_state(pod, nodes)
        resource = next((each.resource for each in self._shortages(request, nodes) if each.reason == reason), None)
        if resource is None:
            return self.summarize(state, pod, nodes, rows)
        return evidence.lack(resource, evidence.Requests(pod, request.requests), nodes, rows)

    def _pre_score_state(self, pod: Pod, nodes: Snapshot) -> PreScoreState:
        requests = scoring_request(pod, self._scoring, use_requested=False)
        return PreScoreState(requests=requests, devices=device_counts(self._resources, nodes, self._handle))

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Sum up the requests as the scoring strategy counts them."""
        state.budget.spend(steps_to_sum(pod))
        state.write(PRE_SCORE_STATE, self._pre_score_state(pod, nodes))
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """Score by the profile's strategy: least allocated, most allocated or requested to capacity."""
        if not self._resources:
            raise PluginError("resources not found")
        prepared = state.get(PRE_SCORE_STATE) or self._pre_score_state(pod, nodes)
        return self._strategy.score(self._amounts(prepared, nodes, rows))

    def _amounts(self, prepared: PreScoreState, nodes: Snapshot, rows: Rows) -> list[ResourceAmounts]:
        return node_amounts(self._resources, prepared, nodes, rows, use_requested=False, saturates=self._saturates)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """For each resource that counts: how much would be requested, and its points."""
        from kubectl_sched.plugins.node_resources import evidence

        prepared = state.get(PRE_SCORE_STATE) or self._pre_score_state(pod, nodes)
        rows = np.array([row], dtype=np.intp)
        amounts = self._amounts(prepared, nodes, rows)
        return evidence.allocation(self._strategy, amounts, prepared.requests, nodes, row)

    def score_placement(
        self, info: PodGroupInfo, placement: Placement, assignments: Sequence[ProposedAssignment], nodes: Snapshot
    ) -> int:
        """Return how full the placement's nodes would be together: always by MostAllocated, whatever the strategy."""
        requests: dict[str, int] = {}
        for each in assignments:
            for name, amount in scoring_request(each.pod, self._scoring, use_requested=False).items():
                requests[name] = requests.get(name, 0) + amount
        return placement_score(self._resources, requests, nodes, placement.rows, is_exact=self._saturates)

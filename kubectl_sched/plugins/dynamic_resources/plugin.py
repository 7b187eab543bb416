"""The extension points of DynamicResources."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.interface import (
    BindingAction,
    BindingCyclePlugin,
    FilterPlugin,
    PodGroupPostFilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    ScorePlugin,
)
from kubectl_sched.framework.plugin_error_boundary import unknown
from kubectl_sched.framework.plugin_scores import default_normalize_score
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SKIP, SUCCESS, Code, NodeToStatus, Status, error, unresolvable, unschedulable
from kubectl_sched.plugins.dynamic_resources.claims import SPECIAL_NAME, ClaimProblem, pod_claims, unreserved_for_group
from kubectl_sched.plugins.dynamic_resources.state import FILTERED, STATE, PreFilterState
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.config.types import DynamicResourcesArgs
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.interface import PluginsRunner
    from kubectl_sched.framework.podgroup_info import GroupCycle, PodGroupInfo, PodGroupPostFilterResult, TriedMember
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.plugins.dynamic_resources.filtering import Filtering
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

_STEPS_A_CLAIM = 20
_NOT_AVAILABLE = "resourceclaim not available on the node"


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PodGroupPostFilterPlugin,
    ScorePlugin,
    BindingCyclePlugin,
    SignPlugin,
):
    """Allocates devices to the pod's claims. The filter timeout is kept by a scheduler alone."""

    name: ClassVar[str] = "DynamicResources"

    def __init__(self, args: DynamicResourcesArgs | None, handle: Handle) -> None:
        self._args = args
        self._enabled = handle.features.enabled
        self._on = self._enabled("DynamicResourceAllocation")
        self._release = handle.release
        self._rules = handle.release.devices
        self._keeps_time = handle.limits.keeps_time
        self._grows_in_place = handle.grows_in_place

    @cached_property
    def _filtering(self) -> Filtering:
        """Made, and imported, for the first pod that claims something."""
        from kubectl_sched.plugins.dynamic_resources.filtering import Filtering

        binding = self._args.binding_timeout if self._args is not None else None
        search = self._args.filter_timeout if self._args is not None and self._keeps_time else None
        return Filtering(
            self._enabled,
            self._release,
            None if binding is None else binding.seconds,
            search.seconds if search is not None and search.nanoseconds > 0 else None,
        )

    def pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """Report whether all claims of the pod are there."""
        if not self._on:
            return SUCCESS
        try:
            for _ in pod_claims(pod, nodes, self._rules, groups_own=self._enabled("DRAWorkloadResourceClaims")):
                pass
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return SUCCESS

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return None for a pod with claims."""
        return None if pod.spec.resource_claims else {}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skips pods that claim nothing; rejects those whose claims cannot be used anywhere."""
        if not self._on or self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        state.write(STATE, PreFilterState())
        if not pod.spec.resource_claims and not self._may_claim_extended_resources(pod):
            return PreFilterResult(status=SKIP)
        state.budget.spend(_STEPS_A_CLAIM * len(pod.spec.resource_claims))
        status, made = self._filtering.prepare(pod, nodes, state.budget)
        state.write(STATE, made)
        return PreFilterResult(status=status)

    def _may_claim_extended_resources(self, pod: Pod) -> bool:
        if not self._enabled("DRAExtendedResource"):
            return False
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        asked = (pod.spec.overhead, *(container.resources.requests for container in containers))
        return any("/" in name for requests in asked for name in requests)

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """Name the claim or class that is missing, and the near misses of its name."""
        from kubectl_sched.plugins.dynamic_resources.evidence import of_pod

        return of_pod(pod, nodes, self._filtering, state.budget)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Search each node for the devices."""
        if not self._on:
            return Column.filled(len(nodes), SUCCESS)
        known = state.read(STATE)
        state.write(FILTERED, True)
        if not known.claims.claims:
            return Column.filled(len(nodes), SUCCESS)
        return Column.of(self._in_turn(known, pod, nodes))

    def _in_turn(self, known: PreFilterState, pod: Pod, nodes: Snapshot) -> Iterator[Status]:
        """Yield the verdict on each node; what ends the search is that on all nodes after it, too.

        An ended budget does. An error does so where time counts, as it fails the cycle for kube-scheduler as well.
        """
        last: Status | None = None
        for node in nodes:
            if last is not None:
                yield last
                continue
            try:
                status = self._filtering.outcome(known, pod, node).status
            except BudgetEnded as ended:
                status = last = unknown(self.name, ended)
            if self._keeps_time and status.code is Code.ERROR:
                last = status
            yield status

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the selector that each device fails, its holder, or why an allocated claim cannot be used here."""
        known = state.get(STATE)
        if known is None or not known.claims.claims:
            return ()
        if known.allocator is not None:
            known = replace(known, allocator=known.allocator.drawing_on(state.budget))
        node = nodes.node(row)
        outcome = self._filtering.outcome(known, pod, node)
        if outcome.status.is_success:
            return ()
        from kubectl_sched.plugins.dynamic_resources.evidence import of_node

        return of_node(known, pod, node, outcome, self._filtering)

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus, framework: PluginsRunner
    ) -> PostFilterResult:
        """Report whether taking a claim's devices away could help. Fails where an earlier plugin ended PreFilter."""
        if not self._on:
            return self._nothing_done("plugin disabled")
        if self._grows_in_place(pod) or (self._rules.post_filter_wants_claims and not pod.spec.resource_claims):
            return PostFilterResult(status=unschedulable())
        known = state.get(STATE)
        if known is None:
            return PostFilterResult(status=error("not found"))
        if not known.claims.claims:
            return self._nothing_done("no new claims to deallocate")
        return self._given_up(known, pod, nodes, statuses) or self._nothing_done("still not schedulable")

    def pod_group_post_filter(
        self, info: PodGroupInfo, nodes: Snapshot, framework: PluginsRunner, cycle: GroupCycle
    ) -> PodGroupPostFilterResult:
        """Give up claims of members that did not fit, else those of the group; it never helps in the same cycle.

        It fails if no member's PreFilter came as far as this plugin.
        """
        from kubectl_sched.framework.podgroup_info import PodGroupPostFilterResult

        constrained = info.group.spec.scheduling_constraints is not None
        if not self._on or info.is_tree or (constrained and self._enabled("TopologyAwareWorkloadScheduling")):
            return PodGroupPostFilterResult(status=unschedulable())
        known = [(each.state.get(STATE), each) for each in cycle.tried]
        tried = [(state, each) for state, each in known if state is not None]
        if not tried:
            return PodGroupPostFilterResult(status=error("not found"))
        if self._enabled("DRAWorkloadResourceClaims") and any(
            _earlier_claim(state) is None and next(self._deallocatable(state, *_as_tried(each)), None) is None
            for state, each in tried
        ):
            status = self._given_up_by_group(info, tried, nodes)
            if status is not None:
                return PodGroupPostFilterResult(status=status)
        return PodGroupPostFilterResult(status=unschedulable("deallocation and deletion of ResourceClaims completed"))

    def _given_up_by_group(
        self, info: PodGroupInfo, tried: Sequence[tuple[PreFilterState, TriedMember]], nodes: Snapshot
    ) -> Status | None:
        """Devices or a reservation that the group gives up while none of its members has a node."""
        if info.scheduled:
            return None
        for state, each in tried:
            for claim in self._unavailable(state, *_as_tried(each)):
                users = claim.status.reserved_for
                if not users or (len(users) == 1 and users[0].uid == info.group.metadata.uid):
                    return unschedulable("deallocation of PodGroup ResourceClaim completed")
        return unreserved_for_group(info.pods[0], nodes)

    def _given_up(
        self, known: PreFilterState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus
    ) -> PostFilterResult | None:
        given_up = next(self._deallocatable(known, pod, nodes, statuses), None)
        if given_up is not None:
            note = f"the devices of claim {given_up.key} are given up, so that others can be tried"
            return PostFilterResult(status=unschedulable("deallocation of ResourceClaim completed"), notes=(note,))
        extended = _earlier_claim(known)
        if extended is not None:
            note = f"claim {extended.key}, which an earlier attempt made, is deleted"
            return PostFilterResult(status=unschedulable("deletion of ResourceClaim completed"), notes=(note,))
        if self._enabled("DRAWorkloadResourceClaims") and not self._rules.post_filter_is_silent:
            status = unreserved_for_group(pod, nodes)
            if status is not None:
                return PostFilterResult(status=status)
        return None

    def _nothing_done(self, reason: str) -> PostFilterResult:
        return PostFilterResult(status=unschedulable(*(() if self._rules.post_filter_is_silent else (reason,))))

    def _deallocatable(
        self, known: PreFilterState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus | None
    ) -> Iterator[ResourceClaim]:
        """Claims that some node could not use and nobody else does."""
        for claim in self._unavailable(known, pod, nodes, statuses):
            users = claim.status.reserved_for
            if claim is not known.claims.extended and (
                not users or (len(users) == 1 and users[0].uid == pod.metadata.uid)
            ):
                yield claim

    def _unavailable(
        self, known: PreFilterState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus | None
    ) -> Iterator[ResourceClaim]:
        """Claims that some node could not use; only nodes that Filter came to count."""
        for row, status in enumerate(statuses or ()):
            if status.plugin == self.name and _NOT_AVAILABLE in status.reasons:
                yield from self._filtering.outcome(known, pod, nodes.node(row)).unavailable

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """More for alternatives that a prioritized list names earlier."""
        scores = np.zeros(len(rows), dtype=np.int64)
        if not self._on or (self._rules.score_wants_prioritized_list and not self._enabled("DRAPrioritizedList")):
            return scores
        known = state.read(STATE)
        if known.allocator is None or state.get(FILTERED) is None:
            return scores
        from kubectl_sched.plugins.dynamic_resources.scoring import node_score

        for place, row in enumerate(rows):
            state.budget.spend(len(known.claims.claims))
            outcome = self._filtering.outcome(known, pod, nodes.node(int(row)))
            if outcome.status.is_success and (outcome.allocations or known.claims.user_owned):
                scores[place] = node_score(known, outcome.allocations, self._rules)
        return scores

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """In proportion to the best."""
        return default_normalize_score(scores) if self._on else scores

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the devices that the node would give, and the alternatives that they are."""
        known = state.get(STATE)
        if known is None or not known.claims.claims or state.get(FILTERED) is None:
            return ()
        from kubectl_sched.plugins.dynamic_resources.evidence import of_score

        return of_score(self._filtering.outcome(known, pod, nodes.node(row)))

    def _allocated(self, state: CycleState) -> PreFilterState | None:
        """The state of a pod whose claims can be reserved; None if it has none, or Filter allocated nothing to it."""
        known = state.get(STATE)
        if known is None or not known.claims.claims:
            return None
        return known if known.allocator is None or state.get(FILTERED) is not None else None

    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """The devices that Reserve would take, and what PreBind would write to the claims."""
        known = self._allocated(state)
        if known is None:
            return ()
        from kubectl_sched.plugins.dynamic_resources.planned_writes import actions

        return tuple(
            actions(self.name, known, pod, self._filtering.outcome(known, pod, nodes.node(row)), self._filtering)
        )

    def reserve(
        self, state: CycleState, pod: Pod, nodes: Snapshot, row: int, now: str | None = None
    ) -> tuple[Reservation, ...]:
        """The claims with the devices that the pod takes on that node; the pod too, where its status tells of them."""
        known = self._allocated(state)
        if known is None:
            return ()
        from kubectl_sched.plugins.dynamic_resources.reserve import Reserving

        node = nodes.node(row)
        outcome = self._filtering.outcome(known, pod, node)
        return tuple(
            Reserving(
                state=known, pod=pod, node=node, outcome=outcome, filtering=self._filtering, nodes=nodes, now=now
            ).reservations()
        )


def _earlier_claim(known: PreFilterState) -> ResourceClaim | None:
    """The claim for extended resources that an earlier attempt made."""
    extended = known.claims.extended
    return extended if extended is not None and extended.name != SPECIAL_NAME else None


def _as_tried(member: TriedMember) -> tuple[Pod, Snapshot, NodeToStatus | None]:
    return member.pod, member.nodes, member.verdict

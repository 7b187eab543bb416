"""Devices for the claims of pods, on nodes that are there and on those that would be made (allocator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.apimachinery.quantity import Quantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.framework.cycle_budget import STEPS_A_SECOND, BudgetEnded, CycleBudget, CycleLimits
from kubectl_sched.node_provisioning.karpenter.dynamicresources.device_choice import DeviceChoice, Search
from kubectl_sched.node_provisioning.karpenter.dynamicresources.device_ledger import CounterKey, DeviceLedger, Taken
from kubectl_sched.node_provisioning.karpenter.dynamicresources.held_devices import HeldDevices, is_leaving
from kubectl_sched.node_provisioning.karpenter.dynamicresources.published_pools import (
    Candidate,
    PublishedPool,
    Reach,
    filter_pools,
    gather_pools,
)
from kubectl_sched.node_provisioning.karpenter.dynamicresources.requested_devices import ClaimReader, NoAllocation
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    is_compatible,
    merged,
    selector_requirements,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import DeviceClass, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice
    from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.requested_devices import WantedClaim
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties

_OF_ALLOCATION: Final = CycleLimits(steps=5 * STEPS_A_SECOND, memory=1 << 30)
_OF_ROUND: Final = 30 * STEPS_A_SECOND
"""Karpenter spends up to five seconds on each pod and node; all of them together have less here."""

_TOO_LONG: Final = "context deadline exceeded"


class Place(NamedTuple):
    """A node or NodeClaim as devices are allocated for it."""

    identity: str
    node_name: str
    """The node's name; empty for a NodeClaim without a node."""

    requirements: Requirements
    types: tuple[str, ...]
    expected: Mapping[str, Sequence[PoolSlice]]
    """The slices that drivers will publish of a node, by its instance type."""


class DevicesOfCluster(NamedTuple):
    """The objects that devices are allocated with."""

    slices: Sequence[PoolSlice]
    held: HeldDevices
    classes: Mapping[str, DeviceClass]
    claims: Mapping[str, ResourceClaim]
    """The claims by namespace/name."""

    leaving: Collection[str]
    """The UIDs of pods that move off their nodes."""


class _ClaimGrant:
    """The node of the devices of a claim, and their demands on nodes, by instance type."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.is_local = False
        self.by_type: dict[str, Requirements] = {}

    @property
    def requirements(self) -> Requirements:
        return merged(*(each.values() for each in self.by_type.values()))


class DeviceGrant(NamedTuple):
    """Devices for a pod: the instance types that have them, and what they ask of the node (AllocationResult)."""

    types: tuple[str, ...]
    requirements: Requirements
    place: Place
    taken: Mapping[str, Taken] = {}
    budgets: Mapping[str, dict[CounterKey, Quantity]] = {}
    claims: Mapping[str, _ClaimGrant] = {}
    pools: tuple[PublishedPool, ...] = ()


class ClaimAllocator:
    """The devices of one simulation."""

    def __init__(
        self,
        cluster: DevicesOfCluster,
        selectors: Selectors,
        well_known: frozenset[str],
        ties: Ties,
        *,
        knows_alternatives: bool,
    ) -> None:
        self._cluster = cluster
        self._selectors = selectors
        self._well_known = well_known
        self._ties = ties
        self._knows_alternatives = knows_alternatives
        self._slices = ties.ordered(cluster.slices)
        self._ledger = DeviceLedger(cluster.held, gather_pools(self._slices, Reach({}, "", well_known)))
        self._pools: dict[str, Sequence[PublishedPool]] = {}
        self._grants: dict[str, _ClaimGrant] = {}
        self._steps = 0

    def claims_of(self, pod: Pod) -> tuple[ResourceClaim, ...] | None:
        """Return the pod's claims; None if one is not there yet (resolvePodClaims)."""
        found = [self._cluster.claims.get(key) for key in _claim_keys(pod)]
        known = tuple(each for each in found if each is not None)
        return known if len(known) == len(found) else None

    def missing_claim(self, pod: Pod) -> str:
        """Return Karpenter's words about the first claim of the pod that is not there."""
        return next(f'resourceclaim "{key}" not found' for key in _claim_keys(pod) if key not in self._cluster.claims)

    def allocate(self, place: Place, claims: Sequence[ResourceClaim]) -> DeviceGrant:
        """Return devices for all claims on a place; raise NoAllocation in Karpenter's words (Allocate)."""
        wanted, requirements = self._to_allocate(place, claims)
        if not wanted:
            return DeviceGrant(place.types, requirements if claims else {}, place)
        budget = CycleBudget(_OF_ALLOCATION)
        if self._steps > _OF_ROUND:
            raise NoAllocation(_TOO_LONG)
        try:
            return self._found(place, wanted, requirements, self._selectors.drawing_on(budget))
        except BudgetEnded as ended:
            raise NoAllocation(_TOO_LONG) from ended
        finally:
            self._steps += budget.steps

    def commit(self, grant: DeviceGrant, kept: Collection[str]) -> None:
        """Take the devices of a grant; `kept` are the instance types that the place has with the pod."""
        if not grant.claims:
            return
        node = grant.place.identity
        self._ledger.commit(node, grant.taken, grant.budgets)
        self._pools[node] = grant.pools
        self._grants |= grant.claims
        pruned = [each for each in grant.types if each not in kept]
        if pruned:
            self._ledger.release(node, pruned)
            for each in self._grants.values():
                if each.node == node:
                    each.by_type = {kind: asked for kind, asked in each.by_type.items() if kind not in pruned}

    def _to_allocate(self, place: Place, claims: Sequence[ResourceClaim]) -> tuple[list[ResourceClaim], Requirements]:
        """Return the claims without devices, and the place's requirements with those of the others (ClassifyClaims)."""
        requirements, wanted = place.requirements, []
        for claim in claims:
            allocation, grant = claim.status.allocation, self._grants.get(claim.key)
            if allocation is not None and not is_leaving(claim, self._cluster.leaving):
                selector = allocation.node_selector
                terms = selector.node_selector_terms if selector is not None else ()
                asked = merged(*(selector_requirements(each.match_expressions).values() for each in terms))
                where = "in-cluster"
            elif allocation is None and grant is not None:
                if grant.is_local and grant.node != place.identity:
                    raise NoAllocation(f"claim is bound to a different in-flight NodeClaim (ResourceClaim={claim.key})")
                asked = {} if grant.is_local else grant.requirements
                where = "in-memory"
            else:
                wanted.append(claim)
                continue
            if not is_compatible(requirements, asked, self._well_known):
                raise NoAllocation(
                    f"{where} allocation topology is incompatible with NodeClaim requirements "
                    f"(ResourceClaim={claim.key})"
                )
            requirements = merged(requirements.values(), asked.values())
        return wanted, requirements

    def _found(
        self, place: Place, claims: Sequence[ResourceClaim], requirements: Requirements, selectors: Selectors
    ) -> DeviceGrant:
        reach = Reach(requirements, place.node_name, self._well_known)
        pools = self._pools_of(place, reach)
        expected = {kind: devices for kind, slices in place.expected.items() if (devices := _candidates(slices))}
        reader = ClaimReader(
            classes=self._cluster.classes,
            selectors=selectors,
            pools=pools,
            expected=expected,
            knows_alternatives=self._knows_alternatives,
        )
        search = Search(
            self._ledger,
            selectors,
            [_validated(reader, each) for each in claims],
            expected,
            place.identity,
            self._knows_alternatives,
        )
        grants = {each.key: _ClaimGrant(place.identity) for each in claims}
        taken: dict[str, Taken] = {}
        budgets: dict[str, dict[CounterKey, Quantity]] = {}
        for kind in place.types:
            left = self._ledger.expected_counters_left(place.identity, kind)
            budget = dict(left) if left is not None else _counters(place.expected.get(kind, ()))
            choice = DeviceChoice(search, kind, pools, reach, budget)
            if choice.succeeds():
                reach, taken[kind], budgets[kind] = choice.reach, choice.taken, budget
                for device, number in choice.chosen:
                    grant = grants[claims[number].key]
                    grant.is_local = grant.is_local or device.is_expected
                    if device.requirements is not None:
                        known = grant.by_type.get(kind, {})
                        grant.by_type[kind] = merged(known.values(), device.requirements.values())
        if not taken:
            raise NoAllocation("no instance type can satisfy the allocation")
        asked = merged(*(each.requirements.values() for each in grants.values()))
        return DeviceGrant(tuple(taken), asked, place, taken, budgets, grants, tuple(filter_pools(pools, reach)))

    def _pools_of(self, place: Place, reach: Reach) -> Sequence[PublishedPool]:
        known = self._pools.get(place.identity)
        if known is not None:
            return filter_pools(known, reach)
        pools = gather_pools(self._slices, reach)
        if sum(bool(each.candidates) for each in pools) > 1:
            self._ties.mark("devices")
        return self._ties.ordered(pools)


def _claim_keys(pod: Pod) -> list[str]:
    """Return namespace/name of the pod's claims, without those that are not needed or not made yet."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    names = (each.resource_claim_name or made.get(each.name) for each in pod.spec.resource_claims)
    return [f"{pod.namespace}/{name}" for name in names if name]


def _validated(reader: ClaimReader, claim: ResourceClaim) -> WantedClaim:
    try:
        return reader.read(claim)
    except NoAllocation as wrong:
        raise NoAllocation(f"validating claim {quoted(claim.name)}: {wrong}") from wrong


def _candidates(slices: Iterable[PoolSlice]) -> tuple[Candidate, ...]:
    return tuple(Candidate(device, is_expected=True) for each in slices for device in each.devices)


def _counters(slices: Iterable[PoolSlice]) -> dict[CounterKey, Quantity]:
    """Return the counters that slices declare (computeTemplateTotals)."""
    return {
        (each.pool_id, counters.name, name): parse_quantity(counter.value)
        for each in slices
        for counters in each.published.spec.shared_counters
        for name, counter in counters.counters.items()
    }

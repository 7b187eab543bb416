"""The search for devices that satisfy a pod's claims on nodes of one instance type (allocator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity
from kubectl_sched.api.resource import ALLOCATION_RESULTS_MAX_SIZE
from kubectl_sched.dynamic_resource_allocation.devices import PoolID
from kubectl_sched.node_provisioning.karpenter.dynamicresources.device_ledger import (
    CapacityKey,
    CounterKey,
    Taken,
    add,
    consumption,
    subtract,
)
from kubectl_sched.node_provisioning.karpenter.dynamicresources.published_pools import filter_pools
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible, merged
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import (
    CapacityArithmetic,
    CapacityUnknown,
    consumed_capacity,
    fits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.device_ledger import DeviceLedger
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.published_pools import (
        Candidate,
        PublishedPool,
        Reach,
    )
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.requested_devices import (
        WantedClaim,
        WantedDevices,
    )
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

_ARITHMETIC: Final = CapacityArithmetic(fractional=False, strict=False, qualified=False)


class Chosen(NamedTuple):
    """A device that was chosen, and the number of its claim."""

    candidate: Candidate
    claim: int


class Search(NamedTuple):
    """The state of the simulation that a search reads, and the claims that it satisfies."""

    ledger: DeviceLedger
    selectors: Selectors
    claims: Sequence[WantedClaim]
    expected: Mapping[str, Sequence[Candidate]]
    node: str
    all_is_one_at_least: bool
    """A request for all devices wants at least one."""


class Position(NamedTuple):
    """The place in the search: a claim, a request, an alternative (none chosen yet: -1) and a device of it."""

    claim: int = 0
    request: int = 0
    alternative: int = -1
    slot: int = 0


class DeviceChoice:
    """One search, for one instance type; it goes back where a choice leads nowhere."""

    def __init__(
        self,
        search: Search,
        instance_type: str,
        pools: Sequence[PublishedPool],
        reach: Reach,
        budget: Mapping[CounterKey, Quantity],
    ) -> None:
        self.chosen: list[Chosen] = []
        self.reach = reach
        self._search = search
        self._type = instance_type
        self._pools = pools
        self._budget = budget
        self._taken: set[tuple[bool, object]] = set()
        self._counters: tuple[dict[CounterKey, Quantity], dict[CounterKey, Quantity]] = ({}, {})
        self._capacity: tuple[dict[CapacityKey, Quantity], dict[CapacityKey, Quantity]] = ({}, {})
        for claim in search.claims:
            for constraint in claim.constraints:
                constraint.reset()

    def succeeds(self) -> bool:
        """Choose devices for all claims, and report whether there are some (dfs)."""
        if not self._counters_may_suffice():
            return False
        levels = [self._moves(Position())]
        while levels:
            reached = next(levels[-1], None)
            if reached is None:
                levels.pop()
            elif reached.claim == len(self._search.claims):
                return True
            else:
                levels.append(self._moves(reached))
        return False

    @property
    def taken(self) -> Taken:
        """Return what was chosen."""
        return Taken(
            candidates=tuple(each.candidate for each in self.chosen),
            counters=self._counters[False],
            capacity=self._capacity[False],
            expected_counters=self._counters[True],
            expected_capacity=self._capacity[True],
        )

    def _moves(self, at: Position) -> Iterator[Position]:
        """Yield the positions that may follow; what leads to one is undone before the next."""
        requests = self._search.claims[at.claim].requests
        if at.request >= len(requests):
            yield Position(at.claim + 1)
            return
        alternatives = requests[at.request]
        if at.alternative < 0:
            yield from (at._replace(alternative=number) for number in range(len(alternatives)))
            return
        wanted = alternatives[at.alternative]
        number = wanted.number(self._type)
        if wanted.takes_all and number == 0 and self._search.all_is_one_at_least:
            return
        held = sum(each.claim == at.claim for each in self.chosen)
        if at.slot == 0 and held + number > ALLOCATION_RESULTS_MAX_SIZE:
            return
        if at.slot >= number:
            yield Position(at.claim, at.request + 1)
            return
        for candidate in self._candidates(at, wanted):
            yield from self._taking(at, wanted, candidate)

    def _candidates(self, at: Position, wanted: WantedDevices) -> Iterator[Candidate]:
        """Yield the devices that may come next: published ones first, then those that are expected."""
        if wanted.takes_all:
            yield (*wanted.published, *wanted.expected.get(self._type, ()))[at.slot]
            return
        for pool in self._pools:
            if pool.is_incomplete:
                continue
            exhausted = self._is_exhausted(pool.id)
            for each in pool.candidates:
                if not (exhausted and each.device.device.consumes_counters):
                    yield each
        yield from self._search.expected.get(self._type, ())

    def _taking(self, at: Position, wanted: WantedDevices, candidate: Candidate) -> Iterator[Position]:
        """Take a device, yield the position after it, and give the device back; yield nothing if it cannot be had."""
        self._search.selectors.budget.spend(1)
        device, reach, pools = candidate.device, self.reach, self._pools
        capacity = self._consumed(wanted, candidate)
        if capacity is None or not self._counters_suffice(candidate) or not self._matches(wanted, device):
            return
        constraints = self._search.claims[at.claim].constraints
        joined = 0
        while joined < len(constraints) and constraints[joined].add(wanted.request, wanted.alternative, device):
            joined += 1
        asked = candidate.requirements
        if joined == len(constraints) and (asked is None or is_compatible(reach.requirements, asked, reach.well_known)):
            if asked is not None:
                self._narrow(asked)
            counters = consumption(device)
            self._taken.add(candidate.key)
            self.chosen.append(Chosen(candidate, at.claim))
            add(self._capacity[candidate.is_expected], capacity)
            add(self._counters[candidate.is_expected], counters)
            yield at._replace(slot=at.slot + 1)
            subtract(self._capacity[candidate.is_expected], capacity)
            subtract(self._counters[candidate.is_expected], counters)
            self.chosen.pop()
            self._taken.discard(candidate.key)
            self.reach, self._pools = reach, pools
        for constraint in constraints[:joined]:
            constraint.remove(wanted.request, wanted.alternative)

    def _narrow(self, requirements: Requirements) -> None:
        narrowed = merged(self.reach.requirements.values(), requirements.values())
        self.reach = self.reach._replace(requirements=narrowed)
        self._pools = filter_pools(self._pools, self.reach)

    def _consumed(self, wanted: WantedDevices, candidate: Candidate) -> dict[CapacityKey, Quantity] | None:
        """Return the capacity that the device would give; None if it is not to be had."""
        device = candidate.device
        ledger, node = self._search.ledger, self._search.node
        if not device.device.allow_multiple_allocations:
            is_free = candidate.key not in self._taken and not ledger.is_taken(candidate, node, self._type)
            return {} if is_free else None
        own = self._capacity[candidate.is_expected]
        used = {
            name: ledger.capacity_in_use(candidate, name, node, self._type) + own.get((device.id, name), ZERO)
            for name in device.device.capacity
        }
        try:
            if not fits(wanted.capacity, device, used, {}, _ARITHMETIC):
                return None
            amounts = consumed_capacity(wanted.capacity, device, _ARITHMETIC)
        except CapacityUnknown:
            return None
        return {(device.id, name): amount for name, amount in amounts.items()}

    def _counters_suffice(self, candidate: Candidate) -> bool:
        """Report whether the counters have as much as the device takes (checkCounters)."""
        wanted = consumption(candidate.device)
        if not wanted:
            return True
        pool = PoolID(candidate.device.id.driver, candidate.device.id.pool)
        if not candidate.is_expected and all(each.id != pool for each in self._pools):
            return False
        left = self._left(candidate)
        own = self._counters[candidate.is_expected]
        return all(
            key in left and left[key].value() - own.get(key, ZERO).value() >= amount.value()
            for key, amount in wanted.items()
        )

    def _left(self, candidate: Candidate) -> Mapping[CounterKey, Quantity]:
        return self._budget if candidate.is_expected else self._search.ledger.counters_left

    def _is_exhausted(self, pool: PoolID) -> bool:
        """Report whether a counter that this search has touched has nothing left (poolCountersExhausted)."""
        left = self._search.ledger.counters_left
        return any(
            key[0] == pool and key in left and left[key].value() - amount.value() <= 0
            for key, amount in self._counters[False].items()
        )

    def _matches(self, wanted: WantedDevices, device: SliceDevice) -> bool:
        answers = (self._search.selectors.ask(each, device) for each in wanted.expressions)
        return all(each.matches for each in answers)

    def _counters_may_suffice(self) -> bool:
        """Report whether counters have enough where all devices are wanted (countersFeasible)."""
        return all(
            any(not each.takes_all or self._has_counters_for_all(each) for each in request)
            for claim in self._search.claims
            for request in claim.requests
        )

    def _has_counters_for_all(self, wanted: WantedDevices) -> bool:
        left: tuple[dict[CounterKey, Quantity], dict[CounterKey, Quantity]] = ({}, {})
        for each in (*wanted.published, *wanted.expected.get(self._type, ())):
            of_kind, known = left[each.is_expected], self._left(each)
            for key, amount in consumption(each.device).items():
                if all(pool != key[0] for pool, *_ in known):
                    return True  # checked when the devices are taken
                of_kind[key] = of_kind.get(key, known.get(key, ZERO)) - amount
                if key not in known or of_kind[key] < ZERO:
                    return False
        return True

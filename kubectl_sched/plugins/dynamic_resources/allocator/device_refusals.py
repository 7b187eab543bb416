"""The first thing that keeps one device from a request: a selector, its holder, a taint, a counter or a capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.config.allocator_versions import DEVICE_TAINTS, PARTITIONABLE
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import CapacityUnknown, fits
from kubectl_sched.plugins.dynamic_resources.allocator.device_allocation import untolerated
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.resource import DeviceSelector, ExactDeviceRequest, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool


class Refusal(Record, frozen=True, kw_only=True):
    """The reason why one device does not serve a request: a short clause that groups devices, and the facts."""

    device: SliceDevice
    clause: str
    facts: dict[str, JSON]
    is_of_another_class: bool = False


def refusal_of(
    allocator: Allocator, claim: ResourceClaim, exact: ExactDeviceRequest, pool: Pool, device: SliceDevice
) -> Refusal | None:
    """The first thing that keeps the device from the request, as far as it does not depend on other requests."""
    found = _selectors_or_holder(allocator, claim, exact, device)
    if found is not None:
        return found
    short = _counter_shortage(allocator, pool, device) or _capacity_shortage(allocator, exact, device)
    return Refusal(device=device, clause=short, facts={"short": short}) if short is not None else None


def _selectors_or_holder(
    allocator: Allocator, claim: ResourceClaim, exact: ExactDeviceRequest, device: SliceDevice
) -> Refusal | None:
    of_class = allocator.classes(exact.device_class_name)
    for owner, selectors in (
        (f"class {exact.device_class_name}", of_class.spec.selectors if of_class is not None else ()),
        (f"claim {claim.key}", exact.selectors),
    ):
        failed = _failed_selector(allocator, owner, selectors, device)
        if failed is not None:
            return structs.replace(failed, is_of_another_class=owner.startswith("class "))
    if not exact.admin_access and device.id in allocator.allocated.devices:
        holders = allocator.allocated.holders.get(device.id, [])
        return Refusal(device=device, clause=f"{_verb(holders)}", facts=_holding(holders))
    if DEVICE_TAINTS in allocator.features:
        taint = untolerated(device.device.taints, exact, allocator.rules)
        if taint is not None:
            return Refusal(
                device=device,
                clause=f"tainted {taint}, which the request does not tolerate",
                facts={"taint": str(taint)},
            )
    return None


def _verb(holders: Sequence[ResourceClaim]) -> str:
    named = [f"{one.key}{_for(one)}" for one in holders]
    return f"in use by claim {first_few(named)}" if named else "in use"


def _for(claim: ResourceClaim) -> str:
    users = [one.name for one in claim.status.reserved_for]
    return f" (pod {first_few(users)})" if users else ""


def _holding(holders: Sequence[ResourceClaim]) -> dict[str, JSON]:
    return {"heldBy": [{"claim": one.key, "reservedFor": users_of(one)} for one in holders]}


def _failed_selector(
    allocator: Allocator, owner: str, selectors: Sequence[DeviceSelector], device: SliceDevice
) -> Refusal | None:
    for selector in selectors:
        if selector.cel is None:
            continue
        expression = selector.cel.expression
        answer = allocator.selectors.ask(expression, device)
        if answer.matches:
            continue
        actual = allocator.selectors.actual_values(expression, device)
        shown = ", ".join(f"{name} is {value}" for name, value in actual.items())
        problem = answer.error or answer.compile_error
        clause = f"fail {owner}: {expression}"
        if problem:
            clause += f" ({problem})"
        elif shown:
            clause += f" ({shown})"
        facts: dict[str, JSON] = {"owner": owner, "expression": expression, "attributes": dict(actual)}
        if problem:
            facts["error"] = problem
        return Refusal(device=device, clause=clause, facts=facts)
    return None


def users_of(claim: ResourceClaim) -> list[JSON]:
    """Return the objects that the claim is reserved for, as `pods/name`."""
    return [f"{one.resource}/{one.name}" for one in claim.status.reserved_for]


def _counter_shortage(allocator: Allocator, pool: Pool, device: SliceDevice) -> str | None:
    """Return the clause about the shared counter of which too little is left for the device; None if none is short."""
    if PARTITIONABLE not in allocator.features:
        return None
    available = allocator.ledger.available(pool, device)
    for consumed in device.device.consumes_counters:
        counters = available.get(consumed.counter_set, {})
        for name, counter in sorted(consumed.counters.items()):
            left, amount = counters.get(name), parse_quantity(counter.value)
            if left is not None and left < amount:
                return f"need {amount} of counter {name} of {consumed.counter_set}, which has {left} left"
    return None


def _capacity_shortage(allocator: Allocator, exact: ExactDeviceRequest, device: SliceDevice) -> str | None:
    """Return the clause about the capacity of which a device that several share has too little left; else None."""
    if not (allocator.knows_capacity and device.device.allow_multiple_allocations) or exact.admin_access:
        return None
    taken = allocator.allocated.capacity.get(device.id, {})
    try:
        enough = fits(
            exact.capacity,
            device,
            taken,
            {},
            allocator.arithmetic,
        )
    except CapacityUnknown:
        return "lack a capacity that is requested"
    except AllocationFailed as failure:
        return f"have a capacity that cannot be computed ({failure})"
    if enough:
        return None
    names = exact.capacity.requests if exact.capacity is not None else device.device.capacity
    name = next((each for each in names if each in taken), next(iter(names), ""))
    whole = device.device.capacity.get(name)
    if whole is None or name not in taken:
        return "have too little capacity"
    return f"have {parse_quantity(whole.value) - taken[name]} of {parse_quantity(whole.value)} {name} left"

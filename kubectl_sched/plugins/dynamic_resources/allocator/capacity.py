"""Consumable capacity: what a request takes of a device that several share (consumable_capacity.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.api.apimachinery.quantity import MILLI, Format, Quantity, of_milli_value, of_value, parse_quantity
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.golang import truncated_division
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.resource import (
        CapacityRequestPolicy,
        CapacityRequestPolicyRange,
        CapacityRequirements,
        DeviceCapacity,
    )
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice


class CapacityUnknown(Exception):  # noqa: N818 - an expected "no" of one device
    """The request names a capacity that the device does not have."""


class CapacityArithmetic(Record, frozen=True, kw_only=True):
    """A minor's way to compute capacities, with the feature that concerns it."""

    fractional: bool
    strict: bool
    """An amount that cannot be computed is an error."""
    qualified: bool
    """Capacities are known by domain and name, a negative request is an error, and amounts saturate."""

    def units(self, amount: Quantity, *, milli: bool) -> int:
        """Return the amount as an int64."""
        return amount.scaled_value(MILLI if milli else 0, saturates=self.qualified)

    def published(self, device: SliceDevice) -> Mapping[str, DeviceCapacity]:
        """Return the device's capacities by the names with which amounts are added up; a qualified name wins."""
        capacity = device.device.capacity
        if not self.qualified:
            return capacity
        names = ((name, qualified_name(name, device.id.driver)) for name in capacity)
        return {known: capacity[name] for name, known in names if name == known or known not in capacity}

    def wanted(self, requested: CapacityRequirements | None, device: SliceDevice) -> Mapping[str, RawQuantity]:
        """Return the requested amounts by these names; raise CapacityUnknown or AllocationFailed."""
        requests: Mapping[str, RawQuantity] = requested.requests if requested is not None else {}
        published = self.published(device)
        found: dict[str, RawQuantity] = {}
        for name, amount in requests.items():
            known = qualified_name(name, device.id.driver) if self.qualified else name
            if known not in published:
                raise CapacityUnknown
            if known in found:
                short = known.partition("/")[2]
                other = short if name == known else known
                raise AllocationFailed(f'capacity "{short}" requested both as "{name}" and as "{other}"')
            found[known] = amount
        return found

    def as_published(self, amounts: Mapping[str, Quantity], device: SliceDevice) -> dict[str, Quantity]:
        """Return the amounts by the names that the driver publishes (capacityNameForStatus)."""
        published, prefix = device.device.capacity, f"{device.id.driver}/"
        return {name if name in published else name.removeprefix(prefix): amount for name, amount in amounts.items()}


def qualified_name(name: str, driver: str) -> str:
    """Return the name with a domain: the driver's where it has none."""
    return name if "/" in name else f"{driver}/{name}"


def names_of(name: str, driver: str) -> tuple[str, ...]:
    """Return the names under which a driver's capacity may be known, the qualified one first."""
    short = name.removeprefix(f"{driver}/")
    return (f"{driver}/{short}", short) if "/" not in short else (name,)


def fits(
    requested: CapacityRequirements | None,
    device: SliceDevice,
    taken: Mapping[str, Quantity],
    allocating: Mapping[str, Quantity],
    arithmetic: CapacityArithmetic,
) -> bool:
    """Report whether the request can be added to what is taken and being allocated (CmpRequestOverCapacity).

    Raises CapacityUnknown, and where `strict` AllocationFailed for amounts that cannot be computed.
    """
    consumed = consumed_capacity(requested, device, arithmetic)
    for name, available in arithmetic.published(device).items():
        amount = consumed[name]
        if _violates(amount, available.request_policy, arithmetic):
            return False
        total = taken[name] + amount if name in taken else amount
        if name in allocating:
            total += allocating[name]
        if total > parse_quantity(available.value):
            return False
    return True


def consumed_capacity(
    requested: CapacityRequirements | None, device: SliceDevice, arithmetic: CapacityArithmetic
) -> dict[str, Quantity]:
    """Return the amount of each capacity that the request takes (GetConsumedCapacityFromRequest).

    Raise CapacityUnknown where the device lacks a capacity that is asked for.
    """
    wanted = arithmetic.wanted(requested, device)
    consumed: dict[str, Quantity] = {}
    for name, available in arithmetic.published(device).items():
        try:
            consumed[name] = _consumed(wanted.get(name), available, arithmetic)
        except AllocationFailed as failure:
            raise AllocationFailed(f'capacity "{name}": {failure}') from failure
        if arithmetic.strict and consumed[name] < Quantity():
            raise AllocationFailed(f'capacity "{name}": capacity value is negative')
    return consumed


def _consumed(raw: RawQuantity | None, available: DeviceCapacity, arithmetic: CapacityArithmetic) -> Quantity:
    """The request, rounded as the policy wants it; without one the policy's default, or all there is."""
    policy = available.request_policy
    if raw is None:
        default = policy.default if policy is not None else None
        return parse_quantity(available.value if default is None else default)
    wanted = parse_quantity(raw)
    if arithmetic.qualified and wanted < Quantity():
        raise AllocationFailed(f"capacity value is negative: request {wanted}")
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_into(wanted, policy.valid_range, policy.valid_range.min, arithmetic)
    valid = (parse_quantity(value) for value in policy.valid_values)
    return next((value for value in valid if wanted <= value), wanted)


def _rounded_into(
    wanted: Quantity, valid: CapacityRequestPolicyRange, least: RawQuantity, arithmetic: CapacityArithmetic
) -> Quantity:
    """At least the least, and a whole number of steps above it (roundUpRange)."""
    minimum = parse_quantity(least)
    if wanted < minimum:
        return minimum
    if valid.step is None:
        return wanted
    step = parse_quantity(valid.step)
    strict, milli = arithmetic.strict, _in_milli(valid, arithmetic.fractional)
    if milli and not _is_milli(wanted):
        raise AllocationFailed(f"{_NOT_REPRESENTABLE}: request {wanted} is not a representable milli value")
    if strict and not milli and wanted > of_value(MAX_INT64):
        raise AllocationFailed(f"{_NOT_REPRESENTABLE}: request {wanted} exceeds MaxInt64")
    base, size = arithmetic.units(minimum, milli=milli), arithmetic.units(step, milli=milli)
    over = arithmetic.units(wanted, milli=milli) - base
    steps = truncated_division(over, size) if size else 0
    steps += bool(size) and over % size != 0
    amount = base + size * steps
    if strict and amount > MAX_INT64:
        limit = "the milli-value range" if milli else "MaxInt64"
        raise AllocationFailed(f"{_NOT_REPRESENTABLE}: rounding request {wanted} up to the next step passes {limit}")
    form = step.format if strict else Format.BINARY_SI
    if not milli:
        return of_value(amount, form)
    return of_value(amount // 1000, form) if amount % 1000 == 0 else of_milli_value(amount, form)


_NOT_REPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None, arithmetic: CapacityArithmetic) -> bool:
    if policy is None:
        return False
    if policy.default is not None and amount == parse_quantity(policy.default):
        return False
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range, arithmetic)
    return bool(policy.valid_values) and all(amount != parse_quantity(value) for value in policy.valid_values)


def _outside(amount: Quantity, valid: CapacityRequestPolicyRange, arithmetic: CapacityArithmetic) -> bool:
    if valid.max is not None and amount > parse_quantity(valid.max):
        return True
    if valid.step is None:
        return False
    milli = arithmetic.strict and _in_milli(valid, arithmetic.fractional)
    if milli and not _is_milli(amount):
        return True
    least, step = (arithmetic.units(parse_quantity(raw), milli=milli) for raw in (valid.min or 0, valid.step))
    return step != 0 and (arithmetic.units(amount, milli=milli) - least) % step != 0


def _in_milli(valid: CapacityRequestPolicyRange, fractional: bool) -> bool:
    """Report whether steps are counted in thousandths (useMilli)."""
    if not fractional:
        return False
    bounds = [parse_quantity(raw) for raw in (valid.min, valid.max, valid.step) if raw is not None]
    if not all(_is_milli(bound) for bound in bounds):
        return False
    return valid.step is None or parse_quantity(valid.step).milli_value() >= 1


def _is_milli(amount: Quantity) -> bool:
    return amount == of_milli_value(amount.milli_value())

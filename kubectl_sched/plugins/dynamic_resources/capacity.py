"""Consumable capacity: what a request takes of a device that several share (consumable_capacity.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.api.apimachinery.quantity import Format, Quantity, of_milli_value, of_value, parse_quantity
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.golang import truncated_division

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.resource import (
        CapacityRequestPolicy,
        CapacityRequestPolicyRange,
        CapacityRequirements,
        DeviceCapacity,
    )


class CapacityUnknown(Exception):  # noqa: N818 - an expected "no" of one device
    """The request names a capacity that the device does not have."""


def fits(
    requested: CapacityRequirements | None,
    capacity: Mapping[str, DeviceCapacity],
    taken: Mapping[str, Quantity],
    allocating: Mapping[str, Quantity],
    *,
    fractional: bool,
    strict: bool,
) -> bool:
    """Report whether the request can be added to what is taken and being allocated (CmpRequestOverCapacity).

    Raises CapacityUnknown, and where `strict` AllocationFailed for amounts that cannot be computed.
    """
    if requested is not None and any(name not in capacity for name in requested.requests):
        raise CapacityUnknown
    consumed = consumed_capacity(requested, capacity, fractional=fractional, strict=strict)
    for name, available in capacity.items():
        amount = consumed[name]
        if _violates(amount, available.request_policy, fractional=fractional, strict=strict):
            return False
        total = taken[name] + amount if name in taken else amount
        if name in allocating:
            total += allocating[name]
        if total > parse_quantity(available.value):
            return False
    return True


def consumed_capacity(
    requested: CapacityRequirements | None, capacity: Mapping[str, DeviceCapacity], *, fractional: bool, strict: bool
) -> dict[str, Quantity]:
    """Return the amount of each capacity that the request takes (GetConsumedCapacityFromRequest)."""
    wanted: Mapping[str, RawQuantity] = requested.requests if requested is not None else {}
    consumed: dict[str, Quantity] = {}
    for name, available in capacity.items():
        try:
            consumed[name] = _consumed(wanted.get(name), available, fractional=fractional, strict=strict)
        except AllocationFailed as failure:
            raise AllocationFailed(f'capacity "{name}": {failure}') from failure
        if strict and consumed[name] < Quantity():
            raise AllocationFailed(f'capacity "{name}": capacity value is negative')
    return consumed


def _consumed(raw: RawQuantity | None, available: DeviceCapacity, *, fractional: bool, strict: bool) -> Quantity:
    """The request, rounded as the policy wants it; without one the policy's default, or all there is."""
    policy = available.request_policy
    if raw is None:
        default = policy.default if policy is not None else None
        return parse_quantity(available.value if default is None else default)
    wanted = parse_quantity(raw)
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_into(wanted, policy.valid_range, policy.valid_range.min, fractional=fractional, strict=strict)
    valid = (parse_quantity(value) for value in policy.valid_values)
    return next((value for value in valid if wanted <= value), wanted)


def _rounded_into(
    wanted: Quantity, valid: CapacityRequestPolicyRange, least: RawQuantity, *, fractional: bool, strict: bool
) -> Quantity:
    """At least the least, and a whole number of steps above it (roundUpRange)."""
    minimum = parse_quantity(least)
    if wanted < minimum:
        return minimum
    if valid.step is None:
        return wanted
    step = parse_quantity(valid.step)
    milli = _in_milli(valid, fractional)
    if milli and not _is_milli(wanted):
        raise AllocationFailed(f"{_NOT_REPRESENTABLE}: request {wanted} is not a representable milli value")
    if strict and not milli and wanted > of_value(MAX_INT64):
        raise AllocationFailed(f"{_NOT_REPRESENTABLE}: request {wanted} exceeds MaxInt64")
    base, size = (minimum.milli_value(), step.milli_value()) if milli else (minimum.value(), step.value())
    over = (wanted.milli_value() if milli else wanted.value()) - base
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


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None, *, fractional: bool, strict: bool) -> bool:
    if policy is None:
        return False
    if policy.default is not None and amount == parse_quantity(policy.default):
        return False
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range, fractional=fractional, strict=strict)
    return bool(policy.valid_values) and all(amount != parse_quantity(value) for value in policy.valid_values)


def _outside(amount: Quantity, valid: CapacityRequestPolicyRange, *, fractional: bool, strict: bool) -> bool:
    if valid.max is not None and amount > parse_quantity(valid.max):
        return True
    if valid.step is None:
        return False
    step, minimum = parse_quantity(valid.step), parse_quantity(valid.min or 0)
    if strict and _in_milli(valid, fractional):
        if not _is_milli(amount):
            return True
        return (amount.milli_value() - minimum.milli_value()) % step.milli_value() != 0
    return step.value() != 0 and (amount.value() - minimum.value()) % step.value() != 0


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

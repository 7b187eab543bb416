"""Quantities and versions (apiserver pkg/cel/library), and what only device selectors have."""

from __future__ import annotations

from kubectl_sched.api.apimachinery.quantity import Format, InvalidQuantity, Quantity, of_value, parse_quantity
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import (
    Function,
    no_overload,
    reads,
    want,
    want_text,
)
from kubectl_sched.dynamic_resource_allocation.cel.library.operators import equal
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Semver, Value

INCLUDES_AT_MOST = 48
"""ResourceSliceMaxAttributeValuesPerDevice: longer lists are refused by `includes`."""


def _quantity(text: Value) -> Quantity:
    want_text(text)
    try:
        return parse_quantity(text)
    except InvalidQuantity as wrong:
        raise CelError(wrong.reason) from wrong


def _as_int64(quantity: Quantity) -> int | None:
    """AsInt64: None if it is not a whole int64, or kept as a decimal."""
    amount = quantity.value()
    if quantity.is_decimal or of_value(amount) != quantity:
        return None
    return amount


def _as_integer(value: Value) -> int:
    want(value, Quantity)
    amount = _as_int64(value)
    if amount is None:
        raise CelError("cannot convert value to integer")
    return amount


def _is_integer(value: Value) -> bool:
    want(value, Quantity)
    return _as_int64(value) is not None


def _as_float(value: Value) -> float:
    want(value, Quantity)
    return float(value.unscaled * 10**value.scale if value.scale >= 0 else value.unscaled / 10**-value.scale)


def _sign(value: Value) -> int:
    want(value, Quantity)
    return int(value.unscaled > 0) - int(value.unscaled < 0)


def _compared(one: Value, other: Value) -> int:
    want(one, Quantity, Semver)
    if type(one) is not type(other):
        raise no_overload()
    return int(one > other) - int(one < other)


def _quantity_changed(sign: int) -> Function:
    def changed(one: Value, other: Value) -> Quantity:
        want(one, Quantity)
        want(other, Quantity, int)
        amount = of_value(other, Format.DECIMAL_EXPONENT) if isinstance(other, int) else other
        result: Quantity = one + amount if sign > 0 else one - amount
        return result

    return changed


def _semver(text: Value, tolerant: Value = False) -> Semver:
    want_text(text)
    want(tolerant, bool)
    return Semver.parse_tolerant(text) if tolerant else Semver.parse(text)


def _number_of(place: int) -> Function:
    def number(value: Value) -> int:
        want(value, Semver)
        return int(value.numbers[place])

    return number


def _includes(target: Value, wanted: Value) -> bool:
    if not isinstance(target, list):
        return _same(target, wanted)
    for place, item in enumerate(target):
        if place >= INCLUDES_AT_MOST:
            raise CelError(f"'includes' function cannot be applied to lists longer than {INCLUDES_AT_MOST} values")
        if _same(item, wanted):
            return True
    return False


def _same(one: Value, other: Value) -> bool:
    try:
        return equal(one, other)
    except CelError:
        return False


FUNCTIONS: dict[str, Function] = {
    "quantity": _quantity,
    "isQuantity": reads(_quantity),
    "sign": _sign,
    "isGreaterThan": lambda one, other: _compared(one, other) > 0,
    "isLessThan": lambda one, other: _compared(one, other) < 0,
    "compareTo": _compared,
    "asApproximateFloat": _as_float,
    "asInteger": _as_integer,
    "isInteger": _is_integer,
    "add": _quantity_changed(1),
    "sub": _quantity_changed(-1),
    "semver": _semver,
    "isSemver": reads(_semver),
    "major": _number_of(0),
    "minor": _number_of(1),
    "patch": _number_of(2),
    "includes": _includes,
}

"""Operators (cel-go common/stdlib)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kubectl_sched.dynamic_resource_allocation.cel.cost import METER
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import (
    Function,
    int64,
    no_overload,
    on,
    uint64,
    want,
)
from kubectl_sched.dynamic_resource_allocation.cel.values import (
    OPAQUE,
    UNREADABLE,
    CelError,
    DefaultMap,
    Duration,
    Optional,
    Timestamp,
    UInt,
    Value,
    elements,
    is_number,
    map_key,
    type_name,
)
from kubectl_sched.framework.golang import truncated_division

if TYPE_CHECKING:
    from collections.abc import Callable


_COMPARED = 8
"""Work of a comparison: it takes about as long as copying that many elements."""


def equal(one: Value, other: Value) -> bool:
    """CEL's `==`: values of different types differ, numbers compare across types."""
    METER.get().work(_COMPARED)
    if is_number(one) and is_number(other):
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(equal(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, Optional) and isinstance(other, Optional):
        return one.present == other.present and (not one.present or equal(one.value, other.value))
    if isinstance(one, OPAQUE) and type(one) is not type(other):
        raise CelError("no such overload")
    return type(one) is type(other) and bool(one == other)


def _arithmetic(name: str, whole: Callable[[int, int], int], real: Callable[[float, float], float]) -> Function:
    def operate(one: Value, other: Value) -> Value:
        kinds = (type(one), type(other))
        if kinds == (int, int):
            return int64(whole(one, other))
        if kinds == (UInt, UInt):
            return uint64(whole(int(one), int(other)))
        if kinds == (float, float):
            return real(one, other)
        return _of_times(name, one, other)

    return operate


def _of_times(name: str, one: Value, other: Value) -> Value:
    kinds = (type(one), type(other))
    if name == "+" and kinds in {(Timestamp, Duration), (Duration, Timestamp)}:
        return Timestamp(nanos=one.nanos + other.nanos)
    if name in "+-" and kinds == (Duration, Duration):
        return Duration(nanos=one.nanos + other.nanos if name == "+" else one.nanos - other.nanos)
    if name == "-" and kinds == (Timestamp, Timestamp):
        return Duration(nanos=one.nanos - other.nanos)
    if name == "-" and kinds == (Timestamp, Duration):
        return Timestamp(nanos=one.nanos - other.nanos)
    raise no_overload()


def added(one: Value, other: Value) -> Value:
    """`+`."""
    if type(one) is type(other) and isinstance(one, str | bytes | list):
        METER.get().work(len(one) + len(other))
        return one + other
    return _numbers_added(one, other)


def _divided(one: int, other: int) -> int:
    if not other:
        raise CelError("division by zero")
    return truncated_division(one, other)


def _real_divided(one: float, other: float) -> float:
    if other:
        return one / other
    return math.nan if not one or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1, other)


def _remainder(one: int, other: int) -> int:
    if not other:
        raise CelError("modulus by zero")
    return one - other * truncated_division(one, other)


def _no_remainder(*_: float) -> float:
    raise no_overload()


_numbers_added = _arithmetic("+", lambda one, other: one + other, lambda one, other: one + other)


def _negated(value: Value) -> Value:
    want(value, int, float)
    return int64(-value) if isinstance(value, int) else -value


def ordered(one: Value, other: Value) -> tuple[Value, Value]:
    """Both as Python orders them; raises CelError where CEL has no order."""
    if not (is_number(one) and is_number(other)):
        want(one, bool, str, bytes, Timestamp, Duration)
        if type(one) is not type(other):
            raise no_overload()
        if isinstance(one, str):
            return one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    return one, other


def _comparison(test: Callable[[Any, Any], bool]) -> Function:
    return lambda one, other: test(*ordered(one, other))


def contained(one: Value, other: Value) -> bool:
    """`in`."""
    if isinstance(other, dict):
        return map_key(one) in other
    return any(equal(one, item) for item in elements(other))


def index(container: Value, key: Value) -> Value:
    """`container[key]`, of optionals too."""
    if isinstance(container, Optional):
        return optional_index(container, key)
    if isinstance(container, list):
        position = _position(key)
        if not 0 <= position < len(container):
            raise CelError(f"index out of bounds: {position}")
        return container[position]
    if not isinstance(container, dict):
        raise no_overload()
    wrapped = map_key(key)
    if wrapped in container:
        if container[wrapped] is UNREADABLE:
            raise CelError(f"attribute {key}: value is invalid or its type is not supported by this version")
        return container[wrapped]
    if isinstance(container, DefaultMap):
        return {}
    raise CelError(f"no such key: {str(key).lower() if isinstance(key, bool) else key}")


def _position(key: Value) -> int:
    if not is_number(key) or (isinstance(key, float) and not key.is_integer()):
        raise CelError(f"unsupported index type '{type_name(key)}' in list")
    return int(key)


def optional_index(container: Value, key: Value) -> Optional:
    """`container[?key]` and `container.?key`."""
    if isinstance(container, Optional):
        if not container.present:
            return container
        container = container.value
    if isinstance(container, list):
        position = _position(key)
        inside = 0 <= position < len(container)
        return Optional(present=inside, value=container[position] if inside else None)
    if not isinstance(container, dict):
        raise no_overload()
    wrapped = map_key(key)
    if wrapped in container:
        return Optional(present=True, value=container[wrapped])
    return Optional(present=True, value={}) if isinstance(container, DefaultMap) else Optional()


def less(one: Value, other: Value) -> bool:
    """`<`."""
    first, second = ordered(one, other)
    return bool(first < second)


FUNCTIONS: dict[str, Function] = {
    "_==_": equal,
    "_!=_": lambda one, other: not equal(one, other),
    "_<_": _comparison(lambda one, other: one < other),
    "_<=_": _comparison(lambda one, other: one <= other),
    "_>_": _comparison(lambda one, other: one > other),
    "_>=_": _comparison(lambda one, other: one >= other),
    "_+_": added,
    "_-_": _arithmetic("-", lambda one, other: one - other, lambda one, other: one - other),
    "_*_": _arithmetic("*", lambda one, other: one * other, lambda one, other: one * other),
    "_/_": _arithmetic("/", _divided, _real_divided),
    "_%_": _arithmetic("%", _remainder, _no_remainder),
    "-_": _negated,
    "!_": on(bool, lambda value: not value),
    "@in": contained,
    "_[_]": index,
    "_[?_]": optional_index,
    "_?._": optional_index,
}

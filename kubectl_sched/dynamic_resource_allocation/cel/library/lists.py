"""Lists, sets and optionals (cel-go ext, apiserver pkg/cel/library/lists)."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.cost import METER
from kubectl_sched.dynamic_resource_allocation.cel.dialect import CelGo
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, no_overload, on, want
from kubectl_sched.dynamic_resource_allocation.cel.library.operators import added, contained, equal, less
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, DefaultMap, Optional, Value, elements

if TYPE_CHECKING:
    from collections.abc import Callable


def _size(value: Value) -> int:
    want(value, str, bytes, list, dict, DefaultMap)
    return len(value)


def _is_sorted(items: Value) -> bool:
    want(items, list)
    return not any(less(after, before) for before, after in pairwise(items))


def _sum(items: Value) -> Value:
    want(items, list)
    total: Value = items[0] if items else 0
    for item in items[1:]:
        total = added(total, item)
    return total


def _extreme(name: str, better: Callable[[Value, Value], bool]) -> Function:
    def extreme(items: Value) -> Value:
        want(items, list)
        if not items:
            raise CelError(f"{name} called on empty list")
        found = items[0]
        for item in items[1:]:
            found = item if better(item, found) else found
        return found

    return extreme


def _distinct(items: Value) -> list[Value]:
    want(items, list)
    kept: list[Value] = []
    for item in items:
        if not any(equal(item, other) for other in kept):
            kept.append(item)
    return kept


def _flatten(items: Value, depth: Value = 1) -> list[Value]:
    want(items, list)
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Value] = []
    METER.get().work(len(items))
    for item in items:
        flat += _flatten(item, depth - 1) if isinstance(item, list) and depth else [item]
    return flat


def _slice(items: Value, start: Value, end: Value) -> list[Value]:
    want(items, list)
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    METER.get().work(end - start)
    return list(items[start:end])


def _sort(items: Value) -> list[Value]:
    want(items, list)
    METER.get().work(len(items) * len(items).bit_length())
    return sorted(items, key=cmp_to_key(lambda one, other: less(other, one) - less(one, other)))


def _range(count: Value) -> list[Value]:
    want(count, int)
    meter = METER.get()
    is_checked = meter.cel_go >= CelGo.V0_29
    if is_checked and count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if is_checked and count > _LONGEST_RANGE:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed ({_LONGEST_RANGE})")
    meter.work(max(count, 0))
    return list(range(count))


_LONGEST_RANGE = 1_000_000


def _contains_all(one: Value, other: Value) -> bool:
    return all(contained(item, one) for item in elements(other))


def _value(value: Value) -> Value:
    if isinstance(value, Optional):
        if not value.present:
            raise CelError("optional.none() dereference")
        return value.value
    raise no_overload()


def _non_zero(value: Value) -> Optional:
    return Optional(present=True, value=value) if value else Optional()


FUNCTIONS: dict[str, Function] = {
    "size": _size,
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": _extreme("min", less),
    "max": _extreme("max", lambda one, other: less(other, one)),
    "distinct": _distinct,
    "flatten": _flatten,
    "reverse": on(list, lambda items: _slice(items, 0, len(items))[::-1]),
    "slice": _slice,
    "sort": _sort,
    "first": on(list, lambda items: Optional(present=bool(items), value=items[0] if items else None)),
    "last": on(list, lambda items: Optional(present=bool(items), value=items[-1] if items else None)),
    "lists.range": _range,
    "sets.contains": _contains_all,
    "sets.equivalent": lambda one, other: _contains_all(one, other) and _contains_all(other, one),
    "sets.intersects": lambda one, other: any(contained(item, other) for item in elements(one)),
    "optional.of": lambda value: Optional(present=True, value=value),
    "optional.ofNonZeroValue": _non_zero,
    "optional.none": Optional,
    "hasValue": on(Optional, lambda value: value.present),
    "value": _value,
}

"""What calls cost (cel-go interpreter/runtimecost, apiserver pkg/cel/library/cost)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.values import Value, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRAVERSED = frozenset(
    [
        "startsWith",
        "endsWith",
        "url",
        "lowerAscii",
        "upperAscii",
        "substring",
        "trim",
        "cidr",
        "isIP",
        "isCIDR",
        "ip",
        "quantity",
        "isQuantity",
        "semver",
        "isSemver",
    ]
)
_REBUILT = frozenset({"replace", "split", "ip.isCanonical"})
_SUMMED = frozenset({"isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"})


def _tenth(size: float) -> int:
    return math.ceil(size * 0.1)


_EQUALITY = frozenset({"_==_", "_!=_"})
_ORDER = frozenset({"_<_", "_<=_", "_>_", "_>=_"})


def call_cost(name: str, args: Sequence[Value], answer: Value) -> int:
    """What a call costs (CostTracker.costCall, CostEstimator.CallCost)."""
    first = size_of(args[0]) if args else 1
    cost = 1
    if name in _TRAVERSED:
        cost = _tenth(first)
    elif name in _REBUILT:
        cost = _tenth(2 * first)
    elif name == "join":
        cost = _tenth(2 * size_of(answer))
    elif name in _SUMMED:
        cost = first if isinstance(args[0], list) else _tenth(first)
    elif name in _EQUALITY or (name in _ORDER and isinstance(args[0], str)):
        cost = _tenth(min(first, size_of(args[1])))
    elif name == "_+_" and isinstance(args[0], str | bytes):
        cost = _tenth(first + size_of(args[1]))
    elif name == "@in" and isinstance(args[1], list):
        cost = size_of(args[1])
    elif name in {"matches", "find", "findAll"}:
        cost = _tenth(1 + first) * math.ceil(size_of(args[1]) * 0.25)
    elif name == "contains":
        cost = _tenth(first) * _tenth(size_of(args[1]))
    return cost

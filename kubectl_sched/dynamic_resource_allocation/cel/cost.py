"""Cost of an evaluation and the limits that end it (cel-go interpreter/runtimecost, apiserver pkg/cel/library/cost)."""

from __future__ import annotations

import math
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.dialect import CelGo
from kubectl_sched.dynamic_resource_allocation.cel.values import CIDR, IP, CelError, Value, from_key, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COST_LIMIT = 1_000_000
"""CELSelectorExpressionMaxCost."""

WORK_LIMIT = 10 * COST_LIMIT
"""Characters and elements made or compared: to traverse that many costs the limit.

Upstream charges a call after it, and some not by the size of the result. Here memory and time are bounded before.
"""


class EvaluationEnded(CelError):  # noqa: N818 - what happens, not a mistake
    """Nothing absorbs this, whatever the other side of an `||` says."""


class CostExceeded(EvaluationEnded):
    """The evaluation takes more than it may."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Meter:
    """Cost and work of one evaluation, and the patterns that it compiled."""

    __slots__ = ("_most", "_work", "cel_go", "cost", "patterns")

    def __init__(self, cel_go: int = CelGo.V0_26, most: int = COST_LIMIT) -> None:
        """`most` is a lower limit that the caller has for this evaluation."""
        self.cost = 0
        self._most = min(most, COST_LIMIT)
        self._work = 0
        self.cel_go = cel_go
        self.patterns: set[str] = set()

    def spend(self, cost: int) -> None:
        """Add to the cost; raises CostExceeded beyond the limit."""
        self.cost += cost
        if self.cost > self._most:
            raise CostExceeded

    def work(self, amount: int) -> None:
        """Add to the work, before it is done; raises CostExceeded beyond the limit."""
        self._work += amount
        if self._work > WORK_LIMIT:
            raise CostExceeded

    @property
    def stops_at_failure(self) -> bool:
        """Report whether a failure ends its call, which then costs nothing."""
        return self.cel_go >= CelGo.V0_33

    @property
    def steps(self) -> int:
        """Return what the evaluation took of a cycle's budget."""
        return STEPS_A_COST * self.cost + self._work // _WORK_A_STEP


STEPS_A_COST, _WORK_A_STEP = 2, 64

METER: ContextVar[Meter] = ContextVar("METER")
"""The meter of the evaluation under way."""


@contextmanager
def metered(cel_go: int = CelGo.V0_26, most: int = COST_LIMIT) -> Iterator[Meter]:
    """Give an evaluation its own meter."""
    meter = Meter(cel_go, most)
    token = METER.set(meter)
    try:
        yield meter
    finally:
        METER.reset(token)


def _tenth(size: float) -> int:
    return math.ceil(size * 0.1)


def _traversal(value: Value) -> int:
    """Return what it costs to go through a value, its elements and their elements (traversalCost)."""
    METER.get().work(1)
    if isinstance(value, str):
        return int(len(value.encode("utf-8", "replace")) * 0.1)
    if isinstance(value, bytes):
        return int(len(value) * 0.1)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(_traversal(from_key(key)) + _traversal(item) for key, item in value.items())
    return 1


def _first(args: Sequence[Value], _: Value) -> int:
    return _tenth(size_of(args[0]))


def _twice(args: Sequence[Value], _: Value) -> int:
    return _tenth(2 * size_of(args[0]))


def _made(_: Sequence[Value], answer: Value) -> int:
    return _LIST + (size_of(answer) if answer is not None or METER.get().cel_go < CelGo.V0_33 else 0)


def _affix(args: Sequence[Value], _: Value) -> int:
    return _tenth(size_of(args[METER.get().cel_go >= CelGo.V0_29]))


def _flatten(args: Sequence[Value], _: Value) -> int:
    return _LIST + (args[1] if len(args) > 1 and type(args[1]) is int else 1) * size_of(args[0])


def _self_compare(args: Sequence[Value], _: Value) -> int:
    items = args[0] if isinstance(args[0], list) else []
    if args[0] is None:  # the argument has failed, and the real evaluator panics
        raise EvaluationEnded(_NO_LISTER)
    factor = 2.1 if items and isinstance(items[0], str | bytes) else 2.0
    return _LIST + int(float(len(items) ** 2) * factor)


_NO_LISTER = "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"


def _sets(factor: int) -> Callable[[Sequence[Value], Value], int]:
    return lambda args, _: 1 + factor * size_of(args[0]) * size_of(args[1])


def _pattern(args: Sequence[Value], _: Value) -> int:
    return _tenth(1 + size_of(args[0])) * math.ceil(size_of(args[1]) * 0.25)


def _cidr(args: Sequence[Value], _: Value) -> int:
    parsed = _tenth(size_of(args[1])) if isinstance(args[1], str) else 0
    return _tenth(2 * size_of(args[0])) + parsed


def _smaller(args: Sequence[Value], _: Value) -> int:
    return _tenth(min(size_of(args[0]), size_of(args[1])))


_LIST = 11
_BY_NAME: dict[str, Callable[[Sequence[Value], Value], int]] = {
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"), _first),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _twice),
    **dict.fromkeys(("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"), lambda args, _: _traversal(args[0])),
    "includes": lambda args, _: _traversal(args[0]) if METER.get().cel_go >= CelGo.V0_29 else 1,
    "ip": lambda args, _: 1 if isinstance(args[0], CIDR) else _tenth(size_of(args[0])),
    "join": lambda _, answer: _tenth(2 * size_of(answer)),
    "find": _pattern,
    "findAll": _pattern,
    "containsIP": _cidr,
    "containsCIDR": lambda args, answer: _cidr(args, answer) + _tenth(size_of(args[0])) + 1,
    "_==_": lambda args, answer: 1 if isinstance(args[0], IP | CIDR) else _smaller(args, answer),
    "_!=_": _smaller,
}
"""CostEstimator.CallCost, and equality, whose overload is always known."""

_BY_OVERLOAD: dict[str, Callable[[Sequence[Value], Value], int]] = {
    "startsWith": _affix,
    "endsWith": _affix,
    "strings.quote": _first,
    "format": _first,
    "bytes": lambda args, _: _tenth(len(args[0])) if isinstance(args[0], str) else 1,
    "string": lambda args, _: _tenth(len(args[0])) if isinstance(args[0], bytes) else 1,
    "@in": lambda args, _: size_of(args[1]) if isinstance(args[1], list) else 1,
    **dict.fromkeys(
        ("_<_", "_<=_", "_>_", "_>=_"),
        lambda args, answer: _smaller(args, answer) if isinstance(args[0], str | bytes) else 1,
    ),
    "_+_": lambda args, _: (
        _tenth(size_of(args[0]) + size_of(args[1])) if any(isinstance(arg, str | bytes) for arg in args) else 1
    ),
    "matches": _pattern,
    "contains": lambda args, _: _tenth(size_of(args[0])) * _tenth(size_of(args[1])),
    "slice": _made,
    "reverse": _made,
    "lists.range": _made,
    "flatten": _flatten,
    "distinct": _self_compare,
    "sort": _self_compare,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
}
"""CostTracker.costCall and the trackers of overloads: used only if the checker found one overload."""


def call_cost(name: str, args: Sequence[Value], answer: Value, is_resolved: bool) -> int:
    """Return what a call costs (CostTracker.costCall); `is_resolved` if its overload is known before it runs."""
    by_name = _BY_NAME.get(name)
    if by_name is not None:
        return by_name(args, answer)
    return _BY_OVERLOAD[name](args, answer) if is_resolved and name in _BY_OVERLOAD else 1

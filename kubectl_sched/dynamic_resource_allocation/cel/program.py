"""Compiles an expression into a program: parsed, checked, and evaluated for a device (cel-go's Env and Program)."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.activation import Frame
from kubectl_sched.dynamic_resource_allocation.cel.checker import Checker
from kubectl_sched.dynamic_resource_allocation.cel.cost import STEPS_A_COST, metered
from kubectl_sched.dynamic_resource_allocation.cel.evaluator import compiled
from kubectl_sched.dynamic_resource_allocation.cel.field_references import reads_of
from kubectl_sched.dynamic_resource_allocation.cel.parser import parse
from kubectl_sched.dynamic_resource_allocation.cel.types import BOOL, Type
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, CompileError, type_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.dynamic_resource_allocation.cel.dialect import Dialect
    from kubectl_sched.dynamic_resource_allocation.cel.syntax_tree import Node
    from kubectl_sched.dynamic_resource_allocation.cel.values import Value
    from kubectl_sched.framework.cycle_budget import CycleBudget

_SHORT = 512
"""Characters of an expression of which many are kept compiled."""


class Program:
    """A compiled expression; `reads` is what it needs to know of a device, None if that may be anything."""

    __slots__ = ("_cel_go", "_step", "reads", "text")

    def __init__(self, text: str, node: Node, dialect: Dialect) -> None:
        self.text = text
        self._cel_go = dialect.cel_go
        self.reads = reads_of(node)
        with metered(self._cel_go):
            self._step = compiled(node)

    def matches(self, device: Mapping[str, Value], budget: CycleBudget | None = None) -> bool:
        """Evaluate the expression for a device. Raises CelError, and BudgetEnded where the cycle may take no more."""
        answer = self.value(device, budget)
        if isinstance(answer, bool):
            return answer
        name = type_name(answer)
        raise CelError(f"CEL result of type {name} could not be converted to bool: {_unconverted(name)}")

    def value(self, device: Mapping[str, Value], budget: CycleBudget | None = None) -> Value:
        """The expression's value; raises CelError, and BudgetEnded where the cycle may take no more."""
        if budget is None:
            with metered(self._cel_go) as meter:
                return self._step(Frame({"device": device}, meter))
        with metered(self._cel_go, budget.left // STEPS_A_COST) as meter:
            try:
                return self._step(Frame({"device": device}, meter))
            finally:
                budget.spend(meter.steps)

    def cost(self, device: Mapping[str, Value]) -> int:
        """Return what the expression costs for the device, an error or not."""
        with metered(self._cel_go) as meter, suppress(CelError):
            self._step(Frame({"device": device}, meter))
        return meter.cost


def _unconverted(name: str) -> str:
    short = {"kubernetes.Semver": "Semver", "kubernetes.Quantity": "Quantity"}.get(name)
    if short is not None:
        return f"type conversion error from '{short}' to 'bool'"
    if name == "string":
        return "unsupported native conversion from string to 'bool'"
    if name in {"list", "map"}:
        return f"type conversion error from '{name}' to 'bool'"
    return f"unsupported type conversion from '{name}' to bool"


def compile_expression(text: str, dialect: Dialect) -> Program:
    """Compile a selector, which answers a bool or something of unknown type; raises CompileError."""
    return (_short_expression if len(text) <= _SHORT else _long_expression)(text, dialect)


def _compile_expression(text: str, dialect: Dialect) -> Program:
    node, found = checked(text, dialect)
    acceptable = found == BOOL or found.name == "any" or (dialect.lists and found.name == "dyn")
    if not acceptable:
        raise CompileError(f"must evaluate to bool or the unknown type, not {found}")
    return Program(text, node, dialect)


_short_expression = lru_cache(maxsize=4096)(_compile_expression)
_long_expression = lru_cache(maxsize=64)(_compile_expression)


def compile_value(text: str, dialect: Dialect) -> Program:
    """Compile a derived attribute, which is a scalar or a list of scalars; raises CompileError."""
    return (_short_value if len(text) <= _SHORT else _long_value)(text, dialect)


def _compile_value(text: str, dialect: Dialect) -> Program:
    node, found = checked(text, dialect)
    if not (_is_scalar(found) or (found.name == "list" and len(found.params) == 1 and _is_scalar(found.params[0]))):
        kinds = "a primitive scalar (string, integer, boolean, semver) or a list of these scalars"
        raise CompileError(f"must evaluate to {kinds}, not {found}")
    return Program(text, node, dialect)


_short_value = lru_cache(maxsize=4096)(_compile_value)
_long_value = lru_cache(maxsize=64)(_compile_value)


def _is_scalar(kind: Type) -> bool:
    return kind.name in {"bool", "int", "string", "any", "dyn", "kubernetes.Semver"}


def checked(text: str, dialect: Dialect) -> tuple[Node, Type]:
    """The tree and its type; raises CompileError."""
    try:
        node = parse(text)
        with metered(dialect.cel_go):
            return node, Checker(text, dialect).check(node)
    except CompileError as wrong:
        raise CompileError(f"compilation failed: {wrong}") from wrong

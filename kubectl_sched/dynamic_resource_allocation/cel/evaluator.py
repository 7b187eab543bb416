"""Turns a tree into steps, functions of a frame that keep to the cost limit (cel-go interpreter)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_sched.dynamic_resource_allocation.cel.activation import Frame, Step, argument, decided, operands
from kubectl_sched.dynamic_resource_allocation.cel.comprehensions import FOLDS, checked_range, pairs
from kubectl_sched.dynamic_resource_allocation.cel.cost import EvaluationEnded, call_cost
from kubectl_sched.dynamic_resource_allocation.cel.dialect import CelGo
from kubectl_sched.dynamic_resource_allocation.cel.library import apply
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import no_overload
from kubectl_sched.dynamic_resource_allocation.cel.library.operators import index, optional_index
from kubectl_sched.dynamic_resource_allocation.cel.regex import regex
from kubectl_sched.dynamic_resource_allocation.cel.syntax_tree import (
    Bind,
    Call,
    Const,
    Fold,
    Ident,
    ListOf,
    MapOf,
    Node,
    Select,
    children,
)
from kubectl_sched.dynamic_resource_allocation.cel.types import namespaces, signatures
from kubectl_sched.dynamic_resource_allocation.cel.values import (
    CelError,
    CompileError,
    DefaultMap,
    Optional,
    TypeValue,
    Value,
    elements,
    map_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class _Failed(NamedTuple):
    """A bound name whose value fails, as soon as it is used."""

    failure: CelError


_LIST_COST, _MAP_COST = 10, 30


def compiled(node: Node) -> Step:
    """Return the step that evaluates the tree."""
    return _COMPILERS[type(node)](node)


def _const(node: Const) -> Step:
    value = node.value
    return lambda _: value


def _ident(node: Ident) -> Step:
    name = node.name

    def step(frame: Frame) -> Value:
        frame.spend(1)
        if name in frame.variables:
            value = frame.variables[name]
            if isinstance(value, _Failed):
                raise value.failure
            return value
        return TypeValue(name=name)

    return step


def _operand(node: Node) -> tuple[Step, int]:
    """Return the operand of a selection, and the extra cost if it is no variable and no choice."""
    return compiled(node), 0 if _is_attribute(node) or _is_choice(node) else 1


def _is_attribute(node: Node) -> bool:
    return isinstance(node, Ident | Select) or _is_index(node)


def _is_choice(node: Node) -> bool:
    """Report whether the node is a conditional, or selected from one: that costs no attribute."""
    if isinstance(node, Select):
        return _is_choice(node.operand)
    if not isinstance(node, Call):
        return False
    return node.function == "_?_:_" or (_is_index(node) and _is_choice(node.args[0]))


def _is_index(node: Node) -> bool:
    return isinstance(node, Call) and node.function in {"_[_]", "_[?_]", "_?._"}


def _select(node: Select) -> Step:
    operand, extra = _operand(node.operand)
    name, test = node.name, node.test

    def step(frame: Frame) -> Value:
        frame.spend(extra)
        container = operand(frame)
        if isinstance(container, Optional):
            found = optional_index(container, name)
            frame.spend(found.present and not test)
            return found.present if test else found
        frame.spend(not test)
        if not isinstance(container, dict):
            raise no_overload()
        if test:
            return name in container or isinstance(container, DefaultMap)
        return index(container, name)

    return step


def _call(node: Call) -> Step:
    name = node.function
    if name in {"_&&_", "_||_"}:
        return _logical(name == "_||_", [compiled(arg) for arg in node.args])
    if name == "_?_:_":
        return _conditional([compiled(node.args[0]), *map(_branch, node.args[1:])])
    folded = _folded(node)
    if folded is not None:
        return _const(folded)
    if _is_index(node):
        return _indexed(node)
    if node.function in {"or", "orValue"} and node.target is not None:
        return _alternative(node.function, compiled(node.target), compiled(node.args[0]))
    return _function_call(node)


def _function_call(node: Call) -> Step:
    name, args = _function(node)
    if name in {"find", "findAll"} and isinstance(args[1], Const):
        _check_pattern(args[1].value)
    steps = [compiled(arg) for arg in args]
    resolved, is_global_matches = node.is_resolved, name == "matches" and node.target is None
    has_pattern = name in {"matches", "find", "findAll"} and isinstance(args[1], Const)
    free = name == "@in" and isinstance(args[1], ListOf) and _is_constant(args[1])

    def step(frame: Frame) -> Value:
        values, failure = _evaluated(frame, steps)
        answer: Value = None
        failed_before = failure is not None
        if failure is None:
            answer, failure = _applied(name, values)
        if failed_before and frame.meter.stops_at_failure:
            if name in {"_==_", "_!=_", "!_"}:
                frame.spend(call_cost(name, (*values, None), answer, is_resolved=True))
        elif not free and len(values) == len(steps) and not (failure is not None and has_pattern and values[0] is None):
            known = resolved and (frame.meter.cel_go >= CelGo.V0_29 or not is_global_matches)
            frame.spend(call_cost(name, values, answer, known))
        if failure is not None:
            raise failure
        return answer

    return step


def _check_pattern(pattern: Value) -> None:
    """Raise CompileError for a literal pattern that cannot be compiled (OptimizeRegex)."""
    try:
        regex(pattern)
    except CelError as wrong:
        raise CompileError(f"program instantiation failed: {wrong}") from wrong


def _alternative(name: str, first: Step, second: Step) -> Step:
    """`or` and `orValue`, which cost nothing and evaluate the second argument only if they need it."""

    def step(frame: Frame) -> Value:
        value = first(frame)
        if not isinstance(value, Optional):
            raise no_overload()
        if not value.present:
            return second(frame)
        return value if name == "or" else value.value

    return step


def _function(node: Call) -> tuple[str, list[Node]]:
    """Return the function's whole name, and its arguments with the target."""
    name, target = node.function, node.target
    if target is None:
        return name, node.args
    if isinstance(target, Ident) and target.name in namespaces() and signatures(f"{target.name}.{name}", True):
        return f"{target.name}.{name}", node.args
    return name, [target, *node.args]


def _evaluated(frame: Frame, steps: Sequence[Step]) -> tuple[list[Value], CelError | None]:
    """Return the arguments, None for those that fail, and the first failure.

    As in cel-go the second of two may be evaluated even if the first one fails; of more, none after a failure.
    """
    ends_at_failure = len(steps) > 2 or frame.meter.stops_at_failure
    values: list[Value] = []
    failure: CelError | None = None
    for step in steps:
        try:
            values.append(step(frame))
        except EvaluationEnded:
            raise
        except CelError as wrong:
            failure = failure or wrong
            values.append(None)
            if ends_at_failure:
                break
    return values, failure


def _applied(name: str, values: Sequence[Value]) -> tuple[Value, CelError | None]:
    try:
        return apply(name, values), None
    except EvaluationEnded:
        raise
    except CelError as wrong:
        return None, wrong


_CONVERSIONS = frozenset(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"])


def _folded(node: Node) -> Const | None:
    """Return a literal, also one that is converted: if it cannot be, the program cannot be made.

    Nothing is in an empty list.
    """
    if isinstance(node, Call) and node.function == "@in":
        among = node.args[1]
        return Const(node.at, False) if isinstance(among, ListOf) and not among.items else None
    if not isinstance(node, Call) or node.function not in _CONVERSIONS or node.target is not None:
        return node if isinstance(node, Const) else None
    argument = _folded(node.args[0])
    try:
        return argument and Const(node.at, apply(node.function, [argument.value]))
    except CelError as wrong:
        raise CompileError(f"program instantiation failed: {wrong}") from wrong


def _indexed(node: Call) -> Step:
    operand, extra = _operand(node.args[0])
    key = _branch(node.args[1])
    take = index if node.function == "_[_]" else optional_index

    def step(frame: Frame) -> Value:
        frame.spend(extra)
        container = operand(frame)
        try:
            wanted = key(frame)
        except CelError:
            frame.spend(1)
            raise
        if take is index:
            frame.spend(1)
            return index(container, wanted)
        found = optional_index(container, wanted)
        frame.spend(found.present)
        return found

    return step


def _logical(stops_at: bool, steps: Sequence[Step]) -> Step:
    return lambda frame: decided(stops_at, operands(frame, steps))


def _branch(node: Node) -> Step:
    """Compile a branch of a conditional, where the planner makes an attribute cheaper by one."""
    step = compiled(node)
    is_test = isinstance(node, Select) and node.test
    if is_test or not _is_attribute(node) or _is_choice(node):
        return step

    def cheaper(frame: Frame) -> Value:
        frame.meter.cost -= 1
        return step(frame)

    return cheaper


def _conditional(steps: Sequence[Step]) -> Step:
    condition, then, otherwise = steps

    def step(frame: Frame) -> Value:
        value = condition(frame)
        if not isinstance(value, bool):
            raise no_overload()
        return then(frame) if value else otherwise(frame)

    return step


def _is_constant(node: Node) -> bool:
    """Return whether the planner turns the node into a constant, which costs nothing."""
    if isinstance(node, ListOf | MapOf):
        return all(_is_constant(child) for child in children(node))
    return _folded(node) is not None


def _list(node: ListOf) -> Step:
    steps = [(compiled(item), place in node.optional) for place, item in enumerate(node.items)]
    cost = 0 if _is_constant(node) else _LIST_COST

    def build(frame: Frame) -> list[Value]:
        values: list[Value] = []
        for item, optional in steps:
            value = item(frame)
            if optional and isinstance(value, Optional):
                values += [value.value] if value.present else []
            else:
                values.append(value)
        return values

    return _constructed(build, cost)


def _map(node: MapOf) -> Step:
    steps = [(compiled(key), compiled(value), optional) for key, value, optional in node.entries]
    cost = 0 if _is_constant(node) else _MAP_COST

    def build(frame: Frame) -> dict[Value, Value]:
        values: dict[Value, Value] = {}
        for key, item, optional in steps:
            wrapped = map_key(key(frame))
            value = item(frame)
            if optional and isinstance(value, Optional):
                if value.present:
                    values[wrapped] = value.value
            else:
                values[wrapped] = value
        return values

    return _constructed(build, cost)


def _constructed(build: Step, cost: int) -> Step:
    return lambda frame: argument(frame, build, cost)


def _bind(node: Bind) -> Step:
    init, body, name, optional = compiled(node.init), compiled(node.body), node.name, node.optional

    def step(frame: Frame) -> Value:
        before = frame.meter.cost
        try:
            value = init(frame)
        except EvaluationEnded:
            raise
        except CelError as wrong:
            if optional:
                frame.spend(not frame.meter.stops_at_failure)
                raise
            value = _Failed(wrong)
        if optional:
            # hasValue(), then the target again for value(), and optional.of() or optional.none()
            spent = frame.meter.cost - before
            frame.spend(1)
            if not isinstance(value, Optional):
                raise no_overload()
            if not value.present:
                frame.spend(1)
                return value
            frame.spend(spent + 1)
            value = value.value
        answer = argument(frame.inner({name: value}), body, int(optional == "optMap"))
        return Optional(present=True, value=answer) if optional == "optMap" else answer

    return step


def _fold(node: Fold) -> Step:
    ranged = compiled(node.range)
    list_cost = 0 if _is_constant(node.args[-1]) else _LIST_COST
    body, steps, names = FOLDS[node.macro], [compiled(arg) for arg in node.args], node.names

    def step(frame: Frame) -> Value:
        container = checked_range(ranged(frame), len(names))
        inner = frame.inner({})

        def rounds() -> Iterator[tuple[Value, ...]]:
            for values in pairs(container) if len(names) == 2 else ((item,) for item in elements(container)):
                inner.variables.update(zip(names, values, strict=True))
                yield values

        return body(inner, rounds(), steps, list_cost)

    return step


_COMPILERS: dict[type[Node], Callable[[Any], Step]] = {
    Const: _const,
    Ident: _ident,
    Select: _select,
    Call: _call,
    ListOf: _list,
    MapOf: _map,
    Bind: _bind,
    Fold: _fold,
}

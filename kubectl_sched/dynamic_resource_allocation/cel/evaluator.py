"""Compiles an expression into a function of a device, and keeps to the cost limit (cel-go interpreter)."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kubectl_sched.dynamic_resource_allocation.cel.activation import Frame, Step, decided, operands
from kubectl_sched.dynamic_resource_allocation.cel.checker import Checker, Dialect
from kubectl_sched.dynamic_resource_allocation.cel.comprehensions import FOLDS, pairs
from kubectl_sched.dynamic_resource_allocation.cel.cost import call_cost
from kubectl_sched.dynamic_resource_allocation.cel.field_references import reads_of
from kubectl_sched.dynamic_resource_allocation.cel.library import apply
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import no_overload
from kubectl_sched.dynamic_resource_allocation.cel.library.operators import index, optional_index
from kubectl_sched.dynamic_resource_allocation.cel.parser import parse
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
)
from kubectl_sched.dynamic_resource_allocation.cel.types import BOOL, Type, namespaces, signatures
from kubectl_sched.dynamic_resource_allocation.cel.values import (
    CelError,
    CompileError,
    DefaultMap,
    Optional,
    TypeValue,
    Value,
    elements,
    map_key,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.dynamic_resource_allocation.cel.types import Type

_LIST_COST, _MAP_COST = 10, 30


class Program:
    """A compiled expression; `reads` is what it needs to know of a device, None where that may be anything."""

    __slots__ = ("_step", "reads", "text")

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.reads = reads_of(node)
        self._step = _compiled(node)

    def matches(self, device: Mapping[str, Value]) -> bool:
        """What the expression says of a device; raises CelError."""
        answer = self.value(device)
        if isinstance(answer, bool):
            return answer
        name = type_name(answer)
        raise CelError(f"CEL result of type {name} could not be converted to bool: {_unconverted(name)}")

    def value(self, device: Mapping[str, Value]) -> Value:
        """The expression's value; raises CelError."""
        return self._step(Frame({"device": device}))

    def cost(self, device: Mapping[str, Value]) -> int:
        """What the expression costs for the device, an error or not."""
        frame = Frame({"device": device})
        with suppress(CelError):
            self._step(frame)
        return frame.cost


def _unconverted(name: str) -> str:
    short = {"kubernetes.Semver": "Semver", "kubernetes.Quantity": "Quantity"}.get(name)
    if short is not None:
        return f"type conversion error from '{short}' to 'bool'"
    if name == "string":
        return "unsupported native conversion from string to 'bool'"
    if name in {"list", "map"}:
        return f"type conversion error from '{name}' to 'bool'"
    return f"unsupported type conversion from '{name}' to bool"


@lru_cache(maxsize=4096)
def compile_expression(text: str, dialect: Dialect) -> Program:
    """Compile a selector, which answers a bool or something of unknown type; raises CompileError."""
    node, found = checked(text, dialect)
    acceptable = found == BOOL or found.name == "any" or (dialect.lists and found.name == "dyn")
    if not acceptable:
        raise CompileError(f"must evaluate to bool or the unknown type, not {found}")
    return Program(text, node)


@lru_cache(maxsize=4096)
def compile_value(text: str, dialect: Dialect) -> Program:
    """Compile a derived attribute, which is a scalar or a list of scalars; raises CompileError."""
    node, found = checked(text, dialect)
    if not (_is_scalar(found) or (found.name == "list" and len(found.params) == 1 and _is_scalar(found.params[0]))):
        kinds = "a primitive scalar (string, integer, boolean, semver) or a list of these scalars"
        raise CompileError(f"must evaluate to {kinds}, not {found}")
    return Program(text, node)


def _is_scalar(kind: Type) -> bool:
    return kind.name in {"bool", "int", "string", "any", "dyn", "kubernetes.Semver"}


def checked(text: str, dialect: Dialect) -> tuple[Node, Type]:
    """The tree and its type; raises CompileError."""
    try:
        node = parse(text)
        checker = Checker(text, dialect)
        return node, checker.check(node)
    except CompileError as wrong:
        raise CompileError(f"compilation failed: {wrong}") from wrong


def _compiled(node: Node) -> Step:
    return _COMPILERS[type(node)](node)


def _const(node: Const) -> Step:
    value = node.value
    return lambda _: value


def _ident(node: Ident) -> Step:
    name = node.name

    def step(frame: Frame) -> Value:
        frame.spend(1)
        if name in frame.variables:
            return frame.variables[name]
        return TypeValue(name)

    return step


def _operand(node: Node) -> tuple[Step, int]:
    """What a selection is made from, and what it costs that this is no variable."""
    return _compiled(node), 0 if isinstance(node, Ident | Select) or _is_index(node) else 1


def _is_index(node: Node) -> bool:
    return isinstance(node, Call) and node.function in {"_[_]", "_[?_]", "_?._"}


def _select(node: Select) -> Step:
    operand, extra = _operand(node.operand)
    name, test = node.name, node.test
    cost = extra + (not test)

    def step(frame: Frame) -> Value:
        container = operand(frame)
        frame.spend(cost)
        if isinstance(container, Optional):
            found = optional_index(container, name)
            return found.present if test else found
        if not isinstance(container, dict):
            raise no_overload()
        if test:
            return name in container or isinstance(container, DefaultMap)
        return index(container, name)

    return step


def _call(node: Call) -> Step:
    name = node.function
    if name in {"_&&_", "_||_"}:
        return _logical(name == "_||_", [_compiled(arg) for arg in node.args])
    if name == "_?_:_":
        return _conditional([_compiled(arg) for arg in node.args])
    args = list(node.args)
    if name in _CONVERSIONS and node.target is None and isinstance(args[0], Const):
        return _converted(name, args[0].value)
    if node.target is not None:
        target = node.target
        if isinstance(target, Ident) and target.name in namespaces() and signatures(f"{target.name}.{name}", True):
            name = f"{target.name}.{name}"
        else:
            args = [target, *args]
    if _is_index(node):
        return _indexed(node)
    steps = [_compiled(arg) for arg in args]
    free = name == "@in" and isinstance(args[1], ListOf) and all(isinstance(item, Const) for item in args[1].items)

    def step(frame: Frame) -> Value:
        values = [argument(frame) for argument in steps]
        answer = apply(name, values)
        if not free:
            frame.spend(call_cost(name, values, answer))
        return answer

    return step


_CONVERSIONS = frozenset(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"])


def _converted(name: str, value: Value) -> Step:
    """A literal is converted once, and if it cannot be, the program cannot be made."""
    try:
        answer = apply(name, [value])
    except CelError as wrong:
        raise CompileError(f"program instantiation failed: {wrong}") from wrong
    return lambda _: answer


def _indexed(node: Call) -> Step:
    operand, extra = _operand(node.args[0])
    key = _compiled(node.args[1])
    take = index if node.function == "_[_]" else optional_index

    def step(frame: Frame) -> Value:
        container = operand(frame)
        wanted = key(frame)
        frame.spend(1 + extra)
        return take(container, wanted)

    return step


def _logical(stops_at: bool, steps: Sequence[Step]) -> Step:
    return lambda frame: decided(stops_at, operands(frame, steps))


def _conditional(steps: Sequence[Step]) -> Step:
    condition, then, otherwise = steps

    def step(frame: Frame) -> Value:
        value = condition(frame)
        if not isinstance(value, bool):
            raise no_overload()
        return then(frame) if value else otherwise(frame)

    return step


def _list(node: ListOf) -> Step:
    steps = [(_compiled(item), place in node.optional) for place, item in enumerate(node.items)]
    cost = 0 if all(isinstance(item, Const) for item in node.items) else _LIST_COST

    def step(frame: Frame) -> list[Value]:
        values: list[Value] = []
        for item, optional in steps:
            value = item(frame)
            if optional and isinstance(value, Optional):
                values += [value.value] if value.present else []
            else:
                values.append(value)
        frame.spend(cost)
        return values

    return step


def _map(node: MapOf) -> Step:
    steps = [(_compiled(key), _compiled(value), optional) for key, value, optional in node.entries]
    constant = all(isinstance(key, Const) and isinstance(value, Const) for key, value, _ in node.entries)
    cost = 0 if constant else _MAP_COST

    def step(frame: Frame) -> dict[Value, Value]:
        values: dict[Value, Value] = {}
        for key, item, optional in steps:
            wrapped = map_key(key(frame))
            value = item(frame)
            if optional and isinstance(value, Optional):
                if value.present:
                    values[wrapped] = value.value
            else:
                values[wrapped] = value
        frame.spend(cost)
        return values

    return step


def _bind(node: Bind) -> Step:
    init, body, name, optional = _compiled(node.init), _compiled(node.body), node.name, node.optional

    def step(frame: Frame) -> Value:
        value = init(frame)
        frame.spend(1)
        if optional:
            if not isinstance(value, Optional):
                raise no_overload()
            if not value.present:
                return value
            value = value.value
        with_name = frame.inner({name: value})
        try:
            answer = body(with_name)
        finally:
            frame.cost = with_name.cost
        return Optional(True, answer) if optional == "optMap" else answer

    return step


_FOLD_COSTS = {"all": 3, "exists": 4, "map": 12, "filter": 0, "exists_one": 0, "existsOne": 0}


def _fold(node: Fold) -> Step:
    ranged = _compiled(node.range)
    body = FOLDS[node.macro]([_compiled(arg) for arg in node.args])
    names, each = node.names, _FOLD_COSTS.get(node.macro, 2)

    def step(frame: Frame) -> Value:
        container = ranged(frame)
        inner = frame.inner({})

        def rounds() -> Iterator[tuple[Value, ...]]:
            for values in pairs(container) if len(names) == 2 else ((item,) for item in elements(container)):
                inner.variables.update(zip(names, values, strict=True))
                inner.spend(each)
                yield values

        try:
            return body(inner, rounds())
        finally:
            frame.cost = inner.cost + 1

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

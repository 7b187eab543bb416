"""Finds the type of an expression, and what does not fit in it (cel-go checker)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kubectl_sched.dynamic_resource_allocation.cel.lexer import located
from kubectl_sched.dynamic_resource_allocation.cel.literal_arguments import literal_problems
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
from kubectl_sched.dynamic_resource_allocation.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DEVICE,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    UNKNOWN,
    Type,
    list_of,
    map_of,
    namespaces,
    optional_of,
    signatures,
)
from kubectl_sched.dynamic_resource_allocation.cel.values import CompileError, UInt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.dynamic_resource_allocation.cel.dialect import Dialect
    from kubectl_sched.dynamic_resource_allocation.cel.types import Overload

_CONSTANTS = {bool: BOOL, int: INT, UInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL}
_TYPE_IDENTS = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"})


class Checker:
    """Checks one expression; `problems` are messages with their places."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._includes = dialect.includes
        attributes = map_of(STRING, map_of(STRING, DYN if dialect.lists else ANY))
        self._fields: dict[str, Type] = {
            "driver": STRING,
            "attributes": attributes,
            "capacity": map_of(STRING, map_of(STRING, Type("kubernetes.Quantity"))),
        }
        if dialect.sharing:
            self._fields["allowMultipleAllocations"] = BOOL
        self._scopes: list[dict[str, Type]] = [{"device": DEVICE}]
        self._bound: dict[str, Type] = {}
        self._fresh = 0
        self.problems: list[tuple[int, str]] = []
        self._mixed: list[tuple[int, str]] = []
        self._formats = 0
        self._checks: dict[type[Node], Callable[[Any], Type]] = {
            Const: self._const,
            Ident: self._ident,
            Select: self._select,
            Call: self._call,
            ListOf: self._list,
            MapOf: self._map,
            Bind: self._bind,
            Fold: self._fold,
        }

    def check(self, node: Node) -> Type:
        """The expression's type; raises CompileError where something does not fit."""
        found = self._resolved(self._of(node))
        # cel-go asks its validators only about what has types, and tells of all by place.
        problems = sorted(self.problems or [*literal_problems(node), *self._mixed], key=itemgetter(0))
        if problems:
            raise CompileError("\n".join(located(self._text, at, message) for at, message in problems))
        return found

    def _report(self, at: int, message: str) -> Type:
        self.problems.append((at, message))
        return ERROR

    def _of(self, node: Node) -> Type:
        return self._checks[type(node)](node)

    def _const(self, node: Const) -> Type:
        return _CONSTANTS[type(node.value)]

    def _list(self, node: ListOf) -> Type:
        common, mixed = self._common([(item, index in node.optional) for index, item in enumerate(node.items)])
        self._mixed += mixed[:1]
        return list_of(common)

    def _map(self, node: MapOf) -> Type:
        keys, mixed_keys = self._common([(key, False) for key, _, _ in node.entries])
        values, mixed_values = self._common([(value, optional) for _, value, optional in node.entries])
        self._mixed += [*mixed_keys, *mixed_values]
        return map_of(keys, values)

    def _ident(self, node: Ident) -> Type:
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in _TYPE_IDENTS:
            return Type("type", (Type(node.name),))
        return self._report(node.at, f"undeclared reference to '{node.name}' (in container '')")

    def _select(self, node: Select) -> Type:
        operand = self._resolved(self._of(node.operand))
        is_optional = operand.name == "optional_type"
        if is_optional:
            operand = operand.params[0]
        found = self._field(node, operand)
        if node.test:
            return BOOL
        return optional_of(found) if is_optional else found

    def _field(self, node: Select, operand: Type) -> Type:
        if operand == DEVICE:
            if node.name in self._fields:
                return self._fields[node.name]
            return self._report(node.at, f"undefined field '{node.name}'")
        if operand.name == "map":
            return operand.params[1]
        if operand.name in UNKNOWN or _is_parameter(operand):
            return DYN
        return self._report(node.at, f"type '{operand}' does not support field selection")

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            return self._optional_select(node)
        name, args = node.function, list(node.args)
        is_method = False
        if node.target is not None:
            qualified = _qualified(node.target)
            if qualified is not None and signatures(f"{qualified}.{name}", self._includes):
                name = f"{qualified}.{name}"
            else:
                is_method = True
                args = [node.target, *args]
        if name == "optional.none" and not args:
            self._fresh += 1
            return optional_of(Type(f"V{self._fresh}"))
        self._formats += node.function == "format"
        types = [self._of(arg) for arg in args]
        self._formats -= node.function == "format"
        overloads = signatures(name, self._includes)
        if not overloads:
            return self._report(node.at, f"undeclared reference to '{name}' (in container '')")
        return self._resolve(node, name, [one for one in overloads if one.is_method == is_method], types, is_method)

    def _optional_select(self, node: Call) -> Type:
        operand = self._resolved(self._of(node.args[0]))
        if operand.name == "optional_type":
            operand = operand.params[0]
        name = node.args[1]
        assert isinstance(name, Const)  # noqa: S101 - the reader makes no other
        return optional_of(self._field(Select(node.at, node.args[0], name.value), operand))

    def _resolve(
        self, node: Call, name: str, overloads: Sequence[Overload], types: list[Type], is_method: bool
    ) -> Type:
        result: Type | None = None
        kept: dict[str, Type] | None = None
        for overload in overloads:
            before = dict(self._bound)
            args, made = self._instance(overload)
            if len(args) == len(types) and all(
                self._assign(want, have) for want, have in zip(args, types, strict=True)
            ):
                resolved = self._resolved(made)
                node.is_resolved = result is None
                if result is None:
                    result, kept = resolved, dict(self._bound)
                elif result != resolved:
                    result = DYN
            self._bound = before
        if result is None:
            shown = [self._resolved(one) for one in types]
            if any(one == ERROR for one in shown):
                return ERROR
            listed = f"({', '.join(map(str, shown))})"
            if is_method:
                listed = f"{shown[0]}.({', '.join(map(str, shown[1:]))})"
            return self._report(node.at, f"found no matching overload for '{name}' applied to '{listed}'")
        self._bound = kept or self._bound
        return result

    def _instance(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """The signature with type parameters of its own."""
        self._fresh += 1
        return tuple(self._renamed(one) for one in overload.args), self._renamed(overload.result)

    def _renamed(self, one: Type) -> Type:
        if _is_parameter(one):
            return Type(f"{one.name[0]}{self._fresh}")
        return Type(one.name, tuple(self._renamed(param) for param in one.params))

    def _assign(self, want: Type, have: Type) -> bool:
        """Report whether a value of one type may stand for the other; binds type parameters."""
        want, have = self._shallow(want), self._shallow(have)
        if want == have or want.name in UNKNOWN or have.name in UNKNOWN:
            if _is_parameter(want) and not _is_parameter(have):
                self._bound[want.name] = have
            return True
        if _is_parameter(want):
            self._bound[want.name] = have
            return True
        if _is_parameter(have):
            self._bound[have.name] = want
            return True
        if have == NULL:
            return want.name in {"google.protobuf.Timestamp", "google.protobuf.Duration", "kubernetes.DRADevice"}
        return (
            want.name == have.name
            and len(want.params) == len(have.params)
            and all(self._assign(one, other) for one, other in zip(want.params, have.params, strict=True))
        )

    def _shallow(self, one: Type) -> Type:
        while one.name in self._bound:
            one = self._bound[one.name]
        return one

    def _resolved(self, one: Type) -> Type:
        one = self._shallow(one)
        if _is_parameter(one):
            return DYN
        return Type(one.name, tuple(self._resolved(param) for param in one.params))

    def _common(self, items: list[tuple[Node, bool]]) -> tuple[Type, list[tuple[int, str]]]:
        """The type of a literal's elements, and which of them Kubernetes refuses, as it wants all to be alike.

        Only what stands in a call of `format` may differ.
        """
        types = [self._element(node, is_optional) for node, is_optional in items]
        if not types:
            self._fresh += 1
            return Type(f"E{self._fresh}"), []
        common = types[0]
        for one in types[1:]:
            before = dict(self._bound)
            if not self._assign(common, one):
                self._bound = before
                common = DYN
        first, *others = map(self._resolved, types)
        mixed = [
            (node.at, f"expected type '{first}' but found '{found}'")
            for (node, _), found in zip(items[1:], others, strict=True)
            if found != first and ERROR not in (first, found)
        ]
        return common, [] if self._formats else mixed

    def _element(self, node: Node, is_optional: bool) -> Type:
        found = self._shallow(self._of(node))
        if not is_optional:
            return found
        if found.name == "optional_type":
            return found.params[0]
        if found.name not in UNKNOWN:
            self._report(node.at, f"expected type 'optional_type(dyn)' but found '{found}'")
        return found

    def _bind(self, node: Bind) -> Type:
        init = self._resolved(self._of(node.init))
        if node.optional:
            init = init.params[0] if init.name == "optional_type" else DYN
        self._scopes.append({node.name: init})
        body = self._of(node.body)
        self._scopes.pop()
        return optional_of(body) if node.optional == "optMap" else body

    def _fold(self, node: Fold) -> Type:
        ranged = self._resolved(self._of(node.range))
        two = len(node.names) == 2
        kinds: tuple[Type, ...]
        if ranged.name == "list":
            kinds = (INT, ranged.params[0]) if two else (ranged.params[0],)
        elif ranged.name == "map":
            kinds = ranged.params if two else (ranged.params[0],)
        elif ranged in (DYN, ERROR):
            kinds = (DYN, DYN) if two else (DYN,)
        else:
            self._report(
                node.range.at,
                f"expression of type '{ranged}' cannot be range of a comprehension (must be list, map, or dynamic)",
            )
            kinds = (ERROR, ERROR) if two else (ERROR,)
        self._scopes.append(dict(zip(node.names, kinds, strict=True)))
        types = [self._of(arg) for arg in node.args]
        self._scopes.pop()
        return self._folded(node, ranged, kinds, types)

    def _folded(self, node: Fold, ranged: Type, kinds: Sequence[Type], types: list[Type]) -> Type:
        tests = types[:1] if node.macro in {"all", "exists", "exists_one", "existsOne", "filter"} else types[:-1]
        for test in tests:
            found = self._resolved(test)
            if found != BOOL and found.name not in UNKNOWN:
                operator = "_?_:_" if node.macro not in {"all", "exists"} else ""
                message = f"expected type 'bool' but found '{found}'"
                if operator:
                    message = f"found no matching overload for '{operator}' applied to '({found})'"
                self._report(node.args[0].at, message)
        if node.macro in {"all", "exists", "exists_one", "existsOne"}:
            return BOOL
        if node.macro == "filter":
            return list_of(kinds[0])
        if node.macro == "transformMap":
            key = INT if ranged.name == "list" else ranged.params[0] if ranged.name == "map" else DYN
            return map_of(key, types[-1])
        if node.macro == "transformMapEntry":
            return types[-1] if types[-1].name == "map" else DYN
        return list_of(types[-1])


def _is_parameter(one: Type) -> bool:
    return not one.params and one.name[:1].isupper() and (len(one.name) == 1 or one.name[1:].isdigit())


def _qualified(node: Node) -> str | None:
    """`strings` of `strings.quote`."""
    return node.name if isinstance(node, Ident) and node.name in namespaces() else None

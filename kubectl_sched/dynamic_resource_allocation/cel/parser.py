"""Reads an expression into a tree (cel-go parser).

Each method of the reader reads one production of the grammar, which its docstring gives. `[x]` is x or nothing, and
`{x}` is x any number of times. The tokens are `number`, `string`, `bytes`, `name` and `quoted`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.lexer import located, number_of, string_of, tokens
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
from kubectl_sched.dynamic_resource_allocation.cel.values import CompileError, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.dynamic_resource_allocation.cel.lexer import Token

_RESERVED = frozenset({
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
    "namespace", "return", "var", "void", "while",
})  # fmt: skip
_RELATIONS = ("==", "!=", "<", "<=", ">", ">=", "in")
_MACROS = {
    "all": (2, 3), "exists": (2, 3), "exists_one": (2,), "existsOne": (2, 3), "map": (2, 3), "filter": (2,),
    "transformList": (3, 4), "transformMap": (3, 4), "transformMapEntry": (3, 4),
}  # fmt: skip
_SIZE_LIMIT, _DEPTH_LIMIT = 100_000, 250
_FRAMES = 10_000
"""The parser takes about a dozen frames for each level of an expression."""

_NOWHERE = "ERROR: <input>:-1:0: "
_COUNTED = frozenset({f"_{sign}_" for sign in ("+", "-", "*", "/", "%", *_RELATIONS)}) | {
    "@in", "_?_:_", "_[_]", "_[?_]", "_?._"
}  # fmt: skip
_WITH_TWO_NAMES = {("all", 3), ("exists", 3), ("existsOne", 3)}


_BEGINNINGS = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def parse(text: str) -> Node:
    """Parse the whole text; raises CompileError."""
    if len(text) > _SIZE_LIMIT:
        raise CompileError(
            f"{_NOWHERE}expression code point size exceeds limit: size: {len(text)}, limit {_SIZE_LIMIT}"
        )
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    problems: list[str] = []
    reader = _Reader(text, problems)
    try:
        node = reader.conditional()
        if reader.token.kind != "end":
            raise reader.wrong(f"Syntax error: extraneous input '{reader.token.text}' expecting <EOF>")
    except CompileError as wrong:
        raise CompileError("\n".join([*problems, str(wrong)])) from wrong
    if problems:
        raise CompileError("\n".join(problems))
    _limit_depth(node)
    return node


def _limit_depth(root: Node) -> None:
    """Raise CompileError if operators, selections and methods nest too deeply (checkAndIncrementRecursionDepth)."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        depth += isinstance(node, Select | Bind | Fold) or (
            isinstance(node, Call) and (node.target is not None or node.function in _COUNTED)
        )
        if depth > _DEPTH_LIMIT:
            raise CompileError(f"{_NOWHERE}max recursion depth exceeded")
        waiting.extend((child, depth) for child in children(node))


def _balanced(function: str, terms: Sequence[Node], places: Sequence[int]) -> Node:
    """Return a chain as a tree of little depth (logicManager)."""
    if not places:
        return terms[0]
    middle = len(places) // 2
    left = _balanced(function, terms[: middle + 1], places[:middle])
    return Call(places[middle], function, [left, _balanced(function, terms[middle + 1 :], places[middle + 1 :])])


class _Reader:
    """Recursive descent, one method a level of precedence."""

    def __init__(self, text: str, problems: list[str]) -> None:
        self._text = text
        self._tokens = list(tokens(text, problems))
        self._next = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        return self._tokens[self._next]

    def wrong(self, message: str, at: int | None = None) -> CompileError:
        """The error, with its place."""
        return CompileError(located(self._text, self.token.at if at is None else at, message))

    def _advance(self) -> Token:
        token = self.token
        self._next += token.kind != "end"
        return token

    def _sees(self, *signs: str) -> bool:
        return self.token.kind in {"sign", "ident"} and self.token.text in signs

    def _skip(self, sign: str) -> bool:
        found = self._sees(sign)
        if found:
            self._advance()
        return found

    def _expect(self, sign: str) -> None:
        if not self._skip(sign):
            raise self.wrong(f"Syntax error: mismatched input '{self.token.text}' expecting '{sign}'")

    def conditional(self) -> Node:
        """Conditional = any ["?" any ":" conditional]."""
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            raise CompileError(f"{_NOWHERE}expression recursion limit exceeded: {_DEPTH_LIMIT}")
        node = self._any()
        if self._sees("?"):
            at = self._advance().at
            then = self._any()
            self._expect(":")
            node = Call(at, "_?_:_", [node, then, self.conditional()])
        self._depth -= 1
        return node

    def _any(self) -> Node:
        """Any = all {"||" all}; all = relation {"&&" relation}."""
        return self._chain("||", "_||_", lambda: self._chain("&&", "_&&_", self._relation))

    def _chain(self, sign: str, function: str, read: Callable[[], Node]) -> Node:
        """Read terms with the sign between them, and return a tree of little depth."""
        terms, places = [read()], []
        while self._sees(sign):
            places.append(self._advance().at)
            terms.append(read())
        return _balanced(function, terms, places)

    def _relation(self) -> Node:
        """Relation = sum {("==" | "!=" | "<" | "<=" | ">" | ">=" | "in") sum}."""
        node = self._sum()
        while self._sees(*_RELATIONS):
            token = self._advance()
            function = "@in" if token.text == "in" else f"_{token.text}_"
            node = Call(token.at, function, [node, self._sum()])
        return node

    def _sum(self) -> Node:
        """Sum = product {("+" | "-") product}."""
        node = self._product()
        while self._sees("+", "-"):
            token = self._advance()
            node = Call(token.at, f"_{token.text}_", [node, self._product()])
        return node

    def _product(self) -> Node:
        """Product = unary {("*" | "/" | "%") unary}."""
        node = self._unary()
        while self._sees("*", "/", "%"):
            token = self._advance()
            node = Call(token.at, f"_{token.text}_", [node, self._unary()])
        return node

    def _unary(self) -> Node:
        """Unary = ["!" {"!"} | "-" {"-"}] primary members; one "-" before a number is its sign."""
        if self._sees("!", "-"):
            sign = self._advance()
            times = 1
            while self._sees(sign.text):
                self._advance()
                times += 1
            if sign.text == "-" and times == 1 and self.token.kind in {"int", "float"}:
                return self._members(self._number(self._advance(), -1, sign.at))
            node = self._members(self._primary())
            return node if times % 2 == 0 else Call(sign.at, "!_" if sign.text == "!" else "-_", [node])
        return self._members(self._primary())

    def _members(self, node: Node) -> Node:
        """Members = {("[" | "[?") conditional "]" | "." field ["(" arguments] | ".?" field}; field = name | quoted."""
        while self._sees(".", ".?", "[", "[?"):
            sign = self._advance()
            if sign.text in {"[", "[?"}:
                index = self.conditional()
                self._expect("]")
                function = "_[_]" if sign.text == "[" else "_[?_]"
                node = Call(sign.at, function, [node, index])
                continue
            name = self._advance()
            if name.kind not in {"ident", "quoted"}:
                self._next -= name.kind != "end"
                raise self.wrong(f"Syntax error: no viable alternative at input '.{name.text}'")
            field_name = name.text.strip("`")
            if sign.text == ".?":
                node = Call(sign.at, "_?._", [node, Const(name.at, field_name)])
            elif self._sees("("):
                node = self._method(node, field_name)
            else:
                node = Select(sign.at, node, field_name)
        return node

    def _method(self, target: Node, name: str) -> Node:
        """Read `"(" arguments` after a field; macros become folds and bindings."""
        at = self._advance().at
        args = self._arguments()
        if isinstance(target, Ident) and target.name == "cel" and name == "bind" and len(args) == 3:
            return Bind(at, self._variable(args[0]), args[1], args[2])
        if name in {"optMap", "optFlatMap"} and len(args) == 2:
            return Bind(at, self._variable(args[0]), target, args[1], name)
        if len(args) in _MACROS.get(name, ()):
            count = 2 if (name, len(args)) in _WITH_TWO_NAMES or name.startswith("transform") else 1
            names = [self._variable(arg) for arg in args[:count]]
            return Fold(at, name, target, names, args[count:])
        return Call(at, name, args, target)

    def _variable(self, node: Node) -> str:
        if not isinstance(node, Ident):
            raise self.wrong("argument must be a simple name", node.at)
        return node.name

    def _arguments(self) -> list[Node]:
        """Arguments = [conditional {"," conditional} [","]] ")"."""
        args: list[Node] = []
        while not self._skip(")"):
            args.append(self.conditional())
            if not self._sees(")"):
                self._expect(",")
        return args

    def _primary(self) -> Node:
        """Primary = number | string | bytes | call | bracketed."""
        token = self._advance()
        if token.kind in {"int", "float"}:
            return self._number(token, 1, token.at)
        if token.kind == "string":
            return Const(token.at, self._literal(string_of, token, token.at))
        if token.kind == "ident" and token.text in _RESERVED:
            raise self.wrong(f"reserved identifier: {token.text}", token.at)
        if token.kind == "ident" and token.text != "in":
            return self._name(token)
        return self._bracketed(token)

    def _bracketed(self, token: Token) -> Node:
        """Bracketed = "." call | "(" conditional ")" | list | map."""
        if token.text == ".":
            return self._name(self._advance())
        if token.text == "(":
            node = self.conditional()
            if self.token.kind == "end":
                raise self.wrong("Syntax error: missing ')' at '<EOF>'")
            self._expect(")")
            return node
        if token.text in {"[", "[?"}:
            return self._list(token)
        if token.text == "{":
            return self._map(token)
        raise self.wrong(f"Syntax error: mismatched input '{token.text}' expecting {_BEGINNINGS}", token.at)

    def _number(self, token: Token, sign: int, at: int) -> Const:
        return Const(at, self._literal(lambda one: number_of(one, sign), token, at))

    def _literal(self, read: Callable[[Token], Value], token: Token, at: int) -> Value:
        try:
            return read(token)
        except CompileError as wrong:
            raise self.wrong(str(wrong), at) from wrong

    def _name(self, token: Token) -> Node:
        """Call = "true" | "false" | "null" | name ["(" arguments]."""
        if token.text in {"true", "false", "null"}:
            return Const(token.at, {"true": True, "false": False}.get(token.text))
        if not self._sees("("):
            return Ident(token.at, token.text)
        at = self._advance().at
        args = self._arguments()
        if token.text == "has" and len(args) == 1:
            tested = args[0]
            if not isinstance(tested, Select):
                raise self.wrong("invalid argument to has() macro", tested.at)
            return Select(at, tested.operand, tested.name, test=True)
        return Call(at, token.text, args)

    def _list(self, opening: Token) -> Node:
        """List = ("[" | "[?") [item {"," item} [","]] "]"; item = ["?"] conditional; "[?" is "[" "?"."""
        node = ListOf(opening.at, [])
        optional = opening.text == "[?"
        while not self._skip("]"):
            if optional or self._skip("?"):
                node.optional.add(len(node.items))
            optional = False
            node.items.append(self.conditional())
            if not self._sees("]"):
                self._expect(",")
        return node

    def _map(self, opening: Token) -> Node:
        """Map = "{" [entry {"," entry} [","]] "}"; entry = ["?"] conditional ":" conditional."""
        node = MapOf(opening.at, [])
        while not self._skip("}"):
            optional = self._skip("?")
            key = self.conditional()
            self._expect(":")
            node.entries.append((key, self.conditional(), optional))
            if not self._sees("}"):
                self._expect(",")
        return node

"""The static types, and the signatures of all functions (cel-go common/stdlib, ext; apiserver pkg/cel/library).

A type is its name and its parameters. One capital letter is a type parameter.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from kubectl_sched.data_lines import data_lines


class Type(NamedTuple):
    """Such as `list(int)`."""

    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        shown = _SHOWN.get(self.name, self.name)
        return f"{shown}({', '.join(map(str, self.params))})" if self.params else shown


_SHOWN = {"google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration"}

DYN, ANY, ERROR = Type("dyn"), Type("any"), Type("!error!")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
DEVICE = Type("kubernetes.DRADevice")
UNKNOWN = frozenset({"dyn", "any", "!error!"})
"""Types of which only the value will tell what it is."""


def list_of(element: Type) -> Type:
    """A list's type."""
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """A map's type."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of an optional."""
    return Type("optional_type", (value,))


class Overload(NamedTuple):
    """One signature; of a method the first argument is the target."""

    args: tuple[Type, ...]
    result: Type
    is_method: bool


_TABLE: Final = Path(__file__).with_name("signatures.txt")
_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "ts", "dur")
_MIXED = (
    ("int", "double"),
    ("int", "uint"),
    ("uint", "double"),
    ("uint", "int"),
    ("double", "int"),
    ("double", "uint"),
)
_GROUPS = {
    "ORDER": " ".join(f"({one},{other})->bool" for one, other in (*((t, t) for t in _ORDERED), *_MIXED)),
    "JOIN": "(string,string)->string (bytes,bytes)->bytes (l(A),l(A))->l(A)",
    "SHIFT": "(ts,dur)->ts (dur,ts)->ts (dur,dur)->dur",
    "SIZE": " ".join(f"{dot}({one})->int" for dot in ("", ".") for one in ("string", "bytes", "l(A)", "m(A,B)")),
    "TEXT": " ".join(f"({one})->string" for one in (*_ORDERED, "net.IP", "net.CIDR")),
    "TIME": ".(ts)->int .(ts,string)->int",
}
_SHORT = {
    "l": "list", "m": "map", "o": "optional_type", "ts": "google.protobuf.Timestamp",
    "dur": "google.protobuf.Duration", "q": "kubernetes.Quantity", "sv": "kubernetes.Semver",
}  # fmt: skip
_INCLUDES = "includes"


@cache
def signatures(name: str, includes: bool) -> tuple[Overload, ...]:
    """The overloads of a function; none if there is no such function, as includes() may not be."""
    if name == _INCLUDES and not includes:
        return ()
    return _table().get(name, ())


@cache
def namespaces() -> frozenset[str]:
    """The names that may stand before the dot of a function such as `strings.quote`."""
    return frozenset(name.partition(".")[0] for name in _table() if "." in name)


@cache
def _table() -> dict[str, tuple[Overload, ...]]:
    table: dict[str, tuple[Overload, ...]] = {}
    for line in data_lines(_TABLE):
        name, _, text = line.partition(" ")
        for group, expanded in _GROUPS.items():
            text = text.replace(group, expanded)
        table[name] = tuple(_overload(signature) for signature in text.split())
    return table


def _overload(signature: str) -> Overload:
    is_method = signature.startswith(".")
    args, _, result = signature.removeprefix(".").rpartition("->")
    return Overload(_types(args[1:-1]), _types(result)[0], is_method)


def _types(text: str) -> tuple[Type, ...]:
    """Types separated by commas."""
    found: list[Type] = []
    start = depth = 0
    for at, sign in enumerate(text + ","):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            if piece := text[start:at]:
                name, _, inner = piece.partition("(")
                found.append(Type(_SHORT.get(name, name), _types(inner[:-1]) if inner else ()))
            start = at + 1
    return tuple(found)

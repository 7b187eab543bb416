"""The values of CEL that Python has no type for, and how values compare and convert (cel-go common/types).

CEL's int, double, bool, string, bytes, null, list and map are Python's int, float, bool, str, bytes, None, list and
dict. A map's keys are wrapped by `map_key`, since True and 1 are one key to Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kubectl_sched.api.apimachinery.int64 import parse_uint64
from kubectl_sched.api.apimachinery.quantity import Quantity
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
    from urllib.parse import SplitResult

Value: TypeAlias = Any

MIN_INT, MAX_INT, MAX_UINT = -(2**63), 2**63 - 1, 2**64 - 1


class CelError(Exception):
    """A run-time error, in cel-go's words."""


class CompileError(Exception):
    """An expression that does not compile, in cel-go's words."""


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Duration(Record, frozen=True, kw_only=True, order=True):
    """In nanoseconds."""

    nanos: int


class Timestamp(Record, frozen=True, kw_only=True, order=True):
    """In nanoseconds since 1970."""

    nanos: int


class Optional(Record, frozen=True, kw_only=True):
    """A value that may be missing."""

    present: bool = False
    value: Value = None


class TypeValue(Record, frozen=True, kw_only=True):
    """The value of type()."""

    name: str


class IP(Record, frozen=True, kw_only=True):
    """An IP address."""

    address: IPv4Address | IPv6Address


class CIDR(Record, frozen=True, kw_only=True):
    """An address with a prefix length."""

    address: IPv4Address | IPv6Address
    network: IPv4Network | IPv6Network


class URL(Record, frozen=True, kw_only=True):
    """A URL, read and as written."""

    parts: SplitResult
    text: str


class DefaultMap(dict[Any, Any]):
    """A map that has an empty map under every key it lacks, as `device.attributes` and `device.capacity` do."""


UNREADABLE: Final = object()
"""An attribute whose value is of an unknown type, or not valid; using it is an error."""

_NUMBER = re.compile("[0-9]+")
_IDENTIFIER = re.compile("[0-9A-Za-z-]+")


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """A semantic version (github.com/blang/semver/v4); build metadata does not count."""

    numbers: tuple[int, int, int]
    pre: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        release = ".".join(map(str, self.numbers))
        return f"{release}-{'.'.join(map(str, self.pre))}" if self.pre else release

    @classmethod
    def parse(cls, text: str) -> Semver:
        """Read a version; raises CelError with the reader's own words."""
        if not text:
            raise CelError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise CelError("No Major.Minor.Patch elements found")
        patch, build = parts[2].partition("+")[::2] if "+" in parts[2] else (parts[2], None)
        patch, pre = patch.partition("-")[::2] if "-" in patch else (patch, None)
        numbers = tuple(
            _version_number(number, name)
            for number, name in zip((parts[0], parts[1], patch), ("major", "minor", "patch"), strict=True)
        )
        identifiers = tuple(_pre_release(part) for part in pre.split(".")) if pre is not None else ()
        for part in build.split(".") if build is not None else ():
            if not part:
                raise CelError("Build meta data is empty")
            if not _IDENTIFIER.fullmatch(part):
                raise CelError(f'Invalid character(s) found in build meta data "{part}"')
        return cls((numbers[0], numbers[1], numbers[2]), identifiers)

    @classmethod
    def parse_tolerant(cls, text: str) -> Semver:
        """Read a version that may begin with `v`, be short, or have leading zeros (normalizeAndParse)."""
        parts = text.removeprefix("v").split(".", 2)
        for index, part in enumerate(parts):
            if len(part) > 1:
                stripped = part.lstrip("0")
                parts[index] = stripped if stripped[:1].isdigit() else "0" + stripped
        if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
            raise CelError("short version cannot contain PreRelease/Build meta data")
        return cls.parse(".".join(parts + ["0"] * (3 - len(parts))))

    def __lt__(self, other: Semver) -> bool:
        if self.numbers != other.numbers or not (self.pre and other.pre):
            return (self.numbers, not self.pre) < (other.numbers, not other.pre)
        return [_pre_order(part) for part in self.pre] < [_pre_order(part) for part in other.pre]


def _version_number(text: str, name: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise CelError(f'Invalid character(s) found in {name} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise CelError(f'{name.capitalize()} number must not contain leading zeroes "{text}"')
    return _uint64(text)


def _uint64(text: str) -> int:
    number = parse_uint64(text)
    if number is None:
        raise CelError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return number


def _pre_release(text: str) -> int | str:
    if not text:
        raise CelError("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise CelError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return _uint64(text)
    if not _IDENTIFIER.fullmatch(text):
        raise CelError(f'Invalid character(s) found in prerelease "{text}"')
    return text


def _pre_order(part: int | str) -> tuple[bool, int, str]:
    return (True, 0, part) if isinstance(part, str) else (False, part, "")


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    DefaultMap: "map",
    type(None): "null_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    IP: "net.IP",
    CIDR: "net.CIDR",
    URL: "kubernetes.URL",
}
_GO_TYPES: dict[type, str] = {
    bool: "types.Bool",
    int: "types.Int",
    UInt: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Optional: "*types.Optional",
    TypeValue: "*types.Type",
}
OPAQUE = (Quantity, Semver, IP, CIDR, URL)
"""Types that can only be compared with their own."""


def type_name(value: Value) -> str:
    """The run-time name of a value's type."""
    return _TYPE_NAMES[type(value)]


def go_type(value: Value) -> str:
    """Return the name of cel-go's type for a value that is neither a list nor a map."""
    return _GO_TYPES.get(type(value)) or f"cel.{type(value).__name__}"


def is_number(value: Value) -> bool:
    """Report whether it is an int, uint or double."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def map_key(value: Value) -> Value:
    """The value as a map holds it: equal numbers are one key, and True is not 1."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def from_key(key: Value) -> Value:
    """Return the value of a map's key."""
    return key[1] if isinstance(key, tuple) else key


def size_of(value: Value) -> int:
    """Return the size of a value in the cost of a call (actualSize)."""
    if isinstance(value, Optional) and value.present:
        return size_of(value.value)
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, IP):
        return value.address.max_prefixlen // 8
    if isinstance(value, CIDR):
        return -(-value.network.prefixlen // 8)
    return 1


def elements(value: Value) -> Iterator[Value]:
    """Return the range of a comprehension: a list's elements or a map's keys."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        yield from (from_key(key) for key in value)
    else:
        raise CelError("no such overload")

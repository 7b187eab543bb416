"""Strict decoding of a parsed document into the types of the configuration.

Accepts and refuses as sigs.k8s.io/json does, which kube-scheduler decodes its configuration with; the sentences are
ours. Unknown fields are collected; the first value of a wrong type ends decoding.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec

from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.config.types import Duration
from kubectl_sched.lazy_pattern import pattern

_RAW: Final = ("PluginConfig", "args")
"""A field that is decoded on its own, once its type is known."""

_BYTES: Final = frozenset({"certData", "keyData", "caData"})
_BASE64: Final = pattern("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BEYOND_FLOAT32: Final = 2**128 - 2**103
"""The least number that rounds to no float32."""
_INT64: Final = msgspec.Meta(ge=-(2**63), le=2**63 - 1)
_TYPE_META: Final = frozenset({"apiVersion", "kind"})


class WrongType(Exception):  # noqa: N818 - an expected outcome of reading, reported by the caller
    """A value that cannot be decoded; the text names its path, the expected type and the actual one."""


class UnknownField(msgspec.Struct, frozen=True):
    """A field that the type does not have: its path, and the names that the type has."""

    path: str
    known: tuple[str, ...]


class StrictReader:
    """Reads one document. `unknown` collects the fields that strict decoding refuses.

    `absent` are the fields, as (struct, field), that the apiVersion or the minor does not have yet.
    """

    def __init__(self, absent: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.unknown: list[UnknownField] = []
        self._absent = absent

    def read(self, raw: object, kind: type[Any]) -> Any:
        """Return `raw` as a struct; raise WrongType for the first value that does not fit."""
        return self._value(raw, kind, "")

    def _value(self, raw: object, kind: Any, path: str) -> Any:
        kind = _without_none(kind)
        origin = get_origin(kind)
        if kind is int or origin is Annotated:
            number, meta = (int, _INT64) if kind is int else get_args(kind)
            return _float(raw, path) if number is float else _integer(raw, meta, path)
        if origin is tuple:
            items = _expect(raw, list | tuple, "a list", path) or ()
            return tuple(self._value(item, get_args(kind)[0], f"{path}[{at}]") for at, item in enumerate(items))
        if kind is Duration:
            return _duration(raw, path)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(raw, kind, path)
        if origin is dict or kind is dict:
            strings = _expect(raw, Mapping, "an object", path) or {}
            return {str(key): _string(strings[key], f"{path}.{key}") for key in sorted(strings, key=str)}
        return _expect(raw, bool, "true or false", path) or False if kind is bool else _string(raw, path)

    def _struct(self, raw: object, kind: type[msgspec.Struct], path: str) -> Any:
        document = _expect(raw, Mapping, "an object", path) or {}
        name = kind.__name__
        known = {key: field for key, field in _fields(kind).items() if (name, key) not in self._absent}
        meta = frozenset() if path else _TYPE_META
        values: dict[str, Any] = {}
        for key in sorted(map(str, document)):
            field = known.get(key)
            inside = f"{path}.{key}" if path else key
            if field is None and key not in meta:
                self.unknown.append(UnknownField(inside, (*known, *sorted(meta))))
            elif field is not None and (name, key) != _RAW and (document[key] is not None or field.type is Duration):
                values[field.name] = self._value(document[key], field.type, inside)
        return kind(**values)


def json_kind(raw: object) -> str:
    """Return the name of a JSON value's type."""
    if isinstance(raw, bool):
        return "bool"
    if isinstance(raw, int | float):
        return "number"
    if isinstance(raw, str):
        return "string"
    return "object" if isinstance(raw, Mapping) else "array"


def wrong_type(path: str, expected: str, raw: object) -> WrongType:
    """Return the error for a value of another type than expected; an empty path is the whole document."""
    return WrongType(f"{path}{path and ': '}expected {expected}, got {json_kind(raw)}")


def _expect(raw: object, kind: Any, expected: str, path: str) -> Any:
    if raw is not None and not isinstance(raw, kind):
        raise wrong_type(path, expected, raw)
    return raw


def _string(raw: object, path: str) -> str:
    text: str = _expect(raw, str, "a string", path) or ""
    if path.rpartition(".")[2] in _BYTES and _BASE64.fullmatch(re.sub("[\r\n]", "", text)) is None:
        raise WrongType(f"{path}: expected base64")
    return text


def _number(raw: object, path: str) -> int | float:
    if isinstance(raw, bool):
        raise wrong_type(path, "a number", raw)
    number: int | float = _expect(raw, int | float, "a number", path) or 0
    return number


def _float(raw: object, path: str) -> float:
    number = _number(raw, path)
    if abs(number) >= _BEYOND_FLOAT32:
        raise WrongType(f"{path}: expected a number of 32 bits, got {raw}")
    return float(number)


def _integer(raw: object, limits: msgspec.Meta, path: str) -> int:
    number = _number(raw, path)
    least, most = int(limits.ge or 0), int(limits.le or 0)
    if number != int(number) or not least <= number <= most:
        raise WrongType(f"{path}: expected an integer from {least} to {most}, got {raw}")
    return int(number)


def _duration(raw: object, path: str) -> Duration:
    try:
        return Duration(parse_duration(_expect(raw, str, "a duration such as 30s", path) or ""))
    except InvalidDuration as error:
        raise WrongType(f"{path}: {error}") from None


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in {Union, types.UnionType}:
        return next(option for option in get_args(kind) if option is not type(None))
    return kind

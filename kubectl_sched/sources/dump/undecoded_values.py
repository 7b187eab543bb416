"""Looks into a value that is either JSON not yet decoded (msgspec.Raw, in UTF-8) or already plain (from YAML)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

Value: TypeAlias = Any
"""msgspec.Raw, or what YAML gives: dict, list, str, int, float, bool, None."""

Decoded = TypeVar("Decoded")

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


class HeadMetadata(msgspec.Struct, frozen=True):
    """The name and the namespace of an object."""

    name: str | None = None
    namespace: str | None = None


class Head(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of an object or a list. Missing fields are empty."""

    kind: str | None = None
    api_version: str | None = None
    metadata: HeadMetadata | None = None

    @property
    def key(self) -> str:
        """`namespace/name`, as far as it has them."""
        metadata = self.metadata or HeadMetadata()
        return "/".join(filter(None, (metadata.namespace, metadata.name))) or "without a name"


_HEAD = msgspec.json.Decoder(Head)


def fields(value: Value) -> Mapping[str, Value] | None:
    """The fields of an object, None if the value is none."""
    if not is_mapping(value):
        return None
    return _FIELDS.decode(value) if isinstance(value, msgspec.Raw) else cast("dict[str, Value]", value)


def elements(value: Value) -> Sequence[Value] | None:
    """The elements of an array, None if the value is none."""
    if not isinstance(value, msgspec.Raw):
        return value if isinstance(value, list) else None
    if not _starts_with(value, b"["):
        return None
    return _ELEMENTS.decode(value)


def head(value: Value) -> Head | None:
    """The head of an object, None if the value cannot be one."""
    try:
        return _HEAD.decode(value) if isinstance(value, msgspec.Raw) else msgspec.convert(value, Head)
    except UNDECODABLE:
        return None


def plain(value: Value) -> Any:
    """The value in Python's own types."""
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


@cache
def _decoder(target: Any) -> msgspec.json.Decoder[Any]:
    return decoder(target)


def typed(value: Value, target: type[Decoded]) -> Decoded:
    """The value as the type; null stands for an absent field, as in Go.

    Raises msgspec.ValidationError, whose path is below `$`.
    """
    try:
        return (
            cast("Decoded", _decoder(cast("Hashable", target)).decode(value))
            if isinstance(value, msgspec.Raw)
            else msgspec.convert(value, target)
        )
    except msgspec.ValidationError as error:
        try:
            content = plain(value)
        except UNDECODABLE:
            raise error from None
        return msgspec.convert(without_nulls(content), target)


def without_nulls(value: Any) -> Any:
    """Return the value without any field that is null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def is_mapping(value: Value) -> bool:
    """Report whether the value has fields."""
    return _starts_with(value, b"{") if isinstance(value, msgspec.Raw) else isinstance(value, dict)


def _starts_with(value: msgspec.Raw, bracket: bytes) -> bool:
    return bytes(memoryview(cast("Any", value))[:64]).lstrip()[:1] == bracket

"""Strict decoding of a parsed document into the types, with the error texts of Go's decoder.

Answers to sigs.k8s.io/json, which kube-scheduler decodes its configuration with: unknown fields are collected, of
values of a wrong type the first one (in the order of sorted keys) is the error.
"""

from __future__ import annotations

import types
from base64 import b64decode
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec

from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.config.types import Duration

_NAMED_STRINGS: Final = {
    ("ScoringStrategy", "type"): "ScoringStrategyType",
    ("PodTopologySpreadArgs", "defaultingType"): "PodTopologySpreadConstraintsDefaulting",
}
"""Fields whose Go type is a named string of the configuration's own package."""

_GO_TYPES: Final = {
    ("NodeSelectorRequirement", "operator"): "v1.NodeSelectorOperator",
    ("LabelSelectorRequirement", "operator"): "v1.LabelSelectorOperator",
    ("TopologySpreadConstraint", "whenUnsatisfiable"): "v1.UnsatisfiableConstraintAction",
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): "v1.NodeInclusionPolicy",
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): "v1.NodeInclusionPolicy",
}
"""Fields of pods' types whose Go type is a named string."""

_NARROW: Final = {
    ("TopologySpreadConstraint", "maxSkew"): "int32",
    ("TopologySpreadConstraint", "minDomains"): "int32",
    ("PreferredSchedulingTerm", "weight"): "int32",
}
"""Fields of pods' types that are narrower than Python's int."""

_V1ALPHA1: Final = frozenset({"LeaderElectionConfiguration", "ClientConnectionConfiguration"})
"""Types of component-base, whose Go package is another."""

_RAW: Final = ("PluginConfig", "args")
"""A field that is decoded on its own, once its type is known."""

_BYTES: Final = frozenset({"certData", "keyData", "caData"})
_LIMITS: Final = {"int32": 2**31, "int64": 2**63}
_TYPE_META: Final = frozenset({"apiVersion", "kind"})


class WrongType(Exception):  # noqa: N818 - an expected outcome of reading, reported by the caller
    """A value that Go cannot decode; the text is Go's."""


class Place(msgspec.Struct, frozen=True):
    """Where in the document a value stands: Go's innermost struct and field path, and the path with indices."""

    struct: str = ""
    fields: tuple[str, ...] = ()
    path: str = ""

    def within(self, struct: str, field: str) -> Place:
        """Return the place of a field of the struct that stands here."""
        return Place(struct, (*self.fields, field), f"{self.path}.{field}" if self.path else field)

    def at(self, index: int) -> Place:
        """Return the place of an element of the list that stands here."""
        return Place(self.struct, self.fields, f"{self.path}[{index}]")


class UnknownField(msgspec.Struct, frozen=True):
    """A field that the type does not have: its path, and the names that the type has."""

    path: str
    known: tuple[str, ...]


class StrictReader:
    """Reads one document. `unknown` holds what strict decoding objects to, in Go's order.

    `package` is the Go package of the document's apiVersion. `absent` are the fields, as (struct, field), that the
    apiVersion or the minor does not have yet.
    """

    def __init__(self, package: str = "v1", absent: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.unknown: list[UnknownField] = []
        self._package = package
        self._absent = absent
        self._wrong: str | None = None

    def read(self, raw: object, kind: type[Any]) -> Any:
        """Return `raw` as a struct; raise WrongType for the first value that does not fit."""
        value = self._value(raw, kind, Place(), "")
        if self._wrong is not None:
            raise WrongType(self._wrong)
        return value

    def _value(self, raw: object, kind: Any, place: Place, go_type: str) -> Any:
        kind = _without_none(kind)
        origin = get_origin(kind)
        if origin is Annotated:
            title = next(meta.title for meta in get_args(kind)[1:])
            return self._number(raw, go_type or title or "", place)
        if origin is tuple:
            return self._list(raw, get_args(kind)[0], place)
        if kind is Duration:
            return self._duration(raw, place)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self._struct(raw, kind, place)
        return self._scalar(raw, kind, place, go_type)

    def _struct(self, raw: object, kind: type[msgspec.Struct], place: Place) -> Any:
        name = kind.__name__
        if raw is None:
            return kind()
        if not isinstance(raw, Mapping):
            return self._mismatch(raw, self._go_name(kind), place, kind())
        known = {key: field for key, field in _fields(kind).items() if (name, key) not in self._absent}
        meta = _TYPE_META if not place.path else frozenset()
        values: dict[str, Any] = {}
        for key in sorted(map(str, raw)):
            field = known.get(key)
            if field is None and key not in meta:
                path = place.within(name, key).path
                self.unknown.append(UnknownField(path, (*known, *sorted(meta))))
            elif field is not None and raw[key] is not None and (name, key) != _RAW:
                go_type = self._go_type(name, key)
                values[field.name] = self._value(raw[key], field.type, place.within(name, key), go_type)
        return kind(**values)

    def _list(self, raw: object, kind: Any, place: Place) -> tuple[Any, ...]:
        if isinstance(raw, list | tuple):
            return tuple(self._value(item, kind, place.at(index), "") for index, item in enumerate(raw))
        return () if raw is None else self._mismatch(raw, f"[]{self._go_name(kind)}", place, ())

    def _scalar(self, raw: object, kind: Any, place: Place, go_type: str) -> Any:
        if kind is int:
            return self._number(raw, go_type or "int64", place)
        if get_origin(kind) is dict or kind is dict:
            return self._strings(raw, place)
        if kind is bool:
            return raw if isinstance(raw, bool) else self._mismatch(raw, "bool", place, default=False)
        if raw is None:
            return ""
        if not isinstance(raw, str):
            return self._mismatch(raw, go_type or "string", place, "")
        return self._base64(raw) if place.fields and place.fields[-1] in _BYTES else raw

    def _number(self, raw: object, go_type: str, place: Place) -> int | float:
        if raw is None:
            return 0
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            mismatch: int = self._mismatch(raw, go_type, place, 0)
            return mismatch
        if go_type.startswith("float"):
            return float(raw)
        limit = _LIMITS[go_type]
        if raw != int(raw) or not -limit <= raw < limit:
            self._note(f"number {raw}", go_type, place)
            return 0
        return int(raw)

    def _strings(self, raw: object, place: Place) -> dict[str, str]:
        if raw is None:
            return {}
        if not isinstance(raw, Mapping):
            mismatch: dict[str, str] = self._mismatch(raw, "map[string]string", place, {})
            return mismatch
        return {str(key): self._scalar(raw[key], str, place, "") for key in sorted(raw, key=str)}

    def _duration(self, raw: object, place: Place) -> Duration:
        if not isinstance(raw, str):
            mismatch: Duration = Duration() if raw is None else self._mismatch(raw, "string", place, Duration())
            return mismatch
        try:
            return Duration(parse_duration(raw))
        except InvalidDuration as error:
            self._wrong = self._wrong or str(error)
            return Duration()

    def _base64(self, raw: str) -> str:
        try:
            b64decode(raw, validate=True)
        except ValueError:
            self._wrong = self._wrong or f"illegal base64 data at input byte {_first_not_base64(raw)}"
        return raw

    def _mismatch(self, raw: object, go_type: str, place: Place, default: Any) -> Any:
        self._note(json_kind(raw), go_type, place)
        return default

    def _go_type(self, struct: str, field: str) -> str:
        """Return the Go type of a field whose type here does not tell it, or nothing."""
        if (struct, field) in _NAMED_STRINGS:
            return f"{self._package}.{_NAMED_STRINGS[struct, field]}"
        return _GO_TYPES.get((struct, field)) or _NARROW.get((struct, field), "")

    def _go_name(self, kind: Any) -> str:
        if kind is str:
            return "string"
        package = self._package if kind.__module__ == Duration.__module__ else "v1"
        return f"{'v1alpha1' if kind.__name__ in _V1ALPHA1 else package}.{kind.__name__}"

    def _note(self, value: str, go_type: str, place: Place) -> None:
        into = f"struct field {place.struct}.{'.'.join(place.fields)} of" if place.fields else "value of"
        self._wrong = self._wrong or f"json: cannot unmarshal {value} into Go {into} type {go_type}"


def json_kind(raw: object) -> str:
    """Return what Go calls a JSON value."""
    if isinstance(raw, bool):
        return "bool"
    if isinstance(raw, int | float):
        return "number"
    if isinstance(raw, str):
        return "string"
    return "object" if isinstance(raw, Mapping) else "array"


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in {Union, types.UnionType}:
        return next(option for option in get_args(kind) if option is not type(None))
    return kind


def _first_not_base64(text: str) -> int:
    """Return the index that Go complains of: the first character outside the alphabet, or the end."""
    return next((index for index, char in enumerate(text) if not (char.isalnum() or char in "+/=")), len(text))

"""Strict decoding of a parsed document into the types, with the error texts of Go's decoder.

Answers to sigs.k8s.io/json, which kube-scheduler decodes its configuration with: unknown fields are collected, of
values of a wrong type the first one (in the order of sorted keys) is the error.
"""

from __future__ import annotations

import string
import types
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

_EMBEDDED: Final = {
    ("KubeSchedulerConfiguration", "enableProfiling"): "DebuggingConfiguration",
    ("KubeSchedulerConfiguration", "enableContentionProfiling"): "DebuggingConfiguration",
}
"""Fields that the struct has of one that Go embeds in it."""

_RAW: Final = ("PluginConfig", "args")
"""A field that is decoded on its own, once its type is known."""

_BYTES: Final = frozenset({"certData", "keyData", "caData"})
_BASE64: Final = frozenset(f"{string.ascii_letters}{string.digits}+/".encode())
_QUANTUM: Final = 4
_LEAST: Final = 2
"""So many characters of a quantum tell at least one byte; the rest may be padding."""

_LIMITS: Final = {"int32": 2**31, "int64": 2**63}
_TYPE_META: Final = frozenset({"apiVersion", "kind"})


class WrongType(Exception):  # noqa: N818 - an expected outcome of reading, reported by the caller
    """A value that Go cannot decode; the text is Go's."""


class Place(msgspec.Struct, frozen=True):
    """The position of a value in the document: Go's innermost struct and field path, and the path with indices."""

    struct: str = ""
    fields: tuple[str, ...] = ()
    path: str = ""

    def within(self, struct: str, field: str, embedded: str = "") -> Place:
        """Return the place of a field of the struct that stands here, or of one that is `embedded` in it."""
        fields = (*self.fields, *filter(None, [embedded]), field)
        return Place(struct, fields, f"{self.path}.{field}" if self.path else field)

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
    apiVersion or the minor does not have yet. `names_embedded` is whether errors name the struct that a field is
    embedded by.
    """

    def __init__(
        self, package: str = "v1", absent: frozenset[tuple[str, str]] = frozenset(), *, names_embedded: bool = False
    ) -> None:
        self.unknown: list[UnknownField] = []
        self._package = package
        self._absent = absent
        self._embedded = _EMBEDDED if names_embedded else {}
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
            elif field is not None and (name, key) != _RAW and (raw[key] is not None or field.type is Duration):
                go_type = self._go_type(name, key)
                inside = place.within(name, key, self._embedded.get((name, key), ""))
                values[field.name] = self._value(raw[key], field.type, inside, go_type)
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
        """Read a duration. Go's decodes itself; where it fails decoding ends, whatever was wrong before."""
        if raw is not None and not isinstance(raw, str):
            raise WrongType(self._cannot(json_kind(raw), "string", place))
        try:
            return Duration(parse_duration(raw or ""))
        except InvalidDuration as error:
            raise WrongType(str(error)) from None

    def _base64(self, raw: str) -> str:
        illegal = _first_not_base64(raw.encode())
        if illegal is not None:
            self._wrong = self._wrong or f"illegal base64 data at input byte {illegal}"
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
        self._wrong = self._wrong or self._cannot(value, go_type, place)

    def _cannot(self, value: str, go_type: str, place: Place) -> str:
        into = f"struct field {place.struct}.{'.'.join(place.fields)} of" if place.fields else "value of"
        return f"json: cannot unmarshal {value} into Go {into} type {go_type}"


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


def _first_not_base64(data: bytes) -> int | None:
    """Return the index that Go's decoder complains of, None where it does not. Ends of lines do not count."""
    places = [index for index, byte in enumerate(data) if byte not in b"\r\n"]
    for start in range(0, len(places), _QUANTUM):
        quantum = places[start : start + _QUANTUM]
        characters = bytes(data[index] for index in quantum)
        stop = next((at for at, byte in enumerate(characters) if byte not in _BASE64), None)
        if stop is None and len(quantum) < _QUANTUM:
            return len(data) - len(quantum)
        if stop is None:
            continue
        if stop < _LEAST or characters[stop : stop + 1] != b"=":
            return quantum[stop]
        if stop == _LEAST and characters[stop:] != b"==":
            return len(data) if len(quantum) < _QUANTUM else quantum[-1] - 1
        return next(iter(places[start + _QUANTUM :]), None)
    return None

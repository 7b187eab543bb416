"""The JSON Schema (2020-12) of each kind of answer, made from the types that the answers are checked against."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_hint
from kubectl_sched.render.writers.brief import LEFT_OUT, brief_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "explained_pods": ("Explanation", "ExplanationList"),
    "podgroup": ("PodGroupExplanation", "PodGroupExplanationList"),
    "node": ("NodeExplanation", "NodeExplanationList"),
    "triage": ("Triage",),
    "what_if": ("WhatIf", "MakeRoom"),
    "drain": ("Drain",),
    "capacity": ("Capacity",),
    "diff": ("Diff",),
    "configuration": ("Profiles", "Schedulers", "Version"),
    "message": ("Message", "Reason", "Decoded", "DecodedList"),
    "binding": ("Binding", "PodGroupBinding"),
}
KINDS: Final[Mapping[str, str]] = {kind: module for module, kinds in _MODULES.items() for kind in kinds}
"""Every kind of answer, and the module with its type."""


def json_schema(kind: str) -> dict[str, Any]:
    """Return the schema of the whole and of the brief answers of a kind. Raises SchedError if there is no such kind.

    Unknown fields are allowed, since later releases add some.
    """
    import msgspec

    if kind not in KINDS:
        raise SchedError(f"there is no kind {kind}{near_hint(kind, tuple(KINDS))}; kubectl sched schema lists them")
    (root,), definitions = msgspec.json.schema_components([_type_of(kind)], ref_template="#/$defs/{name}")
    for name, each in definitions.items():
        if "properties" in each:
            _require_defaults(each)
        if name in KINDS:
            each["properties"]["kind"] = {"const": name}
            each["properties"][LEFT_OUT] = {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": "Of brief answers: by path, how many entries or characters are missing there.",
            }
            _allow_brief(name, each, definitions)
    return {"$schema": _DIALECT, **root, "$defs": definitions}


def summary_of(kind: str) -> str:
    """Return the first sentence about the kind."""
    text: str = _type_of(kind).__doc__ or ""
    return text.split("\n", 1)[0]


def _type_of(kind: str) -> Any:
    return getattr(import_module(f"kubectl_sched.render.schemas.{KINDS[kind]}"), kind)


def _require_defaults(definition: dict[str, Any]) -> None:
    """Require the fields with a default, too: answers write every field of a record."""
    for name, each in definition["properties"].items():
        if "default" in each:
            del each["default"]
            definition["required"].append(name)


def _allow_brief(kind: str, definition: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """Require of an answer with `leftOut` only the fields of a brief one."""
    view = brief_fields(kind)
    if view is None:
        return
    whole = definition["required"]
    definition["required"] = [each for each in whole if each in {"apiVersion", "kind", *view}]
    definition["if"] = {"not": {"required": [LEFT_OUT]}}
    definition["then"] = {"required": [each for each in whole if each not in definition["required"]]}
    for name, fields in view.items():
        for holder in definitions.values():
            entry = _entries(holder.get("properties", {}).get(name, {}), definitions)
            if fields and entry is not None:
                entry["required"] = [each for each in entry["required"] if each in fields]


def _entries(array: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the definition of the entries of an array; None if they have none of their own."""
    reference: str = array.get("items", {}).get("$ref", "")
    entry: dict[str, Any] | None = definitions.get(reference.rpartition("/")[2])
    return entry

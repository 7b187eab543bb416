"""Reads the answer of kube-scheduler's /configz: the configuration that it runs, with every default in it.

Since 1.36 it is a KubeSchedulerConfiguration. Before, it is the internal type of Go, whose fields have no names of
their own in JSON: `Profiles`, `URLPrefix` (Run in cmd/kube-scheduler/app/server.go).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_NAME: Final = "componentconfig"
_GROUP: Final = "kubescheduler.config.k8s.io"
_FIRST_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]")


def configuration_in_configz(document: object) -> object:
    """Return the KubeSchedulerConfiguration that an answer of /configz holds, and any other document as it is."""
    if not isinstance(document, Mapping) or not isinstance(document.get(_NAME), Mapping):
        return document
    fields = document[_NAME]
    if "kind" in fields:
        return fields
    named: dict[str, Any] = _with_json_names(fields)
    api_version = named.pop("apiVersion", None) or f"{_GROUP}/{_implied_version(named)}"
    return {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", **named}


def _implied_version(fields: Mapping[str, Any]) -> str:
    """Return which apiVersion its defaults are of, where it does not say: v1beta2 has them without multiPoint."""
    profiles = fields.get("profiles")
    sets = (_field(_field(each, "plugins"), "multiPoint") for each in (profiles if isinstance(profiles, list) else ()))
    return "v1" if any(_field(each, "enabled") for each in sets) else "v1beta2"


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _with_json_names(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_json_name(str(key)): _with_json_names(each) for key, each in value.items()}
    return [_with_json_names(each) for each in value] if isinstance(value, list) else value


def _json_name(name: str) -> str:
    """Return a Go field's name as the API spells it: `URLPrefix` is `urlPrefix`, `CAFile` is `caFile`."""
    return _FIRST_WORD.sub(lambda word: word[0].lower(), name, count=1) if name[:1].isupper() else name

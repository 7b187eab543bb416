"""Decodes extenders' answers as Go does: names in any letter case, and Go's words for a wrong type.

Answers to k8s.io/kube-scheduler/extender/v1/types.go and encoding/json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from kubectl_sched.api.apimachinery.int64 import is_int64
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.core import Node
from kubectl_sched.config.strict import json_kind
from kubectl_sched.snapshot.node_table import NodeTable

_Item = TypeVar("_Item")


class ExtenderError(Exception):
    """An extender failed; the text is what kube-scheduler says of it."""


@dataclass(frozen=True, slots=True)
class FilterResult:
    """An ExtenderFilterResult. `nodes` are Node objects and the same as they were sent; None where there are none."""

    names: tuple[str, ...] | None
    nodes: tuple[tuple[Node, dict[str, Any]], ...] | None
    failed: Mapping[str, str]
    failed_for_good: Mapping[str, str]
    error: str


@dataclass(frozen=True, slots=True)
class MetaVictims:
    """The victims on one node, by UID."""

    uids: tuple[str, ...]
    pdb_violations: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A value, and Go's innermost struct and the path of fields that lead to it."""

    value: Any
    struct: str = ""
    fields: tuple[str, ...] = ()

    def wrong(self, go_type: str, value: str = "") -> ExtenderError:
        """The failure to decode the value into a Go type."""
        into = f"struct field {self.struct}.{'.'.join(self.fields)} of" if self.fields else "value of"
        return ExtenderError(f"json: cannot unmarshal {value or json_kind(self.value)} into Go {into} type {go_type}")

    def within(self, struct: str, *fields: str) -> tuple[_Place, ...]:
        """The fields of the value, which is a struct."""
        if self.value is not None and not isinstance(self.value, Mapping):
            raise self.wrong(f"v1.{struct}")
        given = {str(key).lower(): value for key, value in (self.value or {}).items()}
        return tuple(_Place(given.get(field.lower()), struct, (*self.fields, field)) for field in fields)

    def text(self) -> str:
        """The value as a string."""
        if self.value is not None and not isinstance(self.value, str):
            raise self.wrong("string")
        return self.value or ""

    def number(self) -> int:
        """The value as an int64."""
        if self.value is None:
            return 0
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("int64")
        if not isinstance(self.value, int) or not is_int64(self.value):
            raise self.wrong("int64", f"number {self.value}")
        return self.value

    def items(self, go_type: str, read: Callable[[_Place], _Item]) -> tuple[_Item, ...] | None:
        """The value as a list."""
        if self.value is None:
            return None
        if not isinstance(self.value, list):
            raise self.wrong(go_type)
        return tuple(read(_Place(item, self.struct, self.fields)) for item in self.value)

    def entries(self, go_type: str, read: Callable[[_Place], _Item]) -> dict[str, _Item]:
        """The value as a map."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            raise self.wrong(go_type)
        return {key: read(_Place(item, self.struct, self.fields)) for key, item in self.value.items()}


def filter_result(answer: object) -> FilterResult:
    """Decode the answer to the filter verb. Raises ExtenderError if Go cannot decode it."""
    nodes, names, failed, failed_for_good, error = _Place(answer).within(
        "ExtenderFilterResult", "Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"
    )
    (items,) = nodes.within("NodeList", "items")
    listed = items.items("[]v1.Node", _node) or ()
    return FilterResult(
        names.items("[]string", _Place.text),
        None if nodes.value is None else listed,
        failed.entries("v1.FailedNodesMap", _Place.text),
        failed_for_good.entries("v1.FailedNodesMap", _Place.text),
        error.text(),
    )


def host_priorities(answer: object) -> tuple[tuple[str, int], ...]:
    """Decode the answer to the prioritize verb, a score for each host. Raises ExtenderError if Go cannot decode it."""

    def priority(place: _Place) -> tuple[str, int]:
        host, score = place.within("HostPriority", "Host", "Score")
        return host.text(), score.number()

    return _Place(answer).items("v1.HostPriorityList", priority) or ()


def preemption_result(answer: object) -> dict[str, MetaVictims]:
    """Decode the answer to the preempt verb, the victims by node. Raises ExtenderError if Go cannot decode it."""

    def uid(place: _Place) -> str:
        return place.within("MetaPod", "UID")[0].text()

    def victims(place: _Place) -> MetaVictims:
        pods, violations = place.within("MetaVictims", "Pods", "NumPDBViolations")
        return MetaVictims(pods.items("[]*v1.MetaPod", uid) or (), violations.number())

    (named,) = _Place(answer).within("ExtenderPreemptionResult", "NodeNameToMetaVictims")
    return named.entries("map[string]*v1.MetaVictims", victims)


def _node(place: _Place) -> tuple[Node, dict[str, Any]]:
    """A Node that can be read, with its quantities."""
    (metadata,) = place.within("Node", "metadata")
    if metadata.value is not None and not isinstance(metadata.value, Mapping):
        raise metadata.wrong("v1.ObjectMeta")
    item = place.value or {}
    try:
        node = msgspec.convert(item, Node, strict=False)
        _ = NodeTable((node,)).allocatable
    except InvalidQuantity as error:
        raise ExtenderError(error.reason) from None
    except msgspec.ValidationError as error:
        raise ExtenderError(f"json: cannot unmarshal a Node: {error}") from None
    return node, item

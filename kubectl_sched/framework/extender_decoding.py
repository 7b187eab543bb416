"""Decodes extenders' answers as Go does: names in any letter case.

Answers to k8s.io/kube-scheduler/extender/v1/types.go and encoding/json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from kubectl_sched.api.apimachinery.int64 import is_int64
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.core import Node
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.config.strict import json_kind
from kubectl_sched.record import Record
from kubectl_sched.snapshot.node_table import NodeTable

_Item = TypeVar("_Item")
_KINDS = {
    "bool": "true or false", "number": "a number", "string": "a string", "object": "an object", "array": "a list",
}  # fmt: skip


class ExtenderError(Exception):
    """An extender failed; the text is what kube-scheduler says of it."""


class FilterResult(Record, frozen=True, kw_only=True):
    """An ExtenderFilterResult. `nodes` are Node objects and the same as they were sent; None if there are none."""

    names: tuple[str, ...] | None
    nodes: tuple[tuple[Node, dict[str, Any]], ...] | None
    failed: Mapping[str, str]
    failed_for_good: Mapping[str, str]
    error: str


class MetaVictims(Record, frozen=True, kw_only=True):
    """The victims on one node, by UID."""

    uids: tuple[str, ...]
    pdb_violations: int


class _Place(Record, frozen=True, kw_only=True):
    """A value, and the fields that lead to it."""

    value: Any
    fields: tuple[str, ...] = ()

    def wrong(self, wanted: str) -> ExtenderError:
        """The failure to read the value as what is wanted."""
        where = ".".join(self.fields) or "it"
        return ExtenderError(f"its answer cannot be read: {where} is {_KINDS[json_kind(self.value)]}, not {wanted}")

    def within(self, *fields: str) -> tuple[_Place, ...]:
        """The fields of the value, which is an object; their names are compared as Go does, in any case."""
        if self.value is not None and not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        given = {str(key).lower(): value for key, value in (self.value or {}).items()}
        return tuple(_Place(value=given.get(field.lower()), fields=(*self.fields, field)) for field in fields)

    def text(self) -> str:
        """The value as a string."""
        if self.value is not None and not isinstance(self.value, str):
            raise self.wrong("a string")
        return self.value or ""

    def number(self) -> int:
        """The value as an int64."""
        if self.value is None:
            return 0
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not is_int64(self.value):
            raise self.wrong("a whole number of 64 bits")
        return self.value

    def items(self, read: Callable[[_Place], _Item]) -> tuple[_Item, ...] | None:
        """The value as a list."""
        if self.value is None:
            return None
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return tuple(read(_Place(value=item, fields=self.fields)) for item in self.value)

    def entries(self, read: Callable[[_Place], _Item]) -> dict[str, _Item]:
        """The value as a map."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        return {key: read(_Place(value=item, fields=self.fields)) for key, item in self.value.items()}


def filter_result(answer: object) -> FilterResult:
    """Decode the answer to the filter verb. Raises ExtenderError where kube-scheduler cannot decode it."""
    nodes, names, failed, failed_for_good, error = _Place(value=answer).within(
        "Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"
    )
    (items,) = nodes.within("items")
    listed = items.items(_node) or ()
    return FilterResult(
        names=names.items(_Place.text),
        nodes=None if nodes.value is None else listed,
        failed=failed.entries(_Place.text),
        failed_for_good=failed_for_good.entries(_Place.text),
        error=error.text(),
    )


def host_priorities(answer: object) -> tuple[tuple[str, int], ...]:
    """Decode the answer to the prioritize verb, a score for each host. Raises ExtenderError likewise."""

    def priority(place: _Place) -> tuple[str, int]:
        host, score = place.within("Host", "Score")
        return host.text(), score.number()

    return _Place(value=answer).items(priority) or ()


def preemption_result(answer: object) -> dict[str, MetaVictims]:
    """Decode the answer to the preempt verb, the victims by node. Raises ExtenderError likewise."""

    def uid(place: _Place) -> str:
        return place.within("UID")[0].text()

    def victims(place: _Place) -> MetaVictims:
        pods, violations = place.within("Pods", "NumPDBViolations")
        return MetaVictims(uids=pods.items(uid) or (), pdb_violations=violations.number())

    (named,) = _Place(value=answer).within("NodeNameToMetaVictims")
    return named.entries(victims)


def _node(place: _Place) -> tuple[Node, dict[str, Any]]:
    """A Node that can be read, with its quantities."""
    (metadata,) = place.within("metadata")
    if metadata.value is not None and not isinstance(metadata.value, Mapping):
        raise metadata.wrong("an object")
    item = place.value or {}
    try:
        node = msgspec.convert(item, Node, strict=False)
        _ = NodeTable((node,)).allocatable
    except InvalidQuantity as error:
        raise ExtenderError(error.reason) from None
    except UNDECODABLE as error:
        raise ExtenderError(f"its answer cannot be read: {'.'.join(place.fields)} holds no Node: {error}") from None
    return node, item

"""Reads what only few objects are asked for, from the text that they were decoded from."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.api.pod import Pod, is_gated
from kubectl_sched.sources.discovery.scheduler_flags import runs_karpenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.undecoded_values import Value

_WITH_RARE_FIELDS = frozenset({Pod, Deployment})
"""The only kinds of which anything is noted."""


def with_rare_fields(objects: list[KubernetesObject], read: Any) -> list[KubernetesObject]:
    """Return the objects with who set pods' gates, and with the environment of Karpenter as flags.

    `read` is what the objects were decoded from: the JSON of a List of all of them, of an array, or of the one object,
    or the plain value of that.
    """
    if any(type(each) in _WITH_RARE_FIELDS and (is_gated(each) or runs_karpenter(each)) for each in objects):
        return [_with_its(item, value) for item, value in zip(objects, _values(read), strict=True)]
    return objects


def _with_its(item: KubernetesObject, value: Value) -> KubernetesObject:
    with suppress(*UNDECODABLE):  # the object was readable, and this is only said of it
        if is_gated(item):
            from kubectl_sched.sources.gate_managers import with_gate_manager

            item = with_gate_manager(item, value)
        if runs_karpenter(item):
            from kubectl_sched.sources.karpenter_variables import with_karpenter_variables

            item = with_karpenter_variables(item, value)
    return item


def _values(read: Any) -> Sequence[Value]:
    """Return the value of each object."""
    if isinstance(read, dict | msgspec.Raw):
        return (read,)
    from kubectl_sched.sources.dump.undecoded_values import elements, fields

    text = msgspec.Raw(read)
    found = elements(text)
    if found is None:
        items = (fields(text) or {}).get("items")
        found = elements(items) if items is not None else None
    return (text,) if found is None else found

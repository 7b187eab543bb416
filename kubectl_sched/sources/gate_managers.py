"""The clients that set the scheduling gates of pods, as managedFields tell (fieldsV1: f:spec, f:schedulingGates)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.meta import FieldManager, Part
from kubectl_sched.sources.dump.undecoded_values import typed

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.undecoded_values import Value


class _Spec(Part, frozen=True, rename=None):
    gates: Any = msgspec.field(name="f:schedulingGates", default=None)


class _Fields(Part, frozen=True, rename=None):
    spec: _Spec = msgspec.field(name="f:spec", default=_Spec())


class _Entry(FieldManager, frozen=True):
    fields: _Fields = msgspec.field(name="fieldsV1", default=_Fields())


class _Metadata(Part, frozen=True):
    managed_fields: tuple[_Entry, ...] = ()


class _Item(Part, frozen=True):
    metadata: _Metadata = _Metadata()


def with_gate_manager(pod: KubernetesObject, value: Value) -> KubernetesObject:
    """Return a pod with gates with who set them. The time of a client's last write is the only one there is."""
    managed = typed(value, _Item).metadata.managed_fields
    entry = next((each for each in managed if each.fields.spec.gates is not None), None)
    if entry is None:
        return pod
    set_by = FieldManager(manager=entry.manager, time=entry.time)
    return replace(pod, metadata=replace(pod.metadata, gates_set_by=set_by))

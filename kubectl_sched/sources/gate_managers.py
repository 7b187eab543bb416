"""The clients that set the scheduling gates of pods, as managedFields tell (fieldsV1: f:spec, f:schedulingGates)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import force_setattr

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.api.meta import FieldManager, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject


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


class _List(Part, frozen=True):
    items: tuple[_Item, ...] = ()


def note_gate_managers(pods: Sequence[KubernetesObject], read: Any) -> None:
    """Note on each pod with gates who set them. `read` is the JSON or the plain value that the pods come from.

    It is a List of all of them, an array, or the one pod. The time of a client's last write is the only one there is.
    """
    try:
        for item, said in zip(pods, _items(read), strict=True):
            entry = next((each for each in said.metadata.managed_fields if each.fields.spec.gates is not None), None)
            if entry is not None:
                force_setattr(item.metadata, "gates_set_by", FieldManager(manager=entry.manager, time=entry.time))
    except (*UNDECODABLE, ValueError):
        return  # the pods were readable, and this is only said of them


def _items(read: Any) -> Sequence[_Item]:
    if isinstance(read, dict):
        return (msgspec.convert(read, _Item),)
    if bytes(memoryview(read)[:64]).lstrip()[:1] == b"[":
        return decoder(tuple[_Item, ...]).decode(read)
    found = decoder(_List).decode(read).items
    return found or (decoder(_Item).decode(read),)

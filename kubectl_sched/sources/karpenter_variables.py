"""The settings that Karpenter takes from environment variables, which no other container's are read for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import force_setattr

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.api.meta import Part
from kubectl_sched.sources.discovery.scheduler_flags import KARPENTER_FLAGS, containers_of, is_karpenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject

_FLAGS = {name.upper().replace("-", "_"): name for name in KARPENTER_FLAGS}


class _Variable(Part, frozen=True):
    name: str | None = None
    value: str | None = None


class _Container(Part, frozen=True):
    env: tuple[_Variable, ...] | None = None


class _PodSpec(Part, frozen=True):
    containers: tuple[_Container, ...] | None = None


class _Template(Part, frozen=True):
    spec: _PodSpec | None = None


class _Spec(_PodSpec, frozen=True):
    template: _Template | None = None


class _Item(Part, frozen=True):
    spec: _Spec | None = None


class _List(Part, frozen=True):
    items: tuple[_Item, ...] = ()


def note_karpenter_variables(objects: Sequence[KubernetesObject], read: Any) -> None:
    """Put Karpenter's variables before its flags, which win over them.

    `read` is what the objects were decoded from: the JSON of a List of all of them, of an array, or of the one object,
    or the plain value of that.
    """
    try:
        for item, said in zip(objects, _items(read), strict=True):
            for container, its in zip(containers_of(item), _containers(said), strict=False):
                if is_karpenter(container):
                    stated = ((_FLAGS.get(each.name or ""), each.value) for each in its.env or ())
                    kept = (f"--{flag}={value}" for flag, value in stated if flag and value)
                    force_setattr(container, "command", (*kept, *container.command))
    except (*UNDECODABLE, ValueError):
        return  # the objects were readable, and this is only said of them


def _containers(item: _Item) -> Sequence[_Container]:
    """Return the containers of a pod, or of the pods that a workload makes."""
    spec: _PodSpec | None = item.spec
    if item.spec is not None and item.spec.template is not None:
        spec = item.spec.template.spec
    return (spec.containers if spec is not None else None) or ()


def _items(read: Any) -> Sequence[_Item]:
    if isinstance(read, dict):
        return (msgspec.convert(read, _Item),)
    if bytes(memoryview(read)[:64]).lstrip()[:1] == b"[":
        return decoder(tuple[_Item, ...]).decode(read)
    found = decoder(_List).decode(read).items
    return found or (decoder(_Item).decode(read),)

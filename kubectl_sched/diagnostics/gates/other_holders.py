"""Controllers other than Kueue that hold pods back, and the groups or queues that the pods refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from kubectl_sched.api.gate_holders import ANNOTATIONS, HOLDERS, GateHolder, names_of, queues_of
from kubectl_sched.diagnostics.gates.gate import Gate, Owner, Statement, about, conditions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_sched.api.meta import KubernetesObject

Holders: TypeAlias = "Mapping[tuple[type[KubernetesObject], str], GateHolder]"
"""The objects that may hold pods, by type and key."""


_YUNIKORN = "YuniKorn"
_YUNIKORN_SAYS = (
    ("yunikorn.apache.org/app-id", "yunikorn_app"),
    ("yunikorn.apache.org/queue", "yunikorn_queue"),
    ("yunikorn.apache.org/task-group-name", "yunikorn_task_group"),
)
_YUNIKORN_APPLICATIONS = ("yunikorn.apache.org/app-id", "applicationId")
_YUNIKORN_LABELS = (*_YUNIKORN_APPLICATIONS, "yunikorn.apache.org/queue", "queue")


def holders_of(held: KubernetesObject, objects: Holders) -> Iterator[Gate]:
    """Yield what each controller that the object names says of it, where it holds it without a gate of its own."""
    meta = held.metadata
    for holder in HOLDERS:
        named, queues = list(names_of(holder, meta)), list(queues_of(holder, meta))
        if not (named or queues):
            continue
        owner, found = Owner(controller=holder.controller), None
        if named:
            name = named[0][2]
            found = objects.get((holder.kind, f"{held.namespace}/{name}"))
            owner = replace(owner, kind=_spelled(holder.kind), namespace=held.namespace, name=name)
        absent = [f"no {owner.about} was found"] if named and found is None else []
        says = [_quote(held, *each) for each in (*named, *queues)]
        says += _annotations(held, ANNOTATIONS)
        says += _of_holder(found) if found is not None else ()
        for queue in dict.fromkeys(filter(None, (found.spec.queue if found else "", *(name for *_, name in queues)))):
            above = objects.get((holder.queue, queue)) if holder.queue is not None else None
            says += _of_holder(above) if above is not None else ()
            absent += [f"no {_spelled(holder.queue)} {queue} was found"] if holder.queue and above is None else []
        yield Gate(gate=None, owner=owner, since=meta.creation_timestamp, says=tuple(says), facts=tuple(absent))
    yield from _yunikorn(held)


def _yunikorn(held: KubernetesObject) -> Iterator[Gate]:
    """YuniKorn has no object for an application: annotations and labels of the pod are all there is."""
    meta = held.metadata
    if getattr(getattr(held, "spec", None), "scheduler_name", "") != "yunikorn":
        return
    labels = [_quote(held, "label", key, meta.labels[key]) for key in _YUNIKORN_LABELS if meta.labels.get(key)]
    name = meta.annotations.yunikorn_app or next(filter(None, map(meta.labels.get, _YUNIKORN_APPLICATIONS)), "")
    kind, namespace = ("Application", held.namespace) if name else ("", "")
    owner = Owner(controller=_YUNIKORN, kind=kind, namespace=namespace, name=name)
    says = (*_annotations(held, _YUNIKORN_SAYS), *labels)
    yield Gate(gate=None, owner=owner, since=meta.creation_timestamp, says=says)


def _quote(item: KubernetesObject, what: str, key: str, value: str) -> Statement:
    return Statement(about=about(item), type=f"{what} {key}", message=value)


def _annotations(item: KubernetesObject, fields: Iterable[tuple[str, str]]) -> tuple[Statement, ...]:
    found = ((key, getattr(item.metadata.annotations, field)) for key, field in fields)
    return tuple(_quote(item, "annotation", key, value) for key, value in found if value)


def _of_holder(found: GateHolder) -> tuple[Statement, ...]:
    """Quote annotations, what else says where it stands, and conditions."""
    return (
        *_annotations(found, ANNOTATIONS),
        *(Statement(about=about(found), type=name, status=value) for name, value in found.facts if value),
        *conditions_of(found, (*found.status.conditions, *found.status.scheduling_conditions)),
    )


def _spelled(kind: type[GateHolder]) -> str:
    return str(kind.__struct_config__.tag)

"""Controllers besides Kueue that hold pods back, and their groups, queues and sets that pods name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.api.gate_holders import HOLDERS, GateHolder, names_of
from kubectl_sched.diagnostics.gates.gate import Gate, Owner, Statement, about, conditions_of, quoted, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.gate_holders import HolderKind
    from kubectl_sched.api.meta import KubernetesObject

Holders: TypeAlias = "Mapping[tuple[type[KubernetesObject], str], GateHolder]"
"""The objects that may hold pods, by type and key."""


_YUNIKORN = "YuniKorn"
_YUNIKORN_SAYS = (("yunikorn.apache.org/app-id", "yunikorn_app"), ("yunikorn.apache.org/queue", "yunikorn_queue"))
_YUNIKORN_LABELS = ("yunikorn.apache.org/app-id", "applicationId", "yunikorn.apache.org/queue", "queue")


def holders_of(held: KubernetesObject, objects: Holders) -> Iterator[Gate]:
    """Yield what each controller that the object names says of it, where it holds it without a gate of its own."""
    meta = held.metadata
    for holder in HOLDERS:
        named = list(names_of(holder, meta))
        queues = [("label", key, meta.labels[key]) for key in holder.queue_labels if meta.labels.get(key)]
        if not named:
            continue
        name = named[0][2]
        found = objects.get((holder.kind, f"{held.namespace}/{name}"))
        owner = Owner(
            controller=holder.controller, kind=_spelled(holder.kind), namespace=held.namespace, name=quoted(name)
        )
        says = [_annotation(held, *each) for each in (*named, *queues)]
        if found is not None:
            says += _of_holder(found)
            says += _of_queue(holder, found, [queue for *_, queue in queues], objects)
        absent = () if found is not None else (f"no {owner.about} was found",)
        yield Gate(gate=None, owner=owner, since=meta.creation_timestamp, says=tuple(says), facts=absent)
    yield from _yunikorn(held)


def _yunikorn(held: KubernetesObject) -> Iterator[Gate]:
    """YuniKorn has no object for an application: annotations and labels of the pod are all there is."""
    meta = held.metadata
    if getattr(getattr(held, "spec", None), "scheduler_name", "") != "yunikorn":
        return
    said = [("annotation", key, value) for key, field in _YUNIKORN_SAYS if (value := getattr(meta.annotations, field))]
    said += [("label", key, meta.labels[key]) for key in _YUNIKORN_LABELS if meta.labels.get(key)]
    owner = Owner(controller=_YUNIKORN, kind=spelled(held), namespace=held.namespace, name=held.name)
    says = tuple(_annotation(held, *each) for each in said)
    yield Gate(gate=None, owner=owner, since=meta.creation_timestamp, says=says)


def _annotation(held: KubernetesObject, what: str, key: str, value: str) -> Statement:
    return Statement(about=about(held), type=f"{what} {key}", message=quoted(value))


def _of_holder(found: GateHolder) -> tuple[Statement, ...]:
    """Quote phase, state, suspension and conditions."""
    status = found.status
    fields = (("phase", status.phase), ("state", status.state), ("suspend", "true" if found.spec.suspend else ""))
    plain = [Statement(about=about(found), type=name, status=quoted(value)) for name, value in fields if value]
    return (*plain, *conditions_of(found, (*status.conditions, *status.scheduling_conditions)))


def _of_queue(holder: HolderKind, group: GateHolder, named: Sequence[str], objects: Holders) -> Iterator[Statement]:
    """Quote the queue that a group waits in."""
    if holder.queue is None:
        return
    for name in dict.fromkeys(filter(None, (group.spec.queue, *named))):
        queue = objects.get((holder.queue, name))
        if queue is not None:
            yield from _of_holder(queue)


def _spelled(kind: type[GateHolder]) -> str:
    return str(kind.__struct_config__.tag)

"""Extenders: webhooks that filter and score nodes after the plugins, and have a say in preemption.

Answers to pkg/scheduler/extender.go, to findNodesThatPassExtenders and prioritizeNodes in
pkg/scheduler/schedule_one.go, and to callExtenders in pkg/scheduler/framework/preemption/preemption.go. How a webhook
is reached, the client knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from kubectl_sched.api.core import Node
from kubectl_sched.framework.preemption import Candidate
from kubectl_sched.framework.runtime import MAX_NODE_SCORE, PluginScores
from kubectl_sched.framework.status import Status, unresolvable, unschedulable
from kubectl_sched.snapshot.node_table import NodeTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.types import Extender
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers, Rows

MAX_EXTENDER_PRIORITY = 10

_ABSENT = unresolvable()
"""Of a node that an extender drops without a word nothing is recorded."""


class ExtenderError(Exception):
    """An extender failed; the text is what kube-scheduler says of it."""


class ExtenderClient(Protocol):
    """Reaches extenders."""

    def send(self, extender: Extender, verb: str, arguments: Mapping[str, Any]) -> Any:
        """The decoded JSON answer. Raises ExtenderError."""

    def document(self, item: Pod | Node) -> dict[str, Any]:
        """The whole object as the API server has it."""


@dataclass(frozen=True, slots=True)
class Extended:
    """The rows that passed all extenders, why others did not, and Node objects that extenders sent in their place."""

    rows: Rows
    statuses: Mapping[int, Status] = field(default_factory=dict)
    sent: Mapping[int, dict[str, Any]] = field(default_factory=dict)


def is_interested(extender: Extender, pod: Pod) -> bool:
    """Whether the pod asks for a resource that the extender manages; one that manages none is always interested."""
    managed = {resource.name for resource in extender.managed_resources}

    def asks(containers: Sequence[Container]) -> bool:
        return any(managed & {*each.resources.requests, *each.resources.limits} for each in containers)

    return not managed or asks(pod.spec.containers) or asks(pod.spec.init_containers)


def filter_nodes(
    client: ExtenderClient, extenders: Sequence[Extender], pod: Pod, nodes: Snapshot, rows: Rows
) -> Extended:
    """Ask one extender after the other about the rows that are left. Raises ExtenderError where one may not fail."""
    extended = Extended(rows)
    for extender in extenders:
        if not len(extended.rows) or not extender.filter_verb or not is_interested(extender, pod):
            continue
        try:
            answer = client.send(extender, extender.filter_verb, _arguments(client, extender, pod, nodes, extended))
            with _unmarshalling(extender):
                extended = _filtered(extender, answer, nodes, extended)
        except ExtenderError:
            if not extender.ignorable:
                raise
    dropped = set(rows.tolist()) - set(extended.rows.tolist())
    left = set(extended.rows.tolist())
    statuses = dict.fromkeys(dropped, _ABSENT) | {
        row: each for row, each in extended.statuses.items() if row not in left
    }
    return replace(extended, statuses=statuses)


@contextmanager
def _unmarshalling(extender: Extender) -> Iterator[None]:
    """Around what reads an answer: Go refuses one that is of another type than it expects."""
    try:
        yield
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError, msgspec.ValidationError):
        raise ExtenderError(f'json: cannot unmarshal the answer of extender "{extender.url_prefix}"') from None


def _arguments(
    client: ExtenderClient, extender: Extender, pod: Pod, nodes: Snapshot, extended: Extended
) -> dict[str, Any]:
    rows = extended.rows.tolist()
    names = [nodes.names[row] for row in rows] if extender.node_cache_capable else None
    listed = None
    if not extender.node_cache_capable:
        items = [extended.sent.get(row) or client.document(nodes.node_objects[row]) for row in rows]
        listed = {"metadata": {}, "items": items}
    return {"Pod": client.document(pod), "Nodes": listed, "NodeNames": names}


def _filtered(extender: Extender, answer: object, nodes: Snapshot, before: Extended) -> Extended:
    answer = msgspec.convert(answer, dict[str, Any] | None)
    if _field(answer, "Error"):
        raise ExtenderError(str(_field(answer, "Error")))
    names, listed = _field(answer, "NodeNames"), _field(answer, "Nodes")
    sent: dict[int, dict[str, Any]] = {}
    rows: list[int] = []
    asked = set(before.rows.tolist())
    if extender.node_cache_capable and names is not None:
        for name in names:
            if nodes.row_of.get(name) not in asked:
                raise ExtenderError(
                    f'extender "{extender.url_prefix}" claims a filtered node "{name}" which is not found in the input '
                    "node list"
                )
            rows.append(nodes.row_of[name])
        sent = {row: before.sent[row] for row in rows if row in before.sent}
    elif listed is not None:
        for item in _field(listed, "items") or ():
            name = msgspec.convert(item, Node, strict=False).metadata.name
            if name not in nodes.row_of:
                raise ExtenderError(f'extender "{extender.url_prefix}" answers with a node "{name}" that is not there')
            sent[nodes.row_of[name]] = item
        rows = list(sent)
    failed = _statuses(nodes, _field(answer, "FailedNodes"), unschedulable)
    lost = _statuses(nodes, _field(answer, "FailedAndUnresolvableNodes"), unresolvable)
    return Extended(np.array(sorted(rows), dtype=np.intp), {**before.statuses, **failed, **lost}, sent)


def _statuses(nodes: Snapshot, messages: object, status: Callable[[str], Status]) -> dict[int, Status]:
    told = messages if isinstance(messages, Mapping) else {}
    return {nodes.row_of[name]: status(message) for name, message in told.items() if name in nodes.row_of}


def scored_snapshot(nodes: Snapshot, extended: Extended) -> Snapshot:
    """What scoring then sees: a Node that an extender sent comes with nothing that runs on it, and with no images."""
    if not extended.sent:
        return nodes
    empty = nodes.without(np.ones(len(nodes.existing_pods), dtype=np.bool_))
    objects = [
        msgspec.convert(extended.sent[row], Node, strict=False) if row in extended.sent else node
        for row, node in enumerate(nodes.node_objects)
    ]
    whole = replace(nodes.whole, table=_without_images(nodes.whole.node_objects))
    return replace(empty, table=_without_images(objects), cluster=whole)


def _without_images(objects: Iterable[Node]) -> NodeTable:
    change = msgspec.structs.replace
    return NodeTable(tuple(change(node, status=change(node.status, images=())) for node in objects))


def prioritize(
    client: ExtenderClient, extenders: Sequence[Extender], pod: Pod, nodes: Snapshot, extended: Extended
) -> tuple[PluginScores, ...]:
    """The scores (0 to 10) of each extender that gives any, brought to 0 to 100; one that fails gives none."""
    scores = []
    place = {nodes.names[row]: index for index, row in enumerate(extended.rows.tolist())}
    for extender in extenders:
        if not extender.prioritize_verb or not is_interested(extender, pod):
            continue
        try:
            answer = client.send(extender, extender.prioritize_verb, _arguments(client, extender, pod, nodes, extended))
            with _unmarshalling(extender):
                raw = _raw_scores(answer, place)
        except ExtenderError:
            continue
        points = raw * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        scores.append(PluginScores(extender.url_prefix, extender.weight, raw, points))
    return tuple(scores)


def _raw_scores(answer: object, place: Mapping[str, int]) -> Integers:
    raw = np.zeros(len(place), dtype=np.int64)
    for each in msgspec.convert(answer, list[dict[str, Any]] | None) or ():
        if _field(each, "Host") in place:
            raw[place[_field(each, "Host")]] += int(_field(each, "Score") or 0)
    return raw


def process_preemption(
    client: ExtenderClient, extenders: Sequence[Extender], pod: Pod, candidates: Sequence[Candidate], nodes: Snapshot
) -> list[Candidate]:
    """The candidates that the extenders leave, with the victims that they name. Raises ExtenderError."""
    left = list(candidates)
    for extender in extenders:
        if not left:
            break
        if not extender.preempt_verb or not is_interested(extender, pod):
            continue
        try:
            answer = client.send(extender, extender.preempt_verb, _victims(client, extender, pod, left))
            with _unmarshalling(extender):
                answered = _candidates(extender, _field(answer, "NodeNameToMetaVictims"), nodes)
        except ExtenderError:
            if not extender.ignorable:
                raise
            continue
        for candidate in answered:
            if not candidate.victims and not extender.ignorable:
                raise ExtenderError(f'expected at least one victim pod on node "{candidate.node_name}"')
        left = [candidate for candidate in answered if candidate.victims]
    return left


def _victims(client: ExtenderClient, extender: Extender, pod: Pod, candidates: Sequence[Candidate]) -> dict[str, Any]:
    def of(candidate: Candidate) -> dict[str, Any]:
        pods = [
            {"UID": victim.metadata.uid} if extender.node_cache_capable else client.document(victim)
            for victim in candidate.victims
        ]
        return {"Pods": pods, "NumPDBViolations": candidate.pdb_violations}

    victims = {candidate.node_name: of(candidate) for candidate in candidates}
    whole, meta = (None, victims) if extender.node_cache_capable else (victims, None)
    return {"Pod": client.document(pod), "NodeNameToVictims": whole, "NodeNameToMetaVictims": meta}


def _candidates(extender: Extender, answered: object, nodes: Snapshot) -> list[Candidate]:
    candidates = []
    for name, victims in (answered if isinstance(answered, Mapping) else {}).items():
        if name not in nodes.row_of:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        by_uid = {pod.metadata.uid: pod for pod in nodes.node(nodes.row_of[name]).pods}
        pods = []
        for each in _field(victims, "Pods") or ():
            uid = _field(each, "UID")
            if uid not in by_uid:
                raise ExtenderError(
                    f"extender: {extender.url_prefix} claims to preempt pod (UID: &{{{uid}}}) on node: {name}, but the "
                    "pod is not found on that node"
                )
            pods.append(by_uid[uid])
        candidates.append(Candidate(name, tuple(pods), int(_field(victims, "NumPDBViolations") or 0)))
    return candidates


def _field(value: object, name: str) -> Any:
    """A field of a JSON object, whatever its case, as Go finds it."""
    if not isinstance(value, Mapping):
        return None
    if name in value:
        return value[name]
    return next((found for key, found in value.items() if key.lower() == name.lower()), None)

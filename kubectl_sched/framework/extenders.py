"""Extenders: webhooks that filter and score nodes after the plugins, and have a say in preemption.

Answers to pkg/scheduler/extender.go, to findNodesThatPassExtenders and prioritizeNodes in
pkg/scheduler/schedule_one.go, and to callExtenders in pkg/scheduler/framework/preemption/preemption.go. How a webhook
is reached, the client knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.core import Node
from kubectl_sched.framework.extender_decoding import ExtenderError, filter_result, host_priorities, preemption_result
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE, PluginScores
from kubectl_sched.framework.preemption_choice import Candidate
from kubectl_sched.framework.status import Status, unresolvable, unschedulable
from kubectl_sched.record import Record
from kubectl_sched.snapshot.node_table import NodeTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.types import Extender
    from kubectl_sched.framework.extender_decoding import FilterResult, MetaVictims
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

MAX_EXTENDER_PRIORITY = 10


class Extended(Record, frozen=True, kw_only=True):
    """The rows that passed all extenders, and Node objects that extenders sent in their place."""

    rows: Rows
    sent: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    elsewhere: tuple[Status, ...] = ()
    """The statuses of nodes that the cycle does not look at."""
    absent: Status = unresolvable()
    """The status of a node of which nothing is recorded, such as one that an extender drops without a word."""

    def counted(self, counts: Iterable[tuple[Status, int]]) -> Iterator[tuple[Status, int]]:
        """Yield the counts of a FitError: as many statuses as nodes, unless more are recorded."""
        surplus = len(self.elsewhere)
        for status, count in counts:
            replaced = min(surplus, count) if status == self.absent else 0
            surplus -= replaced
            if count > replaced:
                yield status, count - replaced
        yield from ((status, 1) for status in self.elsewhere)


def is_interested(extender: Extender, pod: Pod) -> bool:
    """Report whether the pod asks for a resource that the extender manages; one that manages none handles all pods."""
    managed = {resource.name for resource in extender.managed_resources}

    def asks(containers: Sequence[Container]) -> bool:
        return any(managed & {*each.resources.requests, *each.resources.limits} for each in containers)

    return not managed or asks(pod.spec.containers) or asks(pod.spec.init_containers)


def filter_nodes(
    client: ExtenderClient,
    extenders: Sequence[Extender],
    pod: Pod,
    nodes: Snapshot,
    rows: Rows,
    statuses: dict[str, Status],
) -> Extended:
    """Ask one extender after the other about the rows that are left. Raises ExtenderError where one may not fail.

    What they say against nodes is put into `statuses` by name; a node of that name need not be there.
    """
    extended = Extended(rows=rows)
    for extender in extenders:
        if not len(extended.rows) or not extender.filter_verb or not is_interested(extender, pod):
            continue
        try:
            answer = client.send(extender, extender.filter_verb, _arguments(client, extender, pod, nodes, extended))
            result = filter_result(answer)
            extended = _filtered(extender, result, nodes, extended)
        except ExtenderError:
            if not extender.ignorable:
                raise
            continue
        statuses.update((name, unschedulable(message)) for name, message in result.failed.items())
        statuses.update((name, unresolvable(message)) for name, message in result.failed_for_good.items())
    return extended


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


def _filtered(extender: Extender, answer: FilterResult, nodes: Snapshot, before: Extended) -> Extended:
    if answer.error:
        raise ExtenderError(answer.error)
    sent: dict[int, dict[str, Any]] = {}
    rows: list[int] = []
    asked = set(before.rows.tolist())
    if extender.node_cache_capable and answer.names is not None:
        for name in dict.fromkeys(answer.names):
            if nodes.row_of.get(name) not in asked:
                raise ExtenderError(
                    f'extender "{extender.address}" claims a filtered node "{name}" which is not found in the input '
                    "node list"
                )
            rows.append(nodes.row_of[name])
        sent = {row: before.sent[row] for row in rows if row in before.sent}
    elif answer.nodes is not None:
        for node, item in answer.nodes:
            name = node.metadata.name
            if name not in nodes.row_of:
                raise ExtenderError(f'extender "{extender.address}" answers with a node "{name}" that is not there')
            sent[nodes.row_of[name]] = item
        rows = list(sent)
    return Extended(rows=np.array(sorted(rows), dtype=np.intp), sent=sent)


def scored_snapshot(nodes: Snapshot, extended: Extended) -> Snapshot:
    """Return the nodes as scoring sees them: a Node that an extender sent comes without pods and without images."""
    if not extended.sent:
        return nodes
    empty = nodes.without(np.ones(len(nodes.existing_pods), dtype=np.bool_))
    objects = [
        msgspec.convert(extended.sent[row], Node, strict=False) if row in extended.sent else node
        for row, node in enumerate(nodes.node_objects)
    ]
    whole = replace(nodes.whole, table=_without_images(nodes.whole.node_objects, nodes.table))
    return replace(empty, table=_without_images(objects, nodes.table), cluster=whole)


def _without_images(objects: Iterable[Node], table: NodeTable) -> NodeTable:
    change = msgspec.structs.replace
    without = tuple(change(node, status=change(node.status, images=())) for node in objects)
    return NodeTable(without, saturates=table.saturates)


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
            raw = _raw_scores(host_priorities(answer), place)
        except ExtenderError:
            continue
        points = raw * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        scores.append(PluginScores(plugin=extender.address, weight=extender.weight, raw=raw, normalized=points))
    return tuple(scores)


def _raw_scores(priorities: Iterable[tuple[str, int]], place: Mapping[str, int]) -> Integers:
    raw = np.zeros(len(place), dtype=np.int64)
    with np.errstate(over="ignore"):  # it wraps around, as in Go
        for host, score in priorities:
            if host in place:
                raw[place[host]] += score
    return raw


def process_preemption(
    client: ExtenderClient, extenders: Sequence[Extender], pod: Pod, candidates: Sequence[Candidate], nodes: Snapshot
) -> list[Candidate]:
    """The candidates that the extenders leave, with the victims that they name. Raises ExtenderError.

    A candidate that comes without victims stays until the last extender that does not leave it out; one of them has to
    add some.
    """
    left = list(candidates)
    for extender in extenders:
        if not left:
            break
        if not extender.preempt_verb or not is_interested(extender, pod):
            continue
        try:
            answer = client.send(extender, extender.preempt_verb, _victims(client, extender, pod, left))
            answered = _candidates(extender, preemption_result(answer), nodes)
        except ExtenderError:
            if not extender.ignorable:
                raise
            continue
        open_names = {candidate.node_name for candidate in left if not candidate.victims}
        for candidate in answered:
            if not candidate.victims and candidate.node_name not in open_names and not extender.ignorable:
                raise ExtenderError(f'expected at least one victim pod on node "{candidate.node_name}"')
        left = [candidate for candidate in answered if candidate.victims or candidate.node_name in open_names]
    return [candidate for candidate in left if candidate.victims]


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


def _candidates(extender: Extender, answered: Mapping[str, MetaVictims], nodes: Snapshot) -> list[Candidate]:
    candidates = []
    for name, victims in answered.items():
        if name not in nodes.row_of:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        by_uid = {pod.metadata.uid: pod for pod in nodes.node(nodes.row_of[name]).pods}
        for uid in victims.uids:
            if uid not in by_uid:
                raise ExtenderError(
                    f"extender: {extender.address} claims to preempt pod (UID: &{{{uid}}}) on node: {name}, but the "
                    "pod is not found on that node"
                )
        pods = tuple(by_uid[uid] for uid in victims.uids)
        candidates.append(Candidate(node_name=name, victims=pods, pdb_violations=victims.pdb_violations))
    return candidates

"""The numbers behind a verdict or score on resources: what `kubectl describe node` shows, and who holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import CPU, MEMORY, PODS
from kubectl_sched.framework.amounts import amount_texts, request_text, request_texts, unit_of
from kubectl_sched.framework.clauses import OfRequests, counted, pods
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.framework.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.node_resources.strategies import ResourceAmounts, Strategy
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

_USERS_SHOWN = 10
_WHOLE_CPUS_MEANT_AS_MILLICORES = 100


class Requests(NamedTuple):
    """A pod, and the amounts that NodeResourcesFit counts for it."""

    pod: Pod
    amounts: Mapping[str, int]


class _User(NamedTuple):
    """A pod on the node, and how much of the resource it requests."""

    amount: int
    pod: Pod

    @property
    def owner(self) -> str | None:
        """The kind of what manages it, such as DaemonSet."""
        controller = self.pod.metadata.controller
        return controller.kind if controller else None

    @property
    def terminating_since(self) -> str | None:
        return self.pod.metadata.deletion_timestamp


def shortage(resource: str, wanted: int, pod: Pod, nodes: Snapshot, row: int) -> Evidence:
    """State the wanted amount of a resource, the node's capacity, and the pods that use it."""
    capacity = int(nodes.allocatable(resource)[row])
    used = int(nodes.pod_count[row] if resource == PODS else nodes.requested(resource)[row])
    users = _users(resource, nodes, row)
    facts: dict[str, JSON] = {
        "resource": resource,
        "wanted": wanted,
        "used": used,
        "capacity": capacity,
        "free": capacity - used,
        "unit": unit_of(resource),
        "users": len(users),
        "usedBy": [_user_facts(user) for user in users[:_USERS_SHOWN]],
        "daemonSets": sum(user.amount for user in users if user.owner == "DaemonSet"),
        "terminating": sum(user.amount for user in users if user.terminating_since is not None),
        "nominated": [other.key for other in nodes.nominated.get(nodes.names[row], ()) if other.key != pod.key],
    }
    text = _pods_text(used, capacity) if resource == PODS else _text(resource, wanted, used, capacity, users, pod)
    hints = (*_hints(resource, wanted, pod, nodes), *_user_hints(resource, users))
    lacking = wanted - max(capacity - used, 0)
    return Evidence(text=text, facts=facts, hints=hints, distance=min(lacking / wanted, 1.0) if wanted else 1.0)


def summary(lacking: Mapping[str, Mask], asked: Requests, nodes: Snapshot, rows: Rows) -> str:
    """A clause about many rejected nodes. `lacking`: bool[n] by resource, where there is too little of it.

    Each node counts for the resource that most of them lack; among equals, the one lacked by more of them when empty.
    """

    def weight(resource: str) -> tuple[int, int]:
        here = lacking[resource] & left
        return int(here.sum()), int((here & (nodes.allocatable(resource) < asked.amounts.get(resource, 0))).sum())

    left = np.zeros(len(nodes), dtype=np.bool_)
    left[rows] = True
    told: list[tuple[Rows, str]] = []
    while left.any() and len(told) < len(lacking):
        resource = max(lacking, key=weight)
        some = np.flatnonzero(lacking[resource] & left)
        if not len(some):
            break
        told.append((some, resource))
        left[some] = False
    lacks = [(some, lack(resource, asked, nodes, some)) for some, resource in told]
    if len(lacks) == 1:
        return lacks[0][1]
    all_told = f"have too little: {'; '.join(counted(len(some), said) for some, said in lacks)}"
    return OfRequests(all_told) if any(isinstance(said, OfRequests) for _, said in lacks) else all_told


def lack(resource: str, asked: Requests, nodes: Snapshot, rows: Rows) -> str:
    """`lack nvidia.com/gpu: the pod asks for 4, and the best, gpu-7, has 2 of 8 free`."""
    if resource == PODS:
        return _full(nodes, rows)
    capacity, wanted = nodes.allocatable(resource), asked.amounts.get(resource, 0)
    largest = _greatest(capacity, nodes, rows)
    if wanted > capacity[largest]:
        return _too_small(
            resource, asked, int(capacity[largest]), nodes, "" if len(rows) == 1 else nodes.names[largest]
        )
    used = nodes.requested(resource)
    freest = rows[(capacity - used)[rows] == (capacity - used)[rows].max()]
    row = _greatest(capacity, nodes, freest)
    free = max(int(capacity[row] - used[row]), 0)
    wants, has, of = request_texts(asked.pod, resource, wanted, free, int(capacity[row]))
    said = f"the pod asks for {wants}, and the best, {nodes.names[row]}, has {has} of {of} free"
    if len(rows) == 1:
        said = f"the pod asks for {wants}, and {has} of {of} is free"
    told = f"lack {resource}: {said}"
    return OfRequests(told) if resource in {CPU, MEMORY} and used[row] else told


def _full(nodes: Snapshot, rows: Rows) -> str:
    capacity = nodes.allocatable(PODS)
    row = _greatest(capacity - nodes.pod_count, nodes, rows)
    emptiest = "" if len(rows) == 1 else f"the emptiest, {nodes.names[row]}, has "
    return f"are full: {emptiest}{pods(int(nodes.pod_count[row]))} of {capacity[row]}"


def _too_small(resource: str, asked: Requests, capacity: int, nodes: Snapshot, largest: str) -> str:
    wanted = asked.amounts.get(resource, 0)
    if capacity == 0:
        near = nearest(resource, frozenset(nodes.whole.table.allocatable) - {resource})
        meant = f"; there is {near}" if near else ""
        return f"have no {resource}, of which the pod asks for {request_text(asked.pod, resource, wanted)}{meant}"
    wants, has = request_texts(asked.pod, resource, wanted, capacity)
    if not largest:
        return f"are too small: {has} {resource} in all, and the pod asks for {wants}"
    return f"are too small: the pod asks for {wants} {resource}, and the largest, {largest}, has {has} in all"


def _greatest(amounts: Integers, nodes: Snapshot, rows: Rows) -> int:
    """The row with the most, the first by name where several have it."""
    of_rows = amounts[rows]
    return int(min(rows[of_rows == of_rows.max()].tolist(), key=nodes.names.__getitem__))


def _users(resource: str, nodes: Snapshot, row: int) -> list[_User]:
    """The pods that hold some of it, the greatest first."""
    pods = nodes.node(row).pods
    amounts = [1 if resource == PODS else nodes.resource_of(pod).requested.get(resource, 0) for pod in pods]
    users = [_User(amount, pod) for amount, pod in zip(amounts, pods, strict=True) if amount]
    return sorted(users, key=lambda user: (-user.amount, user.pod.key))


def _user_facts(user: _User) -> JSON:
    return {
        "pod": user.pod.key,
        "amount": user.amount,
        "owner": user.owner,
        "terminatingSince": user.terminating_since,
    }


def _pods_text(used: int, capacity: int) -> str:
    return f"has {pods(int(used))} and takes at most {capacity}"


def _text(resource: str, wanted: int, used: int, capacity: int, users: list[_User], pod: Pod) -> str:
    """`wants 4 nvidia.com/gpu; 2 of 8 free (6 requested by 3 pods, largest: team-a/train-0 4)`."""
    if capacity == 0:
        return f"wants {request_text(pod, resource, wanted)} {resource}; the node has none"
    free = max(capacity - used, 0)
    most = users[0].amount if users else 0
    wants, has, holds, leaves, largest = request_texts(pod, resource, wanted, capacity, used, free, most)
    if wanted > capacity:
        return f"wants {wants} {resource}; the whole node has {has}"
    text = f"wants {wants} {resource}; {leaves} of {has} free"
    if not users:
        return text
    pods = "1 pod" if len(users) == 1 else f"{len(users)} pods"
    return f"{text} ({holds} requested by {pods}, largest: {users[0].pod.key} {largest})"


def _hints(resource: str, wanted: int, pod: Pod, nodes: Snapshot) -> list[str]:
    if resource == PODS:
        return []
    greatest = int(nodes.whole.allocatable(resource).max(initial=0))
    if greatest == 0:
        known = frozenset(nodes.whole.table.allocatable)
        near = nearest(resource, known)
        return [f"no node has {resource}" + (f"; there is {near}" if near is not None else "")]
    hints: list[str] = []
    if wanted > greatest:
        row = int(np.argmax(nodes.whole.allocatable(resource)))
        has = amount_texts(resource, wanted, greatest)[1]
        hints += _unit_hints(resource, pod)
        hints.append(f"no node is large enough: {nodes.whole.names[row]} has the most, {has}")
    return hints


def _unit_hints(resource: str, pod: Pod) -> list[str]:
    """A unit left out: `cpu: 100` is a hundred CPUs."""
    if resource != CPU:
        return []
    raw = [str(container.resources.requests.get(CPU, "")) for container in pod.spec.containers]
    return [
        f"cpu: {each} is {each} whole CPUs; {each}m would be {int(each) / 1000:g}"
        for each in dict.fromkeys(raw)
        if each.isdigit() and int(each) >= _WHOLE_CPUS_MEANT_AS_MILLICORES
    ]


def _user_hints(resource: str, users: list[_User]) -> list[str]:
    leaving = [user for user in users if user.terminating_since is not None]
    if not leaving:
        return []
    amount = amount_texts(resource, sum(user.amount for user in leaving))[0]
    since = min(user.terminating_since for user in leaving if user.terminating_since is not None)
    pods = f"pod {leaving[0].pod.key} is" if len(leaving) == 1 else f"{len(leaving)} pods are"
    what = "places" if resource == PODS else resource
    return [f"{pods} terminating since {since} and will free {amount} {what}"]


def allocation(
    strategy: Strategy, amounts: Sequence[ResourceAmounts], requests: Mapping[str, int], nodes: Snapshot, row: int
) -> tuple[Evidence, ...]:
    """For each resource that counts: how much would be requested of how much, and the points for it."""
    found: list[Evidence] = []
    for each in amounts:
        requested, allocatable = int(each.requested[0]), int(each.allocatable[0])
        if not allocatable:
            continue
        points = int(strategy.points(each.requested, each.allocatable)[0])
        name = each.spec.name
        wants, has = amount_texts(name, requested, allocatable)
        facts: dict[str, JSON] = {
            "resource": name,
            "pod": requests.get(name, 0),
            "requested": requested,
            "capacity": allocatable,
            "unit": unit_of(name),
            "points": points,
            "weight": each.spec.weight,
        }
        found.append(
            Evidence(
                text=f"{wants} of {has} {name} would be requested: {points} points, as {strategy.wants} get more",
                facts=facts,
                hints=_default_hints(name, nodes, row),
                distance=1 - points / 100,
            )
        )
    return tuple(found)


def _default_hints(resource: str, nodes: Snapshot, row: int) -> tuple[str, ...]:
    if resource not in {CPU, MEMORY}:
        return ()
    assumed = int(nodes.non_zero_requested(resource)[row] - nodes.requested(resource)[row])
    if not assumed:
        return ()
    amount = amount_texts(resource, assumed)[0]
    return (f"scoring assumes {amount} {resource} for containers there that request none",)


def _change(before: float, after: float) -> str:
    """`go from 25% to 27%`, with a decimal where the two would look equal without."""
    for form in (".0%", ".1%"):
        was, becomes = format(before, form), format(after, form)
        if was != becomes:
            return f"go from {was} to {becomes}"
    return f"stay at {before:.0%}"


def shares(amounts: Sequence[ResourceAmounts], requests: Mapping[str, int]) -> tuple[Evidence, ...]:
    """For each resource that counts: the share requested without and with the pod."""
    found: list[Evidence] = []
    for each in amounts:
        allocatable = int(each.allocatable[0])
        if not allocatable:
            continue
        before, after = int(each.allocated[0]) / allocatable, int(each.requested[0]) / allocatable
        facts: dict[str, JSON] = {
            "resource": each.spec.name,
            "pod": requests.get(each.spec.name, 0),
            "requestedBefore": int(each.allocated[0]),
            "requested": int(each.requested[0]),
            "capacity": allocatable,
            "unit": unit_of(each.spec.name),
        }
        found.append(Evidence(text=f"{each.spec.name} would {_change(before, after)} requested", facts=facts))
    return tuple(found)

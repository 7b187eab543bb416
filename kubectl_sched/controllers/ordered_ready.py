"""StatefulSets that make their pods one after the other (OrderedReady): which pod each one waits for.

Answers to processReplica of pkg/controller/statefulset/stateful_set_control.go. A pod that has a node is taken to be
ready at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apps import StatefulSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.controllers.pod_creation import Workload


def predecessors(
    workloads: Iterable[Workload], evicted: Iterable[Pod], objects: Iterable[KubernetesObject]
) -> dict[str, Pod]:
    """By the uid of a pod the one before it, among those of its set that have no node yet."""
    groups: dict[str, dict[str, Pod]] = {}
    for workload in workloads:
        source = workload.replicas.source
        if isinstance(source, StatefulSet) and is_ordered(source) and not workload.old:
            groups.setdefault(source.key, {}).update({pod.key: pod for pod in workload.pods})
    ordered = {item.key for item in objects if isinstance(item, StatefulSet) and is_ordered(item)}
    for pod in evicted:
        owner = _set_of(pod)
        if owner in ordered:
            groups.setdefault(owner, {})[pod.key] = pod
    return {
        after.metadata.uid: before
        for group in groups.values()
        for before, after in zip(byordinal_of(group.values()), byordinal_of(group.values())[1:], strict=False)
    }


def is_ordered(item: StatefulSet) -> bool:
    """Report whether it makes a pod only once the one before it is ready."""
    return item.spec.pod_management_policy != "Parallel"


def byordinal_of(pods: Iterable[Pod]) -> list[Pod]:
    """The pods of one set as they are numbered."""
    return sorted(pods, key=ordinal_of)


def sets_in_order(pods: Sequence[Pod]) -> list[Pod]:
    """The pods as they stand, but those of each StatefulSet among their places as they are numbered."""
    of_set: dict[str, list[Pod]] = {}
    for pod in pods:
        of_set.setdefault(_set_of(pod), []).append(pod)
    turns = {owner: iter(byordinal_of(each) if owner else each) for owner, each in of_set.items()}
    return [next(turns[_set_of(pod)]) for pod in pods]


def _set_of(pod: Pod) -> str:
    """The key of the StatefulSet that controls the pod, empty for all others."""
    controller = pod.metadata.controller
    if controller is None or controller.kind != "StatefulSet":
        return ""
    return f"{pod.namespace}/{controller.name}"


def ordinal_of(pod: Pod) -> int:
    """The number at the end of the name as an int32, -1 if there is none (getParentNameAndOrdinal)."""
    number = parse_int64(pod.name.rpartition("-")[2])
    return number if number is not None and number < 2**31 else -1

"""The end of a cycle as far as it changes other objects than the pod: Reserve, and what PreBind writes.

Answers to Reserve and PreBind in pkg/scheduler/schedule_one.go. Nothing is written here: `reserved` says what would be,
`after` gives the cluster in which it has been.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot


def reserved(result: ScheduleResult, node_name: str, now: str | None = None) -> tuple[Reservation, ...]:
    """Return the objects that the pod takes besides room if it is bound to this node, in the order of the writes.

    `now` is the time to write, see BindingCyclePlugin.reserve. Nothing for a node that is not feasible.
    """
    row = result.nodes.row_of.get(node_name)
    if not isinstance(result, CycleResult) or result.outcome is Outcome.ERROR or row is None:
        return ()
    return tuple(
        reservation
        for plugin in result.framework.binding_plugins("reserve")
        for reservation in plugin.reserve(result.state, result.pod, result.nodes, row, now)
    )


def after(nodes: Snapshot, reservations: Sequence[Reservation], *, is_bound: bool = True) -> Snapshot:
    """The cluster with the objects as they are reserved; the pod itself is not put on its node.

    Unless it `is_bound`, the objects are as the other members of its group find them in the same cycle.
    """
    changed: dict[type[KubernetesObject], list[KubernetesObject]] = defaultdict(list)
    for reservation in reservations:
        item = reservation.item if is_bound else reservation.assumed or reservation.item
        if not isinstance(item, Pod):
            changed[type(item)].append(item)
    objects = nodes.objects
    for kind, items in changed.items():
        objects = objects.with_these(kind, items)
    return nodes if objects is nodes.objects else replace(nodes, objects=objects)


def reserved_pod(pod: Pod, reservations: Sequence[Reservation]) -> Pod:
    """The pod as its status tells of what it took; the pod itself where it does not."""
    return next((each.item for each in reservations if isinstance(each.item, Pod)), pod)


def without_nomination(nodes: Snapshot, pod: Pod) -> Snapshot:
    """Without the nomination that the pod had, if it had one; the same snapshot where it had none."""
    changed = {
        name: tuple(other for other in pods if other.key != pod.key)
        for name, pods in nodes.nominated.items()
        if any(other.key == pod.key for other in pods)
    }
    if not changed:
        return nodes
    left = {**nodes.nominated, **changed}
    return replace(nodes, nominated={name: pods for name, pods in left.items() if pods})

"""Facts that the scheduler itself does not read: a pod's events, other pods by UID, the cluster's schedulers."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.api.core import Event, Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.storage import PersistentVolumeClaim, StorageClass
from kubectl_sched.snapshot.objects import Objects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump


KUBELET_BEGINNINGS = frozenset({"Created", "Pulled", "Pulling", "Started"})
"""Events of a pod's first seconds: they show whether a scheduler's event is missing because it is old."""


def _nothing_missing(_: Pod) -> tuple[str, ...]:
    return ()


class Surroundings:
    """The facts of a dump. `missing_scheduler` gives sentences on why nobody serves a pod; none if somebody does.

    `sees_all_pods` is false where not all of them may be read.
    """

    def __init__(
        self,
        dump: Dump,
        missing_scheduler: Callable[[Pod], tuple[str, ...]] = _nothing_missing,
        *,
        sees_all_pods: bool = True,
    ) -> None:
        self.dump = dump
        self.missing_scheduler = missing_scheduler
        self.unseen_pod = "a pod that is gone" if sees_all_pods else "a pod that is gone or may not be seen"

    @cached_property
    def _events(self) -> dict[tuple[str, str, str], list[Event]]:
        found: dict[tuple[str, str, str], list[Event]] = {}
        for item in self.dump.others:
            if isinstance(item, Event):
                about = item.about
                found.setdefault((about.kind, about.namespace or item.metadata.namespace, about.name), []).append(item)
        return found

    @cached_property
    def storage(self) -> dict[str, PersistentVolumeClaim | StorageClass]:
        """The claims by `namespace/name` and the storage classes by name."""
        return {item.key: item for item in self.dump.others if isinstance(item, PersistentVolumeClaim | StorageClass)}

    @cached_property
    def _by_uid(self) -> dict[str, Pod]:
        return {pod.metadata.uid: pod for pod in self.dump.pods if pod.metadata.uid}

    @cached_property
    def pods_by_key(self) -> dict[str, Pod]:
        """The pods by `namespace/name`; of several with one name the first."""
        return {pod.key: pod for pod in reversed(self.dump.pods)}

    @cached_property
    def _owned(self) -> dict[tuple[str, str, str], list[KubernetesObject]]:
        found: dict[tuple[str, str, str], list[KubernetesObject]] = {}
        for item in self.dump.objects:
            owner = item.metadata.controller
            if owner is not None:
                found.setdefault((owner.kind, item.metadata.namespace, owner.name), []).append(item)
        return found

    @cached_property
    def workloads(self) -> Objects:
        """The objects besides pods, by kind and name."""
        return Objects(self.dump.others)

    def owned_by(self, kind: str, namespace: str, name: str) -> Sequence[KubernetesObject]:
        """The objects that a workload of that name controls, pods and others."""
        return self._owned.get((kind, namespace, name), ())

    @cached_property
    def failed_to_start(self) -> tuple[Pod, ...]:
        """The bound pods of which a container waits for its start, or an event says that it failed."""
        told = {place for place, events in self._events.items() if any(each.reason == "Failed" for each in events)}
        return tuple(
            pod
            for pod in self.dump.pods
            if pod.spec.node_name
            and (
                any(each.state.waiting for each in pod.status.container_statuses)
                or ("Pod", pod.metadata.namespace, pod.metadata.name) in told
            )
        )

    @cached_property
    def pod_times(self) -> list[tuple[datetime, Pod]]:
        """The time at which each pod that holds something came to its node, as far as that is known."""
        return [
            (time, pod)
            for pod in self.dump.pods
            if pod.spec.node_name and not pod.has_ended and (time := moment(bound_at(pod))) is not None
        ]

    @cached_property
    def node_times(self) -> list[tuple[datetime, Node]]:
        """The time at which each node was made."""
        nodes = (item for item in self.dump.others if isinstance(item, Node))
        return [(time, node) for node in nodes if (time := moment(node.metadata.creation_timestamp)) is not None]

    @cached_property
    def _pod_moments(self) -> list[datetime]:
        return sorted(at for at, _ in self.pod_times)

    @cached_property
    def _node_moments(self) -> list[datetime]:
        return sorted(at for at, _ in self.node_times)

    def events(self, pod: Pod) -> list[Event]:
        """The events about the pod, and about no earlier one of its name; the newest first."""
        found = self._events.get(("Pod", pod.metadata.namespace, pod.metadata.name), [])
        own = pod.metadata.uid
        mine = [event for event in found if not own or not event.about.uid or event.about.uid == own]
        return sorted(mine, key=lambda event: event.last_seen, reverse=True)

    def scheduled_event(self, pod: Pod) -> Event | None:
        """The event in which a scheduler says where the pod went, None if there is none."""
        return next((event for event in self.events(pod) if event.reason == "Scheduled"), None)

    def placed_at(self, pod: Pod) -> str | None:
        """The time at which the pod got its node, by what its scheduler said, else by the pod itself."""
        event = self.scheduled_event(pod)
        return event.last_seen if event is not None else bound_at(pod)

    def events_of(self, kind: str, namespace: str, name: str) -> list[Event]:
        """The events about another object, the newest first."""
        return sorted(self._events.get((kind, namespace, name), []), key=lambda event: event.last_seen, reverse=True)

    def pod_of_uid(self, uid: str) -> Pod | None:
        """The pod of that UID, None if it is gone."""
        return self._by_uid.get(uid)

    def pod_of_key(self, key: str) -> Pod | None:
        """The pod of that `namespace/name`, as events of older schedulers tell of pods."""
        return self.pods_by_key.get(key)

    def since(self, time: str) -> tuple[int, int]:
        """Count the bound pods and the nodes that are younger than that."""
        then = moment(time)
        if then is None:
            return 0, 0
        return _younger(self._pod_moments, then), _younger(self._node_moments, then)

    def before(self, time: str, keep: Pod) -> list[KubernetesObject]:
        """The objects without the nodes and the other pods that are younger than that; of pending ones their age tells.

        The pod's own node was there when it was chosen, be it made anew since.
        """
        then = moment(time)
        if then is None:
            return list(self.dump.objects)
        pending = ((moment(pod.metadata.creation_timestamp), pod) for pod in self.dump.pods if pod.is_pending)
        times = (*self.pod_times, *self.node_times, *pending)
        young = {(type(item), item.key) for at, item in times if at is not None and at > then}
        young -= {(Pod, keep.key), (Node, keep.spec.node_name)}
        return [item for item in self.dump.objects if (type(item), item.key) not in young]


def _younger(moments: Sequence[datetime], then: datetime) -> int:
    return len(moments) - bisect_right(moments, then)


def bound_at(pod: Pod) -> str | None:
    """The time at which the pod got its node: that of its condition PodScheduled, else that of its creation."""
    for condition in reversed(pod.status.conditions):  # kubelets write it last
        if condition.type == "PodScheduled" and condition.status == "True" and condition.last_transition_time:
            return condition.last_transition_time
    return pod.metadata.creation_timestamp

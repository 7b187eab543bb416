"""The workloads of a dump with their pods, owners and events."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.apps import Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.queries.never_created.missing_pods import WorkloadName
from kubectl_sched.snapshot import Objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Event
    from kubectl_sched.api.meta import Condition, KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.sources.pod_surroundings import Surroundings

_OWNERS = frozenset({"Deployment", "CronJob"})
_CONDITIONED = (Deployment, ReplicaSet, ReplicationController, StatefulSet)


class Workloads:
    """Indexes over one dump, built when first asked for."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.others: Sequence[KubernetesObject] = around.dump.others

    @cached_property
    def objects(self) -> Objects:
        """All objects of the dump by type."""
        return Objects(self.around.dump.objects)

    @cached_property
    def _pods(self) -> dict[WorkloadName, list[Pod]]:
        found: dict[WorkloadName, list[Pod]] = {}
        for pod in self.around.dump.pods:
            owner = pod.metadata.controller
            if owner is not None and not pod.has_ended:
                found.setdefault(WorkloadName(owner.kind, pod.namespace, owner.name), []).append(pod)
        return found

    @cached_property
    def owned(self) -> frozenset[WorkloadName]:
        """The owners of ReplicaSets and Jobs."""
        return frozenset(self.topmost(item) for item in self.others if isinstance(item, ReplicaSet | Job))

    def pods_of(self, item: KubernetesObject) -> Sequence[Pod]:
        """Return the pods of a workload that have not ended."""
        return self._pods.get(self.name_of(item), ())

    def name_of(self, item: KubernetesObject) -> WorkloadName:
        """Return the name of a workload."""
        return WorkloadName(type(item).__name__, item.namespace, item.name)

    def topmost(self, item: KubernetesObject) -> WorkloadName:
        """Return the Deployment or CronJob that owns a workload, else the workload itself."""
        owner = item.metadata.controller
        known = owner is not None and owner.kind in _OWNERS
        return WorkloadName(owner.kind, item.namespace, owner.name) if owner and known else self.name_of(item)

    def conditions_of(self, item: KubernetesObject) -> Iterator[Sequence[Condition]]:
        """Yield the conditions of a workload, then those of the Deployment that owns it."""
        kind, namespace, name = self.topmost(item)
        deployment = self.objects.get(Deployment, name, namespace) if kind == "Deployment" else None
        for each in (item, deployment):
            if isinstance(each, _CONDITIONED):
                yield each.status.conditions

    def event(self, item: KubernetesObject, *reasons: str) -> Event | None:
        """Return the newest event of a workload that has one of these reasons; None if there is none."""
        events = self.around.events_of(*self.name_of(item))
        return next((event for event in events if event.reason in reasons), None)

"""The chain from a pod or a Job to its Workload, LocalQueue, ClusterQueue and cohort, as Kueue's objects tell it."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kubectl_sched.api.apimachinery.labels import selector_of
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.kueue import (
    JOB_SET,
    QUEUE_NAME,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    PendingWorkloadsSummary,
    ProvisioningRequest,
    QueuedWorkload,
    ResourceFlavor,
)
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.gates.gate import spelled
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.kueue import PendingWorkload
    from kubectl_sched.api.meta import KubernetesObject

T = TypeVar("T", bound="KubernetesObject")

GATES = "kueue.x-k8s.io/"
POD_SET = "kueue.x-k8s.io/podset"
_GROUP = "kueue.x-k8s.io/pod-group-name"
_NAMING_LABELS = (_GROUP, "kueue.x-k8s.io/prebuilt-workload-name")
_MOST_OWNERS = 5


class KueueChain(Record, frozen=True, kw_only=True):
    """The objects of the chain, None for each that there is not or that was not read."""

    held: KubernetesObject
    """The pod or the Job."""

    queue_name: str
    """The LocalQueue's name; empty if neither the Workload nor a label tells it."""

    workload: QueuedWorkload | None = None
    local_queue: LocalQueue | None = None
    cluster_queue: ClusterQueue | None = None
    cohorts: tuple[str, ...] = ()
    """The names of the ClusterQueue's cohort and of those above it."""

    shared: tuple[Cohort | ClusterQueue, ...] = ()
    """Whatever is in the uppermost cohort: its quotas are shared."""

    place: PendingWorkload | None = None
    requests: tuple[ProvisioningRequest, ...] = ()
    namespace: Namespace | None = None


class KueueObjects:
    """Kueue's objects of one cluster, each found by name."""

    def __init__(self, objects: Sequence[KubernetesObject]) -> None:
        self._objects = objects
        self._admitted: dict[tuple[str, str], bool] = {}

    def all(self, kind: type[T]) -> list[T]:
        """Return all objects of the kind."""
        return list(self._of(kind).values())

    def named(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """Return the object of that name, None if there is none."""
        return self._of(kind).get((namespace, name))

    def _of(self, kind: type[T]) -> dict[tuple[str, str], T]:
        return self._by_kind.get(kind, {})  # type: ignore[return-value] # grouped by their type

    @cached_property
    def _by_kind(self) -> dict[type[KubernetesObject], dict[tuple[str, str], KubernetesObject]]:
        kinds = {
            *(QueuedWorkload, LocalQueue, ClusterQueue, Cohort, ResourceFlavor, AdmissionCheck),
            *(ProvisioningRequest, PendingWorkloadsSummary, Namespace),
        }
        found: dict[type[KubernetesObject], dict[tuple[str, str], KubernetesObject]] = {}
        for item in self._objects:
            if type(item) in kinds:
                found.setdefault(type(item), {})[item.namespace, item.name] = item
        return found

    @cached_property
    def _by_owner(self) -> dict[tuple[str, str, str], QueuedWorkload]:
        """Workloads by namespace, and kind and name of each owner; and by UID, with an empty kind."""
        found: dict[tuple[str, str, str], QueuedWorkload] = {}
        for each in sorted(self.all(QueuedWorkload), key=_latest_last):
            for owner in each.metadata.owner_references:
                found[each.namespace, owner.kind, owner.name] = each
                if owner.uid:
                    found[each.namespace, "", owner.uid] = each
        return found

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str], KubernetesObject]:
        """The objects that own others, by namespace, kind and name."""
        return {
            (item.namespace, spelled(item), item.name): item
            for item in self._objects
            if item.namespace and type(item) is not Pod
        }

    def workload_of(self, held: KubernetesObject) -> QueuedWorkload | None:
        """Return the Workload that an annotation, a label or an owner names; None if there is none."""
        meta, namespace = held.metadata, held.namespace
        named = (meta.annotations.kueue_workload, *map(meta.labels.get, _NAMING_LABELS))
        for name in filter(None, named):
            found = self.named(QueuedWorkload, name, namespace)
            if found is not None:
                return found
        job_set = meta.labels.get(JOB_SET)
        owners = [(namespace, spelled(held), held.name), *([(namespace, "JobSet", job_set)] if job_set else ())]
        above: KubernetesObject | None = held
        for _ in range(_MOST_OWNERS):
            if above is None:
                break
            uid, owner = above.metadata.uid, above.metadata.controller
            owners += [(namespace, "", uid)] if uid else []
            if owner is None:
                break
            owners += [(namespace, "", owner.uid), (namespace, owner.kind, owner.name)]
            above = self._by_key.get((namespace, owner.kind, owner.name))
        return next((self._by_owner[owner] for owner in owners if owner in self._by_owner), None)

    def waiting(self, namespace: str, queue_name: str) -> Sequence[QueuedWorkload]:
        """Return the workloads of a LocalQueue that have no quota, by priority and age."""
        return self._waiting.get((namespace, queue_name), ())

    @cached_property
    def _waiting(self) -> dict[tuple[str, str], list[QueuedWorkload]]:
        found: dict[tuple[str, str], list[QueuedWorkload]] = {}
        for each in sorted(self.all(QueuedWorkload), key=_first_in_queue):
            if each.status.admission is None and not each.has_finished:
                found.setdefault((each.namespace, each.spec.queue_name), []).append(each)
        return found

    def admits(self, queue: ClusterQueue, namespace: Namespace) -> bool:
        """Report whether the queue is for workloads of the namespace; without a selector it is for none."""
        key = queue.name, namespace.name
        if key not in self._admitted:
            try:
                self._admitted[key] = selector_of(queue.spec.namespace_selector).matches(namespace.metadata.labels)
            except SchedError:
                self._admitted[key] = False
        return self._admitted[key]

    def no_queue_admits(self, namespace: Namespace) -> bool:
        """Report whether there are ClusterQueues, and none of them is for workloads of the namespace."""
        queues = self._of(ClusterQueue).values()
        return bool(queues) and not any(self.admits(each, namespace) for each in queues)

    def group_size(self, held: KubernetesObject) -> int:
        """Return the number of pods of the pod's group that were read."""
        return self._group_sizes[held.namespace, held.metadata.labels.get(_GROUP, "")]

    @cached_property
    def _group_sizes(self) -> Counter[tuple[str, str]]:
        pods = (each for each in self._objects if isinstance(each, Pod))
        return Counter(
            (each.namespace, each.metadata.labels[_GROUP]) for each in pods if _GROUP in each.metadata.labels
        )

    def chain(self, held: KubernetesObject) -> KueueChain:
        """Follow the chain of a pod or a Job as far as it goes."""
        workload, namespace = self.workload_of(held), held.namespace
        queue_name = (workload.spec.queue_name if workload else "") or held.metadata.labels.get(QUEUE_NAME, "")
        local_queue = self.named(LocalQueue, queue_name, namespace)
        admission = workload.status.admission if workload is not None else None
        queue = (admission.cluster_queue if admission else "") or (
            local_queue.spec.cluster_queue if local_queue else ""
        )
        cluster_queue = self.named(ClusterQueue, queue)
        cohorts = self._cohorts(cluster_queue.cohort) if cluster_queue is not None else ()
        return KueueChain(
            held=held,
            queue_name=queue_name,
            workload=workload,
            local_queue=local_queue,
            cluster_queue=cluster_queue,
            cohorts=cohorts,
            shared=self._in_cohort[cohorts[-1]] if cohorts else (),
            place=self._place(workload, queue_name),
            requests=self._requests(workload),
            namespace=self.named(Namespace, namespace),
        )

    def _cohorts(self, name: str) -> tuple[str, ...]:
        """Return the name of a cohort and of those above it."""
        found: dict[str, None] = {}
        while name and name not in found:
            found[name] = None
            cohort = self.named(Cohort, name)
            name = cohort.parent if cohort is not None else ""
        return tuple(found)

    @cached_property
    def _in_cohort(self) -> dict[str, tuple[Cohort | ClusterQueue, ...]]:
        """Cohorts and ClusterQueues, by the uppermost cohort that they are in."""
        found: dict[str, list[Cohort | ClusterQueue]] = {}
        members: tuple[Cohort | ClusterQueue, ...] = (*self.all(Cohort), *self.all(ClusterQueue))
        for each in members:
            for uppermost in self._cohorts(each.name if isinstance(each, Cohort) else each.cohort)[-1:]:
                found.setdefault(uppermost, []).append(each)
        return {name: tuple(each) for name, each in found.items()}

    def _place(self, workload: QueuedWorkload | None, queue_name: str) -> PendingWorkload | None:
        if workload is None:
            return None
        summary = self.named(PendingWorkloadsSummary, queue_name, workload.namespace)
        return next((each for each in summary.items if each.metadata.name == workload.name), None) if summary else None

    def _requests(self, workload: QueuedWorkload | None) -> tuple[ProvisioningRequest, ...]:
        """Return the ProvisioningRequests that Kueue made for the workload, which owns them."""
        if workload is None:
            return ()
        return tuple(self._requests_of.get((workload.namespace, workload.name), ()))

    @cached_property
    def _requests_of(self) -> dict[tuple[str, str], list[ProvisioningRequest]]:
        found: dict[tuple[str, str], list[ProvisioningRequest]] = {}
        for each in self.all(ProvisioningRequest):
            for name in {owner.name for owner in each.metadata.owner_references if owner.kind == "Workload"}:
                found.setdefault((each.namespace, name), []).append(each)
        return found


def _latest_last(workload: QueuedWorkload) -> tuple[bool, str]:
    """Order workloads of one owner: those that have finished first, then by age."""
    return not workload.has_finished, workload.metadata.creation_timestamp or ""


def _first_in_queue(workload: QueuedWorkload) -> tuple[int, str]:
    """Order workloads as Kueue does unless told otherwise: by priority, then by age."""
    return -(workload.spec.priority or 0), workload.metadata.creation_timestamp or ""

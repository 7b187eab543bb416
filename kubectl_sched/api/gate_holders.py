"""Objects of controllers that hold pods back: groups and queues of other schedulers, and sets of Jobs and pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.core import ResourceList
from kubectl_sched.api.kueue import JOB_SET
from kubectl_sched.api.meta import Condition, KubernetesObject, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import ObjectMeta


_PARENT_QUOTA = "quota.scheduling.koordinator.sh/parent"


class HolderSpec(Part, frozen=True):
    """The queue that a group waits in, the queue above a queue, its amounts, and whether the object is suspended."""

    queue: str = ""
    parent: str = ""
    parent_queue: str = ""
    suspend: bool = False
    min: ResourceList = {}
    max: ResourceList = {}


class HolderStatus(Part, frozen=True):
    """Phase or state, amounts in use, and conditions; a group of KAI has them by their own name."""

    phase: str = ""
    state: str = ""
    used: ResourceList = {}
    conditions: tuple[Condition, ...] = ()
    scheduling_conditions: tuple[Condition, ...] = ()


class GateHolder(KubernetesObject, frozen=True):
    """An object whose conditions say why pods wait."""

    spec: HolderSpec = HolderSpec()
    status: HolderStatus = HolderStatus()

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Names and values of what says where it stands besides its conditions."""
        spec, status = self.spec, self.status
        parent = spec.parent or self.metadata.labels.get(_PARENT_QUOTA, "")
        above = (("queue", spec.queue), ("parent", parent), ("parentQueue", spec.parent_queue))
        amounts = (("min", spec.min), ("max", spec.max), ("used", status.used))
        of_quota = ((name, ", ".join(f"{key}={value}" for key, value in each.items())) for name, each in amounts)
        suspended = "true" if spec.suspend else ""
        return (*above, *of_quota, ("phase", status.phase), ("state", status.state), ("suspend", suspended))


class VolcanoPodGroup(GateHolder, frozen=True, tag_field="kind", tag="PodGroup"):
    """scheduling.volcano.sh/v1beta1."""


class VolcanoQueue(GateHolder, frozen=True, tag_field="kind", tag="Queue"):
    """scheduling.volcano.sh/v1beta1."""


class CoschedulingPodGroup(GateHolder, frozen=True, tag_field="kind", tag="PodGroup"):
    """scheduling.sigs.k8s.io/v1alpha1, which Koordinator reads, too."""


class ElasticQuota(GateHolder, frozen=True, tag_field="kind"):
    """scheduling.sigs.k8s.io/v1alpha1; Koordinator's pods name one of any namespace."""


class KAIPodGroup(GateHolder, frozen=True, tag_field="kind", tag="PodGroup"):
    """scheduling.run.ai/v2alpha2, of KAI Scheduler and Run:ai."""


class KAIQueue(GateHolder, frozen=True, tag_field="kind", tag="Queue"):
    """scheduling.run.ai/v2."""


class JobSet(GateHolder, frozen=True, tag_field="kind", tag="JobSet"):
    """jobset.x-k8s.io/v1alpha2."""


class LeaderWorkerSet(GateHolder, frozen=True, tag_field="kind", tag="LeaderWorkerSet"):
    """leaderworkerset.x-k8s.io/v1."""


class HolderKind(NamedTuple):
    """A controller's kind, and the annotations (by field) or labels by which pods name an object of it."""

    controller: str
    kind: type[GateHolder]
    queue: type[GateHolder] | None = None
    annotations: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()
    queue_labels: tuple[str, ...] = ()


HOLDERS = (
    HolderKind(
        controller="Volcano",
        kind=VolcanoPodGroup,
        queue=VolcanoQueue,
        annotations=(
            ("scheduling.volcano.sh/group-name", "volcano_group_name"),
            ("scheduling.k8s.io/group-name", "group_name"),
        ),
    ),
    HolderKind(
        controller="KAI Scheduler",
        kind=KAIPodGroup,
        queue=KAIQueue,
        annotations=(("pod-group-name", "kai_group_name"),),
        queue_labels=("kai.scheduler/queue", "runai/queue"),
    ),
    HolderKind(
        controller="Koordinator",
        kind=CoschedulingPodGroup,
        queue=ElasticQuota,
        annotations=(("gang.scheduling.koordinator.sh/name", "gang_name"),),
        labels=("pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"),
        queue_labels=("quota.scheduling.koordinator.sh/name",),
    ),
    HolderKind(controller="JobSet", kind=JobSet, labels=(JOB_SET,)),
    HolderKind(controller="LeaderWorkerSet", kind=LeaderWorkerSet, labels=("leaderworkerset.sigs.k8s.io/name",)),
)

QUEUES = frozenset(holder.queue for holder in HOLDERS)
"""The kinds of queues, which pods name without a namespace."""

ANNOTATIONS = (
    ("scheduling.volcano.sh/queue-name", "volcano_queue_name"),
    ("kai.scheduler/stale-podgroup-timestamp", "kai_stale_since"),
    ("gang.scheduling.koordinator.sh/min-available", "gang_min_available"),
    ("gang.scheduling.koordinator.sh/mode", "gang_mode"),
    ("gang.scheduling.koordinator.sh/waiting-time", "gang_waiting_time"),
    ("quota.scheduling.koordinator.sh/runtime", "quota_runtime"),
    ("quota.scheduling.koordinator.sh/request", "quota_request"),
    ("alpha.jobset.sigs.k8s.io/exclusive-topology", "job_set_topology"),
    ("leaderworkerset.sigs.k8s.io/exclusive-topology", "leader_worker_topology"),
)
"""Further annotations that say what pods wait for, with their fields, on pods and on what they belong to."""


def names_of(holder: HolderKind, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    """Yield each name that the object's metadata gives, as `annotation` or `label`, the key and the name."""
    for key, field in holder.annotations:
        name = getattr(meta.annotations, field)
        if name:
            yield "annotation", key, name
    yield from _labels(holder.labels, meta)


def queues_of(holder: HolderKind, meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    """Yield each queue that the object's labels name, as `names_of` does."""
    yield from _labels(holder.queue_labels, meta)


def _labels(keys: tuple[str, ...], meta: ObjectMeta) -> Iterator[tuple[str, str, str]]:
    yield from (("label", key, meta.labels[key]) for key in keys if meta.labels.get(key))

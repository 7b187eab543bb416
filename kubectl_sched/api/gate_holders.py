"""Objects of controllers that hold pods back: groups and queues of other schedulers, and sets of Jobs and pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.kueue import JOB_SET
from kubectl_sched.api.meta import Condition, KubernetesObject, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import ObjectMeta


class HolderSpec(Part, frozen=True):
    """The queue that a group waits in, the queue above a queue, and whether the object is suspended."""

    queue: str = ""
    parent: str = ""
    parent_queue: str = ""
    suspend: bool = False


class HolderStatus(Part, frozen=True):
    """Phase or state, and conditions; a group of KAI has them by their own name."""

    phase: str = ""
    state: str = ""
    conditions: tuple[Condition, ...] = ()
    scheduling_conditions: tuple[Condition, ...] = ()


class GateHolder(KubernetesObject, frozen=True):
    """An object whose conditions say why pods wait."""

    spec: HolderSpec = HolderSpec()
    status: HolderStatus = HolderStatus()


class VolcanoPodGroup(GateHolder, frozen=True, tag_field="kind", tag="PodGroup"):
    """scheduling.volcano.sh/v1beta1."""


class VolcanoQueue(GateHolder, frozen=True, tag_field="kind", tag="Queue"):
    """scheduling.volcano.sh/v1beta1."""


class CoschedulingPodGroup(GateHolder, frozen=True, tag_field="kind", tag="PodGroup"):
    """scheduling.sigs.k8s.io/v1alpha1, which Koordinator reads, too."""


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
        annotations=(("gang.scheduling.koordinator.sh/name", "gang_name"),),
        labels=("pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"),
        queue_labels=("quota.scheduling.koordinator.sh/name",),
    ),
    HolderKind(controller="JobSet", kind=JobSet, labels=(JOB_SET,)),
    HolderKind(controller="LeaderWorkerSet", kind=LeaderWorkerSet, labels=("leaderworkerset.sigs.k8s.io/name",)),
)


ANNOTATIONS = (
    ("scheduling.volcano.sh/queue-name", "volcano_queue_name"),
    ("kai.scheduler/stale-podgroup-timestamp", "kai_stale_since"),
    ("gang.scheduling.koordinator.sh/min-available", "gang_min_available"),
    ("gang.scheduling.koordinator.sh/mode", "gang_mode"),
    ("gang.scheduling.koordinator.sh/waiting-time", "gang_waiting_time"),
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

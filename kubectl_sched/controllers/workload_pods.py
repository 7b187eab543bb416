"""Builds a workload's pods from its template, as its controller does.

Answers to the pod templates in pkg/controller/{deployment,replicaset,statefulset,job,daemon}. Where controllers draw
random suffixes, pods are numbered here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
from msgspec import structs
from msgspec.structs import replace

from kubectl_sched.api.apps import CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.meta import LabelSelector, ObjectMeta, OwnerReference
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.pod_volumes import PersistentVolumeClaimVolumeSource, Volume
from kubectl_sched.controllers.active_pods import COMPLETION_INDEX
from kubectl_sched.controllers.controller_reference import controller_reference
from kubectl_sched.controllers.daemon_set import daemon_pods
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.apps import PodTemplateSpec
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject, Labels
    from kubectl_sched.api.pod_volumes import PersistentVolumeClaimTemplate

TEMPLATE_HASH = "pod-template-hash"
_HASH_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_APPS, _BATCH, _CORE = "apps/v1", "batch/v1", "v1"


class Replicas(Record, frozen=True, kw_only=True):
    """The pods of one workload: `pod(0)`, `pod(1)`, ... as written in its template, before admission.

    `controller` is the object that selects them, which PodTopologySpread's defaults ask for; each pod has a claim of
    its own for each of `claim_templates`.
    """

    source: KubernetesObject
    owner: str | None
    count: int
    pod: Callable[[int], Pod]
    controller: KubernetesObject | None = None
    claim_templates: tuple[PersistentVolumeClaimTemplate, ...] = ()
    fixed: bool = False
    """True if `--replicas` does not apply: nodes decide how many there are."""


def replicas_of(
    item: KubernetesObject, nodes: Sequence[Node], *, single: bool = True, replica_set: ReplicaSet | None = None
) -> Replicas:
    """The pods of a Pod or a workload; `single` False numbers copies of a bare pod.

    `replica_set` is the one that a Deployment scales; without it it makes one.
    """
    if isinstance(item, Deployment):
        return _of_deployment(item, replica_set or replica_set_of(item, hash_of(item.spec.template)))
    if isinstance(item, Pod):
        return _bare(item, single=single)
    if isinstance(item, DaemonSet):
        pods = daemon_pods(item, nodes)
        return Replicas(
            source=item, owner=f"DaemonSet/{item.name}", count=len(pods), pod=lambda index: pods[index], fixed=True
        )
    if isinstance(item, CronJob):
        job = Job(metadata=item.metadata, spec=item.spec.job_template.spec)
        return replace(_of_job(job, f"CronJob/{item.name}"), source=item)
    if isinstance(item, Job):
        return _of_job(item, f"Job/{item.name}")
    return _of_replicated(item)


def _of_replicated(item: KubernetesObject) -> Replicas:
    if isinstance(item, StatefulSet):
        return _of_stateful_set(item)
    if isinstance(item, ReplicaSet | ReplicationController) and item.spec.template is not None:
        owner = controller_reference(item, _APPS if isinstance(item, ReplicaSet) else _CORE)
        return _replicas(item, _count(item.spec.replicas), item.spec.template, owner, {}, item)
    raise SchedError(f"{type(item).__name__} {item.key} has no template to make pods from")


def _count(replicas: int | None) -> int:
    return 1 if replicas is None else replicas


def _bare(pod: Pod, *, single: bool) -> Replicas:
    def make(index: int) -> Pod:
        name = pod.metadata.name if single else f"{pod.metadata.name}-{index}"
        metadata = structs.replace(pod.metadata, name=name, uid=f"whatif/{pod.metadata.namespace}/{name}")
        return Pod(metadata=metadata, spec=pod.spec)

    return Replicas(source=pod, owner=None, count=1, pod=make)


def _of_deployment(item: Deployment, replica_set: ReplicaSet) -> Replicas:
    """Its pods belong to a ReplicaSet, whose selector and labels hold a hash of the template."""
    spec = item.spec
    labels = {**replica_set.spec.template.metadata.labels, **replica_set.metadata.labels}
    extra = {TEMPLATE_HASH: labels[TEMPLATE_HASH]} if TEMPLATE_HASH in labels else {}
    return _replicas(
        item, _count(spec.replicas), spec.template, controller_reference(replica_set, _APPS), extra, replica_set
    )


def replica_set_of(item: Deployment, template_hash: str) -> ReplicaSet:
    """The ReplicaSet that a Deployment makes."""
    extra = {TEMPLATE_HASH: template_hash}
    selector = item.spec.selector or LabelSelector()
    return ReplicaSet(
        api_version=_APPS,
        metadata=ObjectMeta(
            name=f"{item.name}-{template_hash}",
            namespace=item.namespace,
            uid=f"whatif/ReplicaSet/{item.key}",
            labels=extra,
            owner_references=(controller_reference(item, _APPS),),
        ),
        spec=structs.replace(
            ReplicaSet().spec,
            selector=structs.replace(selector, match_labels={**selector.match_labels, **extra}),
        ),
    )


def hash_of(template: PodTemplateSpec) -> str:
    """A label value that changes with the template; the controller's own hash is another."""
    number = crc32(msgspec.json.encode(template, order="sorted"))
    letters = []
    for _ in range(8):
        number, digit = divmod(number, len(_HASH_ALPHABET))
        letters.append(_HASH_ALPHABET[digit])
    return "".join(letters)


def _replicas(
    item: KubernetesObject,
    count: int,
    template: PodTemplateSpec,
    owner: OwnerReference,
    extra: Labels,
    controller: KubernetesObject,
) -> Replicas:
    labels = {**template.metadata.labels, **extra}

    def make(index: int) -> Pod:
        return _pod(item, f"{item.name}-{index}", template, labels, owner)

    return Replicas(
        source=item, owner=f"{type(item).__name__}/{item.name}", count=count, pod=make, controller=controller
    )


def _pod(item: KubernetesObject, name: str, template: PodTemplateSpec, labels: Labels, owner: OwnerReference) -> Pod:
    metadata = ObjectMeta(
        name=name,
        namespace=item.namespace,
        uid=f"whatif/{type(item).__name__}/{item.namespace}/{name}",
        labels=labels,
        annotations=template.metadata.annotations,
        owner_references=(owner,),
    )
    return Pod(metadata=metadata, spec=template.spec)


def _of_stateful_set(item: StatefulSet) -> Replicas:
    spec, template = item.spec, item.spec.template
    start = spec.ordinals.start if spec.ordinals is not None else 0
    owner = controller_reference(item, _APPS)
    templates = spec.volume_claim_templates

    def make(index: int) -> Pod:
        ordinal = start + index
        name = f"{item.name}-{ordinal}"
        labels = {
            **template.metadata.labels,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
        }
        pod = _pod(item, name, template, labels, owner)
        claimed = {each.metadata.name for each in templates}
        volumes = tuple(
            Volume(
                name=each.metadata.name,
                persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{each.metadata.name}-{name}"),
            )
            for each in templates
        )
        kept = tuple(volume for volume in template.spec.volumes if volume.name not in claimed)
        return structs.replace(pod, spec=structs.replace(template.spec, volumes=(*volumes, *kept)))

    return Replicas(
        source=item,
        owner=f"StatefulSet/{item.name}",
        count=_count(spec.replicas),
        pod=make,
        controller=item,
        claim_templates=templates,
    )


def _of_job(item: Job, owner_text: str) -> Replicas:
    """So many pods as run at once; an indexed one gives each its number as a label."""
    spec = item.spec
    owner = controller_reference(item, _BATCH)
    indexed = spec.completion_mode == "Indexed"

    def make(index: int) -> Pod:
        labels = {
            **spec.template.metadata.labels,
            "job-name": item.name,
            "batch.kubernetes.io/job-name": item.name,
            "controller-uid": owner.uid,
            "batch.kubernetes.io/controller-uid": owner.uid,
        }
        if indexed:
            labels[COMPLETION_INDEX] = str(index)
        return _pod(item, f"{item.name}-{index}", spec.template, labels, owner)

    return Replicas(source=item, owner=owner_text, count=_at_once(item), pod=make)


def _at_once(item: Job) -> int:
    """Return the number of pods that a job needs now (manageJob): none if one succeeded and any number was wanted."""
    spec, succeeded = item.spec, item.status.succeeded
    if spec.suspend or item.is_over or (spec.completions is None and succeeded):
        return 0
    parallelism = _count(spec.parallelism)
    return parallelism if spec.completions is None else min(parallelism, max(0, spec.completions - succeeded))

"""A workload that the cluster has already, when a manifest changes it: what may not change, and what does not roll out.

Answers to the Validate...Update of pkg/apis/{apps,batch}/validation/validation.go, and to Deployments that are paused
(pkg/controller/deployment/sync.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.apps import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_sched.api.meta import with_spec
from kubectl_sched.apiserver.refused_manifest import refuse
from kubectl_sched.controllers.workload_pods import TEMPLATE_HASH, replica_set_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.apps import PodTemplateSpec
    from kubectl_sched.api.meta import KubernetesObject, LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import PersistentVolumeClaimTemplate
    from kubectl_sched.snapshot import Objects

_OF_A_SET = (
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
    "forbidden"
)


def check_update(item: KubernetesObject, stored: KubernetesObject, *, same_template: bool) -> None:
    """Raises RefusedError where the manifest changes what may not change; `same_template` leaves defaults aside."""
    refuse(item, list(_problems(item, stored, same_template=same_template)))


def _problems(item: KubernetesObject, stored: KubernetesObject, *, same_template: bool) -> Iterator[str]:
    match item, stored:
        case (StatefulSet(), StatefulSet()):
            if _of_set(item) != _of_set(stored):
                yield _OF_A_SET
        case (Deployment() | ReplicaSet() | DaemonSet(), Deployment() | ReplicaSet() | DaemonSet()):
            selector, before = item.spec.selector, stored.spec.selector
            if selector is not None and before is not None and selector != before:
                yield f"spec.selector: Invalid value: {_shown(selector)}: field is immutable"
        case (Job(), Job()):
            if not same_template:
                yield "spec.template: Invalid value: field is immutable"
            if (item.spec.completion_mode or "NonIndexed") != (stored.spec.completion_mode or "NonIndexed"):
                yield f'spec.completionMode: Invalid value: "{item.spec.completion_mode}": field is immutable'
        case _:
            pass


def _of_set(item: StatefulSet) -> tuple[object, ...]:
    """Return the fields of a StatefulSet, of those read here, that cannot be changed."""
    policy = item.spec.pod_management_policy or "OrderedReady"
    return item.spec.selector, policy, [_claim(each) for each in item.spec.volume_claim_templates]


def _claim(template: PersistentVolumeClaimTemplate) -> tuple[object, ...]:
    spec = template.spec
    return (
        *(template.metadata.name, template.metadata.labels, spec.access_modes, spec.selector),
        *(parse_resource_list(spec.resources.requests), parse_resource_list(spec.resources.limits)),
        *(spec.volume_name, spec.storage_class_name, spec.volume_mode or "Filesystem"),
    )


def _shown(selector: LabelSelector) -> str:
    data: dict[str, Any] = {}
    if selector.match_labels:
        data["matchLabels"] = selector.match_labels
    if selector.match_expressions:
        data["matchExpressions"] = [
            {"key": each.key, "operator": each.operator, **({"values": each.values} if each.values else {})}
            for each in selector.match_expressions
        ]
    return msgspec.json.encode(data, order="sorted").decode()


def with_stored_count(item: KubernetesObject, stored: KubernetesObject) -> KubernetesObject:
    """Return the item with the stored number of pods if its manifest gives none, as `kubectl apply` keeps that number.

    Manifests of workloads with a HorizontalPodAutoscaler give none. A Job's podReplacementPolicy is kept, too.
    """
    spec: Any = getattr(item, "spec", None)
    for field in ("replicas", "parallelism", "pod_replacement_policy"):
        count = getattr(getattr(stored, "spec", None), field, None)
        if count is not None and getattr(spec, field, count) is None:
            spec = structs.replace(spec, **{field: count})
    return structs.replace(item, spec=spec)


def while_paused(item: Deployment, objects: Objects) -> Deployment | None:
    """A paused Deployment as its pods are made: from the template that runs. None if none ever ran.

    More than one ReplicaSet with pods share what is added or taken away; here the newest has it all.
    """
    newest = _newest(item, objects)
    stored = objects.get(Deployment, item.name, item.namespace)
    template: PodTemplateSpec | None = None
    if newest is not None:
        template = newest.spec.template
    elif stored is not None:
        template = stored.spec.template
    return None if template is None else with_spec(item, template=template)


def running_replica_set(item: Deployment, present: Sequence[Pod], objects: Objects) -> ReplicaSet | None:
    """Return the ReplicaSet that a Deployment scales: the newest one with pods, read or inferred from its pods."""
    newest = _newest(item, objects)
    if newest is not None:
        return newest
    hashed = [pod for pod in present if TEMPLATE_HASH in pod.metadata.labels]
    if not hashed:
        return None
    youngest = max(hashed, key=lambda pod: pod.metadata.creation_timestamp or "")
    return replica_set_of(item, youngest.metadata.labels[TEMPLATE_HASH])


def oldest_first(pods: Sequence[Pod], objects: Objects) -> list[Pod]:
    """Return a Deployment's pods, those of the oldest ReplicaSet first (ReplicaSetsByCreationTimestamp)."""

    def age(pod: Pod) -> tuple[str, str]:
        owner = pod.metadata.controller
        name = owner.name if owner is not None else ""
        owning = objects.get(ReplicaSet, name, pod.namespace)
        return (owning.metadata.creation_timestamp or "") if owning is not None else "", name

    return sorted(pods, key=age)


def _newest(item: Deployment, objects: Objects) -> ReplicaSet | None:
    owned = [each for each in objects.in_namespace(ReplicaSet, item.namespace) if _is_of(each, item)]
    active = [each for each in owned if each.spec.replicas != 0]
    return max(active or owned, key=lambda each: each.metadata.creation_timestamp or "", default=None)


def _is_of(replica_set: ReplicaSet, item: Deployment) -> bool:
    owner = replica_set.metadata.controller
    return owner is not None and (owner.kind, owner.name) == ("Deployment", item.name)

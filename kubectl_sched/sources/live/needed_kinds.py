"""The kinds that the replay of a pod looks at, so that nothing else is asked of the server."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apps import Job
from kubectl_sched.api.component_helpers.resource_names import is_dra_extended_resource_name
from kubectl_sched.api.core import Event
from kubectl_sched.api.gate_holders import HOLDERS, names_of, queues_of
from kubectl_sched.api.kueue import JOB_SET, QUEUE_NAME, QueuedWorkload
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.pod_volumes import Volume
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.discovery.kube_schedulers import scheduler_container
from kubectl_sched.sources.discovery.scheduler_configurations import static_pod_config_maps
from kubectl_sched.sources.discovery.scheduler_flags import flags, is_autoscaler
from kubectl_sched.sources.kinds import GATE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject, ObjectMeta
    from kubectl_sched.sources.live.lister import Listed

ALWAYS = ("Namespace",)
"""Besides nodes and pods: other pods' namespaceSelectors ask for the labels of this pod's namespace."""

STORAGE = (
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
    "VolumeAttachment",
)
DEVICES = ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "ResourceClaimTemplate")
GROUPS = ("Workload", "PodGroup", "CompositePodGroup")
SELECTORS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")

FOR_NEW_NODES = (
    "NodePool",
    "NodeClaim",
    "NodeOverlay",
    "PodDisruptionBudget",
    "DaemonSet",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "CSINode",
)
"""The kinds that Karpenter looks at besides nodes and pods."""

WORKLOADS = ("Deployment", "DaemonSet", "Job", "CronJob")
ADMISSION = ("LimitRange", "ResourceQuota", "RuntimeClass", "PriorityClass")
EVERYTHING = ("PodDisruptionBudget", *STORAGE, *DEVICES, *SELECTORS, *WORKLOADS, *ADMISSION)
"""The kinds that placing pods which do not exist yet may look at."""

OF_ALL_NAMESPACES = frozenset({"CSIStorageCapacity"})
"""Namespaced kinds whose objects are in the namespace of whoever makes them, and tell about all pods."""

NOT_SUCCEEDED = "status.phase!=Succeeded"
"""kube-scheduler sees no pod that has ended; those that a kubelet refused say which nodes refuse pods."""

_STORAGE_FIELDS = sorted({*Volume.__struct_fields__} - {"name", "empty_dir", "host_path", "image", "config_map"})
_NO_STORAGE = (None,) * len(_STORAGE_FIELDS)
_storage_of = attrgetter(*_STORAGE_FIELDS)


KUEUE = ("ClusterQueue", "Cohort", "ResourceFlavor", "AdmissionCheck")
KUEUE_OF_NAMESPACE = ("QueuedWorkload", "LocalQueue", "ProvisioningRequest")
GATES = tuple(kind.name for kind in GATE_KINDS if kind.name != "PendingWorkloadsSummary")
"""The kinds of controllers that hold pods back. They are asked for only where the server has their groups."""

_SPECIAL = pattern(r"[\\,=]")
_KUEUE = "kueue.x-k8s.io/"
_EVENTS_BY_NAME = 20
_NAMESPACES_BY_NAME = 5
_SYSTEM = "kube-system"
_NODE_POOL = "karpenter.sh/nodepool"
_STATUS = "cluster-autoscaler-status"


class Need(NamedTuple):
    """One list: of a kind in all namespaces or (not empty) in one, of all objects or those of a field selector."""

    kind: str
    namespace: str = ""
    fields: str = ""


def needs(pods: Sequence[Pod], also: Iterable[Need] = ()) -> frozenset[Need]:
    """Return the lists besides nodes and pods for all of these pods together, and those that are wanted `also`.

    The pods are not asked about kinds of which all objects are wanted.
    """
    wanted = {*map(Need, ALWAYS), *also}

    def lacks(kinds: Iterable[str]) -> bool:
        return not wanted.issuperset(map(Need, kinds))

    if any(pod.spec.preemption_policy != "Never" for pod in pods):
        wanted.add(Need("PodDisruptionBudget"))
    if lacks(SELECTORS):
        wanted.update(_default_selectors([pod.metadata for pod in pods if not pod.spec.topology_spread_constraints]))
    if lacks(STORAGE) and any(map(has_storage, pods)):
        wanted.update(map(Need, STORAGE))
    if lacks(DEVICES) and _ask_for_devices(pods):
        wanted.update(map(Need, DEVICES))
    grouped = [pod for pod in pods if pod.spec.scheduling_group is not None or pod.spec.workload_ref is not None]
    wanted.update(Need(kind, pod.metadata.namespace) for pod in grouped for kind in GROUPS)
    return frozenset(wanted)


def needless(pods: Sequence[Pod]) -> frozenset[str]:
    """Return the kinds that placing these pods does not look at, of those that placing others may.

    Pods that have an owner depend on what the cluster has of it already: its selector, its template, its other pods.
    """
    workloads = () if any(pod.metadata.owner_references for pod in pods) else (*SELECTORS, *WORKLOADS)
    return frozenset({"Event", *STORAGE, *DEVICES, *workloads} - {need.kind for need in needs(pods)})


def gate_needs(held: Iterable[KubernetesObject]) -> tuple[Need, ...]:
    """Return the lists that tell why pods and suspended Jobs are held back; none for those that nothing holds."""
    wanted: dict[Need, None] = {}
    for item in filter(_may_be_held, held):
        wanted.update(dict.fromkeys(_of_held(item)))
    return tuple(wanted)


def _of_held(item: KubernetesObject) -> Iterable[Need]:
    meta, namespace = item.metadata, item.namespace
    owner = meta.controller
    if is_of_kueue(item):
        yield from (Need(kind, namespace) for kind in KUEUE_OF_NAMESPACE)
        yield from map(Need, KUEUE)
        if owner is not None and owner.kind == "Job":
            yield _named("Job", namespace, owner.name)
    if isinstance(item, Pod) and item.provisioning_request:
        yield Need("ProvisioningRequest", namespace)
    for holder in HOLDERS:
        if any(names_of(holder, meta)) or any(queues_of(holder, meta)):
            yield Need(holder.kind.__name__, namespace)
            yield from (Need(kind.__name__) for kind in (holder.queue,) if kind is not None)


def _may_be_held(item: KubernetesObject) -> bool:
    """Report whether it is a suspended Job, a pending pod with gates or a request for room, or another scheduler's."""
    if not isinstance(item, Pod):
        return isinstance(item, Job) and item.spec.suspend is True
    if item.spec.node_name or item.has_ended:
        return False
    is_anothers = item.spec.scheduler_name not in {"", DEFAULT_SCHEDULER_NAME}
    return bool(item.spec.scheduling_gates or item.provisioning_request) or is_anothers


def is_of_kueue(item: KubernetesObject) -> bool:
    """Report whether Kueue may hold it: a pod by a gate, a Job by suspending it."""
    return not isinstance(item, Pod) or any(gate.name.startswith(_KUEUE) for gate in item.spec.scheduling_gates)


def local_queues(held: Iterable[KubernetesObject], read: Iterable[KubernetesObject]) -> set[tuple[str, str]]:
    """Return namespace and name of the LocalQueues that labels name, or the Workloads of the pods, Jobs and JobSets."""
    meta = [item.metadata for item in held]
    uids = {uid for each in meta for uid in (each.uid, *(owner.uid for owner in each.owner_references))} - {""}
    sets = {(each.namespace, name) for each in meta if (name := each.labels.get(JOB_SET))}
    found = {(each.namespace, name) for each in meta if (name := each.labels.get(QUEUE_NAME))}
    for item in read:
        if isinstance(item, QueuedWorkload) and item.spec.queue_name:
            owners = item.metadata.owner_references
            if any(each.uid in uids or (item.namespace, each.name) in sets for each in owners):
                found.add((item.namespace, item.spec.queue_name))
    return found


def autoscaler_needs(pods: Iterable[Pod], nodes: Sequence[Node], everybody: Iterable[Pod]) -> tuple[Need, ...]:
    """Return the lists that tell which node an autoscaler would make for pods without one, if it made any of the nodes.

    cluster-autoscaler is known by its pod, or by the labels of providers that hide it.
    """
    return () if all(pod.spec.node_name for pod in pods) else autoscaler_evidence(nodes, everybody)


def autoscaler_evidence(nodes: Sequence[Node], everybody: Iterable[Pod]) -> tuple[Need, ...]:
    """Return the lists that tell what the autoscaler of these nodes would do."""
    from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import AKS, GKE

    labels = {label for node in nodes for label in node.metadata.labels}
    wanted = dict.fromkeys(map(Need, FOR_NEW_NODES)) if _NODE_POOL in labels else {}
    own = [pod for pod in everybody if any(map(is_autoscaler, pod.spec.containers))]
    if own or not labels.isdisjoint((GKE, *AKS)):
        names = (_named("ConfigMap", pod.metadata.namespace, name) for pod in own for name in _mounted(pod))
        status = (_named("ConfigMap", namespace, _STATUS) for namespace in {_SYSTEM, *(each.namespace for each in own)})
        wanted.update(dict.fromkeys((Need("DaemonSet"), *names, *sorted(status))))
    return tuple(wanted)


def _default_selectors(pods: Iterable[ObjectMeta]) -> Iterable[Need]:
    """The services of the namespaces, and the pods' own controllers (helper.DefaultSelector)."""
    owners: set[tuple[str, str, str]] = set()
    for meta in pods:
        owner = meta.controller
        owners.add((meta.namespace, *((owner.kind, owner.name) if owner is not None else ("", ""))))
    yield from {Need("Service", namespace) for namespace, _, _ in owners}
    yield from (_named(kind, namespace, name) for namespace, kind, name in owners if kind in SELECTORS)


def event_needs(pods: Sequence[Pod]) -> tuple[Need, ...]:
    """Return the lists of events about the pods and their claims: asked by name if they are few."""
    namespaces = {pod.metadata.namespace for pod in pods}
    if len(pods) > _EVENTS_BY_NAME:
        asked = sorted(namespaces) if len(namespaces) <= _NAMESPACES_BY_NAME else [""]
        return tuple(Need("Event", namespace, "involvedObject.kind=Pod") for namespace in asked)
    about = [(pod.metadata.namespace, name) for pod in pods for name in (pod.name, *_claims(pod))]
    return tuple(Need("Event", namespace, f"involvedObject.name={name}") for namespace, name in dict.fromkeys(about))


def lacking_pods(events: Iterable[Listed], *, with_pods: bool) -> tuple[Need, ...]:
    """The workloads that could not create pods, as these events say; `with_pods`, those that it has as well."""
    said = (item for listed in events for item in listed.objects if isinstance(item, Event))
    about = [event.about for event in said if event.reason == "FailedCreate" and event.about.kind in SELECTORS]
    wanted = dict.fromkeys(_named(each.kind, each.namespace, each.name) for each in about)
    namespaces = dict.fromkeys(each.namespace for each in about) if with_pods else {}
    return (*wanted, *(Need("Pod", namespace, NOT_SUCCEEDED) for namespace in namespaces))


def _claims(pod: Pod) -> Iterable[str]:
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name
        elif volume.ephemeral is not None:
            yield f"{pod.name}-{volume.name}"


def scheduler_needs(pods: Iterable[Pod]) -> tuple[Need, ...]:
    """The lists that tell how the kube-schedulers among all pods are configured and which of them serves.

    Where there is none to be seen, what a managed control plane says of its own, and whether it renews its Lease.
    """
    schedulers = [pod for pod in pods if scheduler_container(pod) is not None]
    if not schedulers:
        return (Need("Scheduler"), Need("SchedulerConfiguration"), Need("Lease", _SYSTEM))
    config_maps = (
        _named("ConfigMap", pod.metadata.namespace, name) for pod in schedulers for name in _config_maps(pod)
    )
    namespaces = sorted({_SYSTEM, *(pod.metadata.namespace for pod in schedulers)})
    return (*dict.fromkeys(config_maps), *(Need("Lease", namespace) for namespace in namespaces))


def _config_maps(pod: Pod) -> Iterable[str]:
    """The ConfigMaps that may hold the configuration of the pod's program."""
    container = scheduler_container(pod)
    if container is not None:
        yield from static_pod_config_maps(pod, flags(container).get("config", ""))
    yield from _mounted(pod)


def _mounted(pod: Pod) -> Iterable[str]:
    return (volume.config_map.name for volume in pod.spec.volumes if volume.config_map is not None)


def _named(kind: str, namespace: str, name: str) -> Need:
    return Need(kind, namespace, of_name(name))


def of_name(name: str) -> str:
    """The field selector of the objects of a name, whatever a person may have written for it (fields.EscapeValue)."""
    return "metadata.name=" + _SPECIAL.sub(r"\\\g<0>", name)


def has_storage(pod: Pod) -> bool:
    """Report whether any of its volumes concerns a volume plugin: a claim, a CSI driver or a disk of a cloud."""
    return bool(pod.spec.volumes) and any(_storage_of(volume) != _NO_STORAGE for volume in pod.spec.volumes)


def _ask_for_devices(pods: Sequence[Pod]) -> bool:
    return any(pod.spec.resource_claims for pod in pods) or any(map(is_dra_extended_resource_name, _requested(pods)))


def _requested(pods: Iterable[Pod]) -> set[str]:
    """The names of all resources that containers request or limit."""
    return {
        name
        for pod in pods
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for amounts in (container.resources.requests, container.resources.limits)
        for name in amounts
    }

"""Every kind that is read, in one place: its type, its plural, the API groups that serve it, and its scope."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api import (
    admission,
    apps,
    core,
    gate_holders,
    karpenter,
    kueue,
    pod,
    policy,
    resource,
    schedulers,
    scheduling,
    storage,
)

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject


class Kind(NamedTuple):
    """The facts about a kind that a reader needs.

    `also` are further names of its folder or file in the layouts that do not use the plural (all in lower case, without
    `-`, `_` and the group). `served_everywhere` says that every supported version of Kubernetes knows it, so that
    `kubectl get` may ask for it.
    """

    type: type[KubernetesObject]
    plural: str
    groups: frozenset[str]
    namespaced: bool = True
    also: tuple[str, ...] = ()
    served_everywhere: bool = True

    @property
    def name(self) -> str:
        """A name that no other kind has: that of its type."""
        return self.type.__name__

    @property
    def spelled(self) -> str:
        """The kind as objects spell it, which kinds of other groups may share."""
        return str(self.type.__struct_config__.tag)

    @property
    def resource(self) -> str:
        """The kind as `kubectl get` takes it: `pods`, `replicasets.apps`."""
        group = min(self.groups)
        return f"{self.plural}.{group}" if group else self.plural


CORE = frozenset({""})
STORAGE = frozenset({"storage.k8s.io"})
DEVICES = frozenset({"resource.k8s.io"})
BATCH = frozenset({"batch"})
SCHEDULING = frozenset({"scheduling.k8s.io"})
KARPENTER = frozenset({"karpenter.sh"})
KUEUE = frozenset({"kueue.x-k8s.io"})
VOLCANO = frozenset({"scheduling.volcano.sh"})
KAI = frozenset({"scheduling.run.ai"})


def _optional(*kinds: Kind) -> tuple[Kind, ...]:
    """The kinds as ones that few clusters have."""
    return tuple(kind._replace(served_everywhere=False) for kind in kinds)


GATE_KINDS = _optional(
    Kind(kueue.QueuedWorkload, "workloads", KUEUE),
    Kind(kueue.LocalQueue, "localqueues", KUEUE),
    Kind(kueue.ClusterQueue, "clusterqueues", KUEUE, namespaced=False),
    Kind(kueue.Cohort, "cohorts", KUEUE, namespaced=False),
    Kind(kueue.ResourceFlavor, "resourceflavors", KUEUE, namespaced=False),
    Kind(kueue.AdmissionCheck, "admissionchecks", KUEUE, namespaced=False),
    Kind(kueue.ProvisioningRequest, "provisioningrequests", frozenset({"autoscaling.x-k8s.io"})),
    Kind(kueue.PendingWorkloadsSummary, "localqueues/pendingworkloads", frozenset({"visibility.kueue.x-k8s.io"})),
    Kind(gate_holders.VolcanoPodGroup, "podgroups", VOLCANO),
    Kind(gate_holders.VolcanoQueue, "queues", VOLCANO, namespaced=False),
    Kind(gate_holders.CoschedulingPodGroup, "podgroups", frozenset({"scheduling.sigs.k8s.io"})),
    Kind(gate_holders.ElasticQuota, "elasticquotas", frozenset({"scheduling.sigs.k8s.io"})),
    Kind(gate_holders.KAIPodGroup, "podgroups", KAI),
    Kind(gate_holders.KAIQueue, "queues", KAI, namespaced=False),
    Kind(gate_holders.JobSet, "jobsets", frozenset({"jobset.x-k8s.io"})),
    Kind(gate_holders.LeaderWorkerSet, "leaderworkersets", frozenset({"leaderworkerset.x-k8s.io"})),
)
"""The kinds of controllers that hold pods back."""

KINDS: tuple[Kind, ...] = (
    Kind(core.Node, "nodes", CORE, namespaced=False),
    Kind(pod.Pod, "pods", CORE),
    Kind(core.Namespace, "namespaces", CORE, namespaced=False),
    Kind(core.Service, "services", CORE),
    Kind(core.Event, "events", frozenset({"", "events.k8s.io"})),
    Kind(core.ConfigMap, "configmaps", CORE),
    Kind(apps.ReplicationController, "replicationcontrollers", CORE),
    Kind(apps.ReplicaSet, "replicasets", frozenset({"apps", "extensions"})),
    Kind(apps.StatefulSet, "statefulsets", frozenset({"apps"})),
    Kind(apps.Deployment, "deployments", frozenset({"apps", "extensions"})),
    Kind(apps.DaemonSet, "daemonsets", frozenset({"apps", "extensions"})),
    Kind(apps.Job, "jobs", BATCH),
    Kind(apps.CronJob, "cronjobs", BATCH),
    Kind(admission.LimitRange, "limitranges", CORE),
    Kind(admission.ResourceQuota, "resourcequotas", CORE),
    Kind(admission.RuntimeClass, "runtimeclasses", frozenset({"node.k8s.io"}), namespaced=False),
    Kind(policy.PodDisruptionBudget, "poddisruptionbudgets", frozenset({"policy"}), also=("pdb", "pdbs")),
    Kind(policy.PriorityClass, "priorityclasses", SCHEDULING, namespaced=False),
    Kind(storage.PersistentVolume, "persistentvolumes", CORE, namespaced=False, also=("pv", "pvs")),
    Kind(storage.PersistentVolumeClaim, "persistentvolumeclaims", CORE, also=("pvc", "pvcs")),
    Kind(storage.StorageClass, "storageclasses", STORAGE, namespaced=False),
    Kind(storage.CSINode, "csinodes", STORAGE, namespaced=False),
    Kind(storage.CSIDriver, "csidrivers", STORAGE, namespaced=False),
    Kind(storage.CSIStorageCapacity, "csistoragecapacities", STORAGE),
    Kind(storage.VolumeAttachment, "volumeattachments", STORAGE, namespaced=False),
    Kind(resource.ResourceSlice, "resourceslices", DEVICES, namespaced=False, served_everywhere=False),
    Kind(resource.DeviceClass, "deviceclasses", DEVICES, namespaced=False, served_everywhere=False),
    Kind(resource.ResourceClaim, "resourceclaims", DEVICES, served_everywhere=False),
    Kind(resource.ResourceClaimTemplate, "resourceclaimtemplates", DEVICES, served_everywhere=False),
    Kind(resource.DeviceTaintRule, "devicetaintrules", DEVICES, namespaced=False, served_everywhere=False),
    Kind(scheduling.Workload, "workloads", SCHEDULING, served_everywhere=False),
    Kind(scheduling.PodGroup, "podgroups", SCHEDULING, served_everywhere=False),
    Kind(scheduling.CompositePodGroup, "compositepodgroups", SCHEDULING, served_everywhere=False),
    Kind(karpenter.NodePool, "nodepools", KARPENTER, namespaced=False, served_everywhere=False),
    Kind(karpenter.NodeClaim, "nodeclaims", KARPENTER, namespaced=False, served_everywhere=False),
    Kind(karpenter.NodeOverlay, "nodeoverlays", KARPENTER, namespaced=False, served_everywhere=False),
    *GATE_KINDS,
    Kind(schedulers.Lease, "leases", frozenset({"coordination.k8s.io"})),
    Kind(
        schedulers.Scheduler,
        "schedulers",
        frozenset({"config.openshift.io"}),
        namespaced=False,
        served_everywhere=False,
    ),
    Kind(
        schedulers.SchedulerConfiguration,
        "schedulerconfigurations",
        frozenset({"aks.azure.com"}),
        namespaced=False,
        served_everywhere=False,
    ),
    Kind(schedulers.SchedulerLog, "schedulerlogs", frozenset({"kubectl-sched"}), served_everywhere=False),
)

BY_NAME: dict[str, Kind] = {kind.name: kind for kind in KINDS}
BY_TYPE: dict[type[KubernetesObject], Kind] = {kind.type: kind for kind in KINDS}
BY_SPELLING: dict[str, tuple[Kind, ...]] = {}
for _kind in KINDS:
    BY_SPELLING[_kind.spelled] = (*BY_SPELLING.get(_kind.spelled, ()), _kind)

POD_MAKERS = (
    pod.Pod,
    apps.Deployment,
    apps.ReplicaSet,
    apps.StatefulSet,
    apps.Job,
    apps.CronJob,
    apps.DaemonSet,
    apps.ReplicationController,
)
"""Pods, and the workloads whose controllers make pods."""

SERVED = {
    kind.__name__: next(
        f"{group}/v1" if group else "v1" for group in ("", "batch", "apps") if group in BY_TYPE[kind].groups
    )
    for kind in POD_MAKERS
}
"""The apiVersion of each kind that makes pods: all supported versions of Kubernetes serve no other."""


@cache
def serves(kind: Kind, api_version: str) -> bool:
    """Report whether an object of that apiVersion is of this kind, and not of a namesake of another group.

    An absent apiVersion is taken as the kind's own: lists of some layouts have none.
    """
    group = api_version.rpartition("/")[0] if "/" in api_version else ""
    return not api_version or group in kind.groups


def kind_of(api_version: str, name: str) -> Kind | None:
    """The kind of that name, None if it is not read or belongs to another API group."""
    return next((kind for kind in BY_SPELLING.get(name, ()) if serves(kind, api_version)), None)

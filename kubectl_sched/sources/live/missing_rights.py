"""The meaning of a missing right for the answer, and the RBAC rule that would give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_sched.sources.dump.dump import Forbidden

_STORAGE = "the volume plugins judge without them and may reject too much"
_DEVICES = "DynamicResources judges without them and may reject too much"
_GROUPS = "the pod is judged as if its group were not there"
_GATES = "what the controller that holds the pod back says of it is not shown"
_SPREADING = "points for spreading over hosts and zones may be missing"

_MEANINGS = {
    "Node": "without the nodes nothing can be replayed",
    "Pod": "without the pods of all namespaces nobody knows how full the nodes are, so nothing can be replayed",
    "Namespace": "a namespaceSelector in an affinity term sees namespaces without labels",
    "PodDisruptionBudget": "preemption may choose another node",
    "Service": _SPREADING,
    "ReplicationController": _SPREADING,
    "ReplicaSet": _SPREADING,
    "StatefulSet": _SPREADING,
    "PersistentVolumeClaim": _STORAGE,
    "PersistentVolume": _STORAGE,
    "StorageClass": _STORAGE,
    "CSINode": "limits on attached volumes are not checked",
    "CSIDriver": "storage capacity may be checked although the driver does not ask for it, or the other way round",
    "CSIStorageCapacity": "room for new volumes is not known, so VolumeBinding may reject too much",
    "VolumeAttachment": "limits on attached volumes may be reached later than in truth",
    "ResourceClaim": _DEVICES,
    "ResourceSlice": _DEVICES,
    "DeviceClass": _DEVICES,
    "DeviceTaintRule": "devices that an administrator tainted look free",
    "ResourceClaimTemplate": _DEVICES,
    "Workload": _GROUPS,
    "PodGroup": _GROUPS,
    "CompositePodGroup": _GROUPS,
    "ConfigMap": "a scheduler's configuration, or cluster-autoscaler's status, in one is not known",
    "Lease": "which of several schedulers serves is not known",
    "NodePool": "the node that Karpenter would make is not known",
    "NodeClaim": "nodes that Karpenter is making are not seen",
    "NodeOverlay": "NodeOverlays are left out",
    "DaemonSet": "the pods that daemons would put on a new node are not counted",
    "Scheduler": "the profile that OpenShift's scheduler runs is not known; --config gives it",
    "SchedulerConfiguration": "a configuration of AKS's scheduler is not known; --config gives it",
    "QueuedWorkload": _GATES,
    "LocalQueue": _GATES,
    "ClusterQueue": _GATES,
    "Cohort": "the quotas of the cohort itself are not shown",
    "ResourceFlavor": "what Kueue would set on the pod is not known, so it is not replayed without its gate",
    "AdmissionCheck": "the state of the admission checks' controllers is not shown",
    "ProvisioningRequest": "what cluster-autoscaler says of the room that was asked for is not shown",
    "PendingWorkloadsSummary": "the place in Kueue's queues is not known",
    "VolcanoPodGroup": _GATES,
    "VolcanoQueue": _GATES,
    "CoschedulingPodGroup": _GATES,
    "ElasticQuota": _GATES,
    "KAIPodGroup": _GATES,
    "KAIQueue": _GATES,
    "JobSet": _GATES,
    "LeaderWorkerSet": _GATES,
    "Job": "suspended Jobs cannot be explained, and the Workload of a Job's pods may not be found",
    "Event": "what the schedulers said of the pod cannot be shown",
}


def meaning(kind: str) -> str:
    """Say how the answer errs without the kind."""
    return _MEANINGS.get(kind, "the answer does without them")


def in_words(forbidden: Forbidden) -> str:
    """One sentence: what, what it means, and what would allow it."""
    group = f".{forbidden.group}" if forbidden.group else ""
    where = f" in namespace {forbidden.namespace}" if forbidden.namespace else ""
    return (
        f"not allowed to list {forbidden.plural}{group}{where}, so {meaning(forbidden.kind)}; the missing rule: "
        f"{forbidden.rule}"
    )

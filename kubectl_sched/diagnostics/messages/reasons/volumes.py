"""Volumes and their claims: VolumeBinding, VolumeRestrictions, VolumeZone and the limits of attached volumes."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import ALWAYS, BEFORE, Reason

_BINDING = "VolumeBinding"
_LIMITS = "NodeVolumeLimits"
_RESTRICTIONS = "VolumeRestrictions"
_ZONE = "VolumeZone"

_BINDING_PLUGIN = "plugins/volumebinding/volume_binding.go"
_BINDER = "plugins/volumebinding/binder.go"
_CLAIM = "look at the claim: kubectl describe pvc"

VOLUMES: Final = (
    Reason(
        "Unbound immediate claims",
        _BINDING,
        {
            "pod has unbound immediate PersistentVolumeClaims": ALWAYS,
            "unbound immediate PersistentVolumeClaims": BEFORE,
            "pod has unbound immediate PersistentVolumeClaims (repeated <...> times)": BEFORE,
        },
        "a claim of the pod has no volume yet, and its storage class binds before scheduling",
        "There is no default storage class, the class does not exist, its provisioner does not run, or no volume "
        "suits.",
        "see why it is pending with kubectl describe pvc: perhaps no provisioner, or no such storage class",
        f"{_BINDING_PLUGIN}: PreFilter",
    ),
    Reason(
        "No volume to bind",
        _BINDING,
        {"node(s) didn't find available persistent volumes to bind": ALWAYS},
        "no volume that is free and can be reached from the node suits the pod's claim",
        "Local volumes: all of the node's are taken, or too small, or of another class. A class without a provisioner "
        "makes none. A Retain volume stays Released until its claimRef is removed.",
        "create one, correct the claim's class, size or access mode, or have it provisioned",
        f"{_BINDER}: findMatchingVolumes",
    ),
    Reason(
        "Volume is elsewhere",
        _BINDING,
        {
            "node(s) didn't match PersistentVolume's node affinity": "1.33 to 1.37",
            "node(s) had volume node affinity conflict": "1.22 to 1.32",
        },
        "the pod's volume cannot be reached from the node: it is of another zone or node",
        "A disk was made in one zone, and the nodes there are full, gone or unsuitable now; or it is a local volume.",
        "make room where the volume is, or move the data; kubectl get pv -o yaml shows its nodeAffinity",
        f"{_BINDER}: checkBoundClaims",
    ),
    Reason(
        "Not enough free storage",
        _BINDING,
        {"node(s) did not have enough free storage": ALWAYS},
        "the storage driver has too little room for a new volume that the node can reach",
        "The driver publishes CSIStorageCapacity objects, and none of the node's segment is large enough, or there "
        "is none.",
        "free storage, or use another storage class; kubectl get csistoragecapacities -A",
        f"{_BINDER}: hasEnoughCapacity",
    ),
    Reason(
        "Volume is gone",
        _BINDING,
        {
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": "1.23 to 1.37",
            "pvc(s) bound to non-existent pv(s)": "1.22",
            'persistentvolumeclaim "<claim>" bound to non-existent persistentvolume "<volume>"': "1.23 to 1.37",
        },
        "a claim of the pod names a volume that is gone",
        "Somebody deleted the PersistentVolume below the claim; the claim's phase is Lost.",
        "restore the PersistentVolume, or make the claim anew",
        f"{_BINDING_PLUGIN}: podHasPVCs; {_BINDER}: checkBoundClaims",
    ),
    Reason(
        "Claim does not exist",
        _BINDING,
        {
            'persistentvolumeclaim "<claim>" not found': ALWAYS,
            'looking up PVC <...>: persistentvolumeclaim "<claim>" not found': "1.23 to 1.37",
        },
        "the pod's claim {claim} does not exist in its namespace",
        "A misspelt claimName, another namespace, or the claim is applied after the pod.",
        "create the claim, or correct the name in the pod",
        f"{_BINDING_PLUGIN}: podHasPVCs",
    ),
    Reason(
        "Claim is being deleted",
        _BINDING,
        {'persistentvolumeclaim "<claim>" is being deleted': ALWAYS},
        "the pod's claim {claim} is being deleted",
        "The claim was deleted while a pod used it, or before its StatefulSet made the pod anew.",
        "wait until it is gone, and create it anew",
        f"{_BINDING_PLUGIN}: podHasPVCs",
    ),
    Reason(
        "Claim of an ephemeral volume is not there yet",
        _BINDING,
        {
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "<claim>"': "1.23 to 1.37",
        },
        "the claim of an ephemeral volume is about to be made",
        "kube-controller-manager makes the claim after the pod; a quota can stop it, or its controller is off.",
        "wait: this passes by itself; if not, kubectl get events says why the claim is not made",
        f"{_BINDING_PLUGIN}: podHasPVCs",
    ),
    Reason(
        "Claim belongs to something else",
        _BINDING,
        {
            "PVC <...> was not created for pod <...>": "1.23 to 1.37",
            'persistentvolumeclaim "<...>" was not created for the pod': "1.22",
        },
        "a claim has the name of the pod's ephemeral volume, but belongs to something else",
        "The claim of an ephemeral volume is called POD-VOLUME; another claim of that name was there first.",
        "rename one of them",
        "k8s.io/component-helpers/storage/ephemeral: VolumeIsForPod",
    ),
    Reason(
        "Something a volume refers to does not exist",
        _BINDING,
        {
            'persistentvolume "<name>" not found': ALWAYS,
            'storageclass.storage.k8s.io "<name>" not found': ALWAYS,
            'storageclass "<name>" not found': BEFORE,
            'csinode.storage.k8s.io "<name>" not found': ALWAYS,
            'failed to find storage class "<name>"': ALWAYS,
            'no class for claim "<name>"': ALWAYS,
        },
        "something that the pod's volume refers to does not exist: {name}",
        "A storage class or a volume was deleted or misspelt, or the node's driver has not registered yet.",
        _CLAIM,
        f"{_BINDER}: FindPodVolumes; plugins/volumezone/volume_zone.go: getPVbyPod",
    ),
    Reason(
        "Node attaches no more volumes",
        _LIMITS,
        {"node(s) exceed max volume count": ALWAYS},
        "the node cannot attach any more volumes of the pod's driver",
        "Clouds limit disks a machine; with VolumeAttachments that are left behind the limit is reached earlier.",
        "use more nodes, or larger ones; kubectl get csinodes -o yaml shows the limits",
        "plugins/nodevolumelimits/csi.go: Filter (to 1.30 also non_csi.go)",
    ),
    Reason(
        "Storage driver is not on the node",
        _LIMITS,
        {"<driver> CSI driver is not installed on the node": "1.35 to 1.37"},
        "the storage driver {driver} does not run on the node",
        "The driver's DaemonSet does not tolerate the node's taints, or has not registered on a new node yet.",
        "let the driver's DaemonSet run there",
        "plugins/nodevolumelimits/csi.go: Filter",
    ),
    Reason(
        "Disk is in use",
        _RESTRICTIONS,
        {"node(s) had no available disk": ALWAYS},
        "a pod there already uses the same disk, which only one may write to",
        "Two pods name one GCE, RBD, iSCSI or EBS disk in their own volumes.",
        "share it read-only, or end the other pod",
        "plugins/volumerestrictions/volume_restrictions.go: isVolumeConflict",
    ),
    Reason(
        "Claim is for one pod only",
        _RESTRICTIONS,
        {
            "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode": "1.22 to "
            "1.33",
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
            "another pod": "1.34 to 1.37",
        },
        "another pod uses the pod's claim, which is for one pod only (ReadWriteOncePod)",
        "A Deployment's rollout starts the new pod before the old one is gone, or two pods share the claim.",
        "end the other pod, or use another claim; a Deployment needs strategy: Recreate",
        "plugins/volumerestrictions/volume_restrictions.go: satisfyReadWriteOncePod",
    ),
    Reason(
        "Volume is of another zone",
        _ZONE,
        {"node(s) had no available volume zone": ALWAYS},
        "the pod's volume is in another zone than the node",
        "A disk of one zone, and the nodes there are full, gone or unsuitable now.",
        "make room in the volume's zone, or move the data",
        "plugins/volumezone/volume_zone.go: Filter",
    ),
    Reason(
        "Claim or class is incomplete",
        _ZONE,
        {
            "PersistentVolumeClaim had no name": ALWAYS,
            "PersistentVolumeClaim had no pv name and storageClass name": ALWAYS,
            "PersistentVolume had no name": ALWAYS,
            "VolumeBindingMode not set for StorageClass <...>": ALWAYS,
        },
        "the pod's claim or its storage class is incomplete",
        "Objects that were written past the API server's defaults, or are half made.",
        _CLAIM,
        "plugins/volumezone/volume_zone.go: getPVbyPod",
    ),
    Reason(
        "Volume was not bound in time",
        _BINDING,
        {
            "binding volumes: timed out waiting for the condition": "1.22 to 1.26",
            "binding volumes: context deadline exceeded": "1.27 to 1.37",
            'running PreBind plugin "VolumeBinding": binding volumes: <...>': ALWAYS,
            'running "VolumeBinding" prebind plugin <...>': BEFORE,
            "binding volumes: <...>": ALWAYS,
        },
        "a node was chosen, but the pod's volume was not bound in time",
        "The provisioner is slow, does not run, or fails for the chosen node; bindTimeoutSeconds is 600 by default.",
        _CLAIM,
        f"{_BINDER}: BindPodVolumes, checkBindings",
    ),
    Reason(
        "Provisioning failed",
        _BINDING,
        {
            'provisioning failed for PVC "<claim>"': ALWAYS,
            'selectedNode annotation reset for PVC "<claim>"': ALWAYS,
        },
        "a node was chosen, but no volume could be provisioned there for claim {claim}; the search begins anew",
        "The storage of that zone is exhausted, or a quota of the cloud is.",
        _CLAIM,
        f"{_BINDER}: checkBindings",
    ),
)

"""What each reason that kube-scheduler gives means, in plain words, and what usually helps.

Every text of its in-tree plugins from 1.33 to 1.37 is here, with the older spellings back to 1.22. The words are ours;
the patterns are the texts of pkg/scheduler/framework/plugins.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Meaning(NamedTuple):
    """A reason's plugin, what it says, and what usually helps (empty where nothing need be done)."""

    plugin: str
    says: str
    helps: str = ""


class _Rule(NamedTuple):
    pattern: str
    plugin: str
    says: str
    helps: str = ""


_DRA = "DynamicResources"
_GANG = "GangScheduling"
_BINDING = "VolumeBinding"
_LIMITS = "NodeVolumeLimits"
_PREEMPTION = "DefaultPreemption"
_SPREAD = "PodTopologySpread"
_NAME = r'"?([^"\s]+?)"?'

_WAIT = "wait: this passes by itself"
_ROOM = "ask for less, or free or add room"
_CLAIM = "look at the claim: kubectl describe pvc"
_RESOURCE_CLAIM = "look at the claim: kubectl describe resourceclaim"

_NODES = (
    _Rule(
        r"Insufficient (\S+)",
        "NodeResourcesFit",
        "not enough {0} is left: the requests of the pods there, not their use, leave less than this pod requests",
        "lower the request, remove pods, or add nodes; kubectl describe node shows what is requested",
    ),
    _Rule(
        r"Too many pods",
        "NodeResourcesFit",
        "the node already runs as many pods as its kubelet allows (status.allocatable.pods)",
        "use other or more nodes, or raise the kubelet's maxPods",
    ),
    _Rule(
        r"Pod has a restartable init container and the SidecarContainers feature is disabled",
        "NodeResourcesFit",
        "the pod has a sidecar, which this kube-scheduler does not know how to count",
        "turn the feature SidecarContainers on, or run no sidecar",
    ),
    _Rule(
        r"node\(s\) had (?:untolerated )?taint \{(.*?): ?(.*?)\}(?:, that the pod didn't tolerate)?",
        "TaintToleration",
        "the node repels pods that do not tolerate its taint {0}={1}",
        "add a toleration for {0} if the pod belongs there, or remove the taint",
    ),
    _Rule(
        r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)",
        "TaintToleration",
        "the node repels pods that do not tolerate its taints",
        "see the taints with kubectl describe node; tolerate them if the pod belongs there",
    ),
    _Rule(
        r"node\(s\) were unschedulable",
        "NodeUnschedulable",
        "the node is cordoned",
        "kubectl uncordon it when its maintenance is over",
    ),
    _Rule(
        r"node\(s\) had unknown conditions",
        "NodeUnschedulable",
        "the scheduler did not find the node's own data",
        _WAIT,
    ),
    _Rule(
        r"node\(s\) didn't match (?:Pod's node affinity(?:/selector)?|node selector|node affinity)",
        "NodeAffinity",
        "the node's labels are not what the pod's nodeSelector or required node affinity asks for",
        "compare them with kubectl get nodes --show-labels; label a node or change the pod",
    ),
    _Rule(
        r"node\(s\) didn't match scheduler-enforced node affinity",
        "NodeAffinity",
        "the node's labels are not what the scheduler's own configuration asks for (addedAffinity)",
        "choose another profile, or change NodeAffinityArgs.addedAffinity",
    ),
    _Rule(
        r"pod affinity terms conflict",
        "NodeAffinity",
        "the pod's node affinity names nodes in terms that exclude each other, so none is left",
        "correct the matchFields of the pod's node affinity",
    ),
    _Rule(
        r"node\(s\) didn't match the requested (?:node name|hostname)",
        "NodeName",
        "the pod wants one node by name (spec.nodeName), and this is another",
    ),
    _Rule(
        r"node\(s\) didn't have free ports for the requested pod ports",
        "NodePorts",
        "a pod there already has the host port that this pod asks for",
        "do without hostPort, choose another, or have fewer replicas than nodes",
    ),
    _Rule(
        r"node\(s\) didn't match Pod's required features",
        "NodeDeclaredFeatures",
        "the node's kubelet does not declare a feature that the pod uses",
        "upgrade the kubelets, or turn their feature on",
    ),
    _Rule(
        r"(?:node|node\(s\)) (?:is|are|were) filtered out by the prefilter result",
        "",
        "another plugin had already narrowed the search to other nodes",
    ),
    _Rule(
        r"node\(s\) didn't satisfy plugin(?:\(s\)|s) \[(.*?)\].*",
        "",
        "{0} had already narrowed the search to other nodes",
        "look at what the pod asks of that plugin, such as a node by name or a volume of one node",
    ),
)

_PODS = (
    _Rule(
        r"node\(s\) didn't match pod affinity rules",
        "InterPodAffinity",
        "near the node runs no pod that this pod must be near to, or the node lacks the label of the topology key",
        "check the labels of the pods that are meant, their namespace and the topologyKey",
    ),
    _Rule(
        r"node\(s\) didn't match pod anti-affinity rules",
        "InterPodAffinity",
        "near the node runs a pod that this pod must keep away from",
        "have more nodes or zones than such pods, or prefer instead of require",
    ),
    _Rule(
        r"node\(s\) didn't match pod affinity/anti-affinity(?: rules)?",
        "InterPodAffinity",
        "the pods near the node do not suit this pod's required affinity or anti-affinity",
        "check the labels of the pods that are meant, and the topologyKey",
    ),
    _Rule(
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        "InterPodAffinity",
        "a pod that runs near the node wants no pod such as this one near it",
        "find the pods whose anti-affinity matches this pod's labels",
    ),
    _Rule(
        r"node\(s\) didn't match pod topology spread constraints \(missing required label\)",
        _SPREAD,
        "the node lacks the label that the pod is to be spread over",
        "label the node, or choose a topologyKey that all nodes carry",
    ),
    _Rule(
        r"node\(s\) didn't match pod topology spread constraints",
        _SPREAD,
        "one more pod here would make the spread more uneven than maxSkew allows",
        "make room where there are fewer pods, raise maxSkew, or use whenUnsatisfiable: ScheduleAnyway",
    ),
)

_INVALID = (
    _Rule(
        r"parsing pod: (\w+)Terms: .*",
        "InterPodAffinity",
        "a label selector in the pod's affinity is not valid ({0})",
        "correct the selector's values in the pod's affinity terms",
    ),
)

_VOLUMES = (
    _Rule(
        r"(?:pod has )?unbound immediate PersistentVolumeClaims|pod has unbound immediate PersistentVolumeClaims.*",
        _BINDING,
        "a claim of the pod has no volume yet, and its storage class binds before scheduling",
        "see why it is pending with kubectl describe pvc: perhaps no provisioner, or no such storage class",
    ),
    _Rule(
        r"node\(s\) didn't find available persistent volumes to bind",
        _BINDING,
        "no volume that is free and can be reached from the node suits the pod's claim",
        "create one, correct the claim's class, size or access mode, or have it provisioned",
    ),
    _Rule(
        r"node\(s\) (?:didn't match PersistentVolume's node affinity|had volume node affinity conflict)",
        _BINDING,
        "the pod's volume cannot be reached from the node: it is of another zone or node",
        "make room where the volume is, or move the data; kubectl get pv -o yaml shows its nodeAffinity",
    ),
    _Rule(
        r"node\(s\) did not have enough free storage",
        _BINDING,
        "the storage driver has too little room for a new volume that the node can reach",
        "free storage, or use another storage class; kubectl get csistoragecapacities -A",
    ),
    _Rule(
        r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)|"
        rf'persistentvolumeclaim "(.*?)" bound to non-existent persistentvolume {_NAME}',
        _BINDING,
        "a claim of the pod names a volume that is gone",
        "restore the PersistentVolume, or make the claim anew",
    ),
    _Rule(
        rf"(?:looking up PVC .*: )?persistentvolumeclaim {_NAME} not found",
        _BINDING,
        "the pod's claim {0} does not exist in its namespace",
        "create the claim, or correct the name in the pod",
    ),
    _Rule(
        rf"persistentvolumeclaim {_NAME} is being deleted",
        _BINDING,
        "the pod's claim {0} is being deleted",
        "wait until it is gone, and create it anew",
    ),
    _Rule(
        rf"waiting for ephemeral volume controller to create the persistentvolumeclaim {_NAME}",
        _BINDING,
        "the claim of an ephemeral volume is about to be made",
        _WAIT,
    ),
    _Rule(
        rf'(?:persistentvolume|storageclass\S*|csinode\S*) "(.*?)" not found|failed to find storage class {_NAME}',
        _BINDING,
        "something that the pod's volume refers to does not exist: {0}",
        _CLAIM,
    ),
    _Rule(
        r"PVC .* was not created for pod .*",
        _BINDING,
        "a claim has the name of the pod's ephemeral volume, but belongs to something else",
        "rename one of them",
    ),
    _Rule(
        r"node\(s\) exceed max volume count",
        _LIMITS,
        "the node cannot attach any more volumes of the pod's driver",
        "use more nodes, or larger ones; kubectl get csinodes -o yaml shows the limits",
    ),
    _Rule(
        r"(\S+) CSI driver is not installed on the node",
        _LIMITS,
        "the storage driver {0} does not run on the node",
        "let the driver's DaemonSet run there",
    ),
    _Rule(
        r"node\(s\) had no available disk",
        "VolumeRestrictions",
        "a pod there already uses the same disk, which only one may write to",
        "share it read-only, or end the other pod",
    ),
    _Rule(
        r"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode|"
        r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        r"another pod",
        "VolumeRestrictions",
        "another pod uses the pod's claim, which is for one pod only (ReadWriteOncePod)",
        "end the other pod, or use another claim",
    ),
    _Rule(
        r"node\(s\) had no available volume zone",
        "VolumeZone",
        "the pod's volume is in another zone than the node",
        "make room in the volume's zone, or move the data",
    ),
    _Rule(
        r"PersistentVolume(?:Claim)? had no (?:name|pv name and storageClass name)|"
        r"VolumeBindingMode not set for StorageClass .*",
        "VolumeZone",
        "the pod's claim or its storage class is incomplete",
        _CLAIM,
    ),
    _Rule(
        r"(?:running PreBind plugin .*)?binding volumes: (?:timed out waiting for the condition|"
        r"context deadline exceeded)",
        _BINDING,
        "a node was chosen, but the pod's volume was not bound in time",
        _CLAIM,
    ),
    _Rule(
        rf"provisioning failed for PVC {_NAME}",
        _BINDING,
        "a node was chosen, but no volume could be provisioned there for claim {0}; the search begins anew",
        _CLAIM,
    ),
)

_DEVICES = (
    _Rule(
        r"cannot allocate all claims",
        _DRA,
        "the node's free devices are not enough for the pod's resource claims",
        "see what is there with kubectl get resourceslices, and who has it with kubectl get resourceclaims -A",
    ),
    _Rule(
        r"resourceclaim not available on the node",
        _DRA,
        "a device of the pod's claim is allocated already, and it is of other nodes",
        "make room where the device is",
    ),
    _Rule(
        r"resourceclaim in use", _DRA, "the pod's claim is reserved for as many others as it can be", _RESOURCE_CLAIM
    ),
    _Rule(
        r"resource claim (\S+) is in the process of being allocated",
        _DRA,
        "another pod is getting claim {0} right now",
        _WAIT,
    ),
    _Rule(
        r"request (\S+): device class (\S+) does not exist",
        _DRA,
        "request {0} of a claim names device class {1}, which does not exist",
        "create the class, or correct the claim",
    ),
    _Rule(
        r"resource claim (\S+), request (\S+): (?:has subrequests, but the DRAPrioritizedList feature is disabled|"
        r"unknown request type)",
        _DRA,
        "this kube-scheduler does not understand request {1} of claim {0}",
        "upgrade it, or turn the feature on",
    ),
    _Rule(
        r"could not find v1\.Pod's resource claims.*|pod resource claim .* not found.*|"
        r'could not find ResourceClaim ".*"|pod ".*": ResourceClaim not created yet|'
        r'(?:waiting for .*)?resourceclaim(?:\.resource\.k8s\.io)? "(?:.*?)" not found',
        _DRA,
        "a resource claim of the pod does not exist (yet)",
        "create it; one from a template is made by kube-controller-manager",
    ),
    _Rule(rf"resourceclaim {_NAME} is being deleted", _DRA, "the pod's claim {0} is being deleted", "make it anew"),
    _Rule(
        r"ResourceClaim (\S+) was not created for Pod .*",
        _DRA,
        "claim {0} has the name that the pod's own claim would have, but belongs to something else",
        "rename one of them",
    ),
    _Rule(
        r"(?:waiting for )?resource ?claim .*(?:not created|to be created).*",
        _DRA,
        "a resource claim of the pod is not there yet",
        _WAIT,
    ),
    _Rule(
        r"cannot fit resource|cannot schedule extended resource claim",
        _DRA,
        "neither the node itself nor its devices offer enough of an extended resource",
        _ROOM,
    ),
    _Rule(
        r"(?:deallocation(?: and deletion)?|deletion) of (?:PodGroup )?ResourceClaims? completed|"
        r"ResourceClaim unreserved for PodGroup",
        _DRA,
        "a claim was given back, so that it can be allocated for another node; the pod is tried again",
        _WAIT,
    ),
    _Rule(
        r"no new claims to deallocate",
        _DRA,
        "giving back resource claims would not help either (also said of pods without claims)",
    ),
    _Rule(r"still not schedulable", _DRA, "giving back resource claims did not help"),
    _Rule(r"plugin disabled", _DRA, "the plugin is off, so it has nothing to add"),
    _Rule(
        r"resource claim (\S+) allocation requires DRAOptionalNodeOperations feature on the node",
        _DRA,
        "the node's kubelet lacks the feature DRAOptionalNodeOperations, which claim {0} needs",
        "turn it on there",
    ),
    _Rule(
        r"pod level (?:limit|request) for (\S+) is insufficient to cover .*",
        _DRA,
        "the pod as a whole asks for less {0} than its containers and devices together",
        "raise the pod's own requests or limits",
    ),
    _Rule(
        r"node allocatable resource claim (\S+) .*|"
        r"claim (\S+): node-allocatable resource claim not referenced by any .*",
        _DRA,
        "claim {0} stands for the node's own resources and cannot be used like this",
        "give each pod a claim of its own, which a container refers to",
    ),
    _Rule(
        r"asked by caller to stop allocating devices: .*|node (\S+): timed out trying to allocate devices",
        _DRA,
        "the search for devices was ended before it came to this node",
        _WAIT,
    ),
    _Rule(
        r"(?:device binding (?:failed|timeout)|binding timeout).*",
        _DRA,
        "a node was chosen, but the device there did not become ready",
        _RESOURCE_CLAIM,
    ),
)

_QUEUE = (
    _Rule(
        r"waiting for scheduling gates: \[(.*)\]",
        "SchedulingGates",
        "the pod is held back by {0}; no scheduler looks at it before that is removed",
        "whoever put the gate there removes it",
    ),
    _Rule(
        r"waiting for minCount pods from a gang to (?:appear in scheduling queue|be scheduled)|"
        r"minCount \((\d+)\) (?:cannot be|is not yet) satisfied: .*",
        _GANG,
        "the pod's group is placed as a whole or not at all, and too few of its pods are there or fit",
        "create the missing pods, or make room for all of them",
    ),
    _Rule(
        r'waiting for pods\'?s? (?:pod\'s )?(?:workload|pod group) "(.*?)" to appear in scheduling queue|'
        r'waiting for pods\'s pod group "(.*?)" to appear in scheduling queue',
        _GANG,
        "the pod's group {0} does not exist yet",
        "create it",
    ),
    _Rule(
        r'waiting for composite pod group "(.*?)" tree to meet quorum',
        _GANG,
        "too few pods below group {0} are there or fit",
        "create the missing pods, or make room for all of them",
    ),
    _Rule(
        r"failed to build hierarchy snapshot: .*",
        _GANG,
        "the groups above the pod's own are not complete",
        "create the missing groups",
    ),
    _Rule(
        r"0/(\d+) placements are available, first placement status: .*",
        _GANG,
        "none of {0} places suits the pod's group as a whole",
        _ROOM,
    ),
    _Rule(
        r"waiting for the preemption for this pod(?: group)? to be finished",
        _PREEMPTION,
        "pods are being ended to make room for this one",
        _WAIT,
    ),
    _Rule(
        r"pod assigned to different node|pod resize fits, waiting for Kubelet actuation",
        "DeferredPodScheduling",
        "the pod runs, and waits for more resources on its own node",
        _WAIT,
    ),
    _Rule(
        r"node had resize preemption disabled",
        "DeferredPodScheduling",
        "the node does not let other pods be ended so that this one can grow",
        _ROOM,
    ),
)

_PREEMPTIONS = (
    _Rule(
        r"Preemption is not helpful for scheduling",
        _PREEMPTION,
        "ending other pods would not change what keeps this one out",
    ),
    _Rule(
        r"No preemption victims found for incoming (?:pod|preemptor)\.?",
        _PREEMPTION,
        "no pod there has a lower priority, so none may be ended for this one",
        "give the pod a higher priority (priorityClassName), or make room otherwise",
    ),
    _Rule(
        r"(?:preemption: )?not eligible due to preemptionPolicy=Never\.?",
        _PREEMPTION,
        "the pod's own priority class says that it ends no others (preemptionPolicy: Never)",
    ),
    _Rule(
        r"(?:preemption: )?not eligible due to a? ?terminating pods? on the nominated node\.?",
        _PREEMPTION,
        "pods are being ended on the node that the pod is nominated to",
        _WAIT,
    ),
    _Rule(
        r"(?:preemption: )?not eligible due to (?:placement-based pod group scheduling limitation|"
        r"workload aware preemption enabled)\.?",
        _PREEMPTION,
        "the pod's group preempts as a whole, so no pod of it does so alone",
    ),
    _Rule(
        r"(?:preemption: )?pod group for pod not found",
        _PREEMPTION,
        "the pod's group does not exist",
        "create it",
    ),
    _Rule(
        r"(?:preemption: )?(?:no candidate node for preemption|not eligible due to .*)",
        _PREEMPTION,
        "the scheduler does not end other pods for this one",
    ),
    _Rule(
        r"(?:node\(s\) )?(?:minAvailable|disruption|PodDisruptionBudget).* violated.*",
        _PREEMPTION,
        "ending pods there would break their PodDisruptionBudget",
        _ROOM,
    ),
    _Rule(
        r"not found", _PREEMPTION, "what the pod refers to does not exist, and ending other pods would not change that"
    ),
)

_WHOLE = (
    _Rule(
        r"no nodes available to schedule pods",
        "",
        "the cluster has no node at all",
        "add nodes, or see why they do not register",
    ),
    _Rule(r"skip schedule deleting pod: .*", "", "the pod is being deleted, so it is not scheduled any more"),
    _Rule(
        r"Operation cannot be fulfilled on .*the object has been modified.*|.*pod .* is already assigned to node.*",
        "DefaultBinder",
        "something else changed or bound the pod at the same moment",
        _WAIT,
    ),
    _Rule(
        r"profile not found for scheduler name (.*)",
        "",
        "this kube-scheduler serves no profile {0}",
        "correct the pod's schedulerName",
    ),
    _Rule(
        r'(?:running )?"?(\w+)"? (?:prefilter|filter|Filter|PreFilter) plugin.*',
        "{0}",
        "the plugin {0} failed with an error, so the whole attempt counts for nothing",
        "see kube-scheduler's log",
    ),
    _Rule(
        r'running (\w+) plugin[s:]? ?"?(\w*)"?.*',
        "{1}",
        "a plugin failed with an error at {0}, so the whole attempt counts for nothing",
        "see kube-scheduler's log",
    ),
    _Rule(
        r"(?:Post|post) \"?http.*|.*(?:connection refused|context deadline exceeded|no such host).*",
        "",
        "an extender did not answer (or another server that kube-scheduler asks)",
        "see that it runs",
    ),
)

_RULES = (*_INVALID, *_PODS, *_NODES, *_VOLUMES, *_DEVICES, *_QUEUE, *_PREEMPTIONS, *_WHOLE)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], _Rule], ...]:
    return tuple((re.compile(rule.pattern, re.DOTALL), rule) for rule in _RULES)


def meaning(reason: str) -> Meaning | None:
    """What a reason says; None if it is no text of kube-scheduler's own plugins."""
    for pattern, rule in _compiled():
        found = pattern.fullmatch(reason)
        if found is not None:
            parts = [part for part in found.groups() if part is not None] or [""]
            parts += [""] * (2 - len(parts))
            says = rule.says.format(*parts).removesuffix("=")
            return Meaning(rule.plugin.format(*parts), says, rule.helps.format(*parts))
    return None

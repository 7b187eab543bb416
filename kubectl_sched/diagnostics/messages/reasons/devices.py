"""Devices and the claims to them: DynamicResources."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import BEFORE, Reason

_DRA = "DynamicResources"
_PLUGIN = "plugins/dynamicresources/dynamicresources.go"
_ALLOCATOR = "k8s.io/dynamic-resource-allocation/structured: Allocate"
_CLAIMS = "k8s.io/dynamic-resource-allocation/resourceclaim: Name"
_NODE_ALLOCATABLE = "plugins/dynamicresources/nodeallocatabledynamicresources.go"

_LOOK = "look at the claim: kubectl describe resourceclaim"
_WAIT = "wait: this passes by itself"
_SINCE_26 = "1.26 to 1.37"

DEVICES: Final = (
    Reason(
        "Not enough devices",
        _DRA,
        {"cannot allocate all claims": "1.31 to 1.37", "insufficient resources": "1.30"},
        "the node's free devices are not enough for the pod's resource claims",
        "All devices are taken, a selector fits none, or the driver has not published what the node has.",
        "see what is there with kubectl get resourceslices, and who has it with kubectl get resourceclaims -A",
        f"{_PLUGIN}: Filter",
    ),
    Reason(
        "Devices are on other nodes",
        _DRA,
        {"resourceclaim not available on the node": _SINCE_26},
        "a device of the pod's claim is allocated already, and it is of other nodes",
        "Several pods share one claim, which ties them to the nodes of its devices.",
        "make room where the device is",
        f"{_PLUGIN}: Filter",
    ),
    Reason(
        "Claim is reserved for others",
        _DRA,
        {"resourceclaim in use": _SINCE_26},
        "the pod's claim is reserved for as many others as it can be",
        "More pods than status.reservedFor holds (256) share one claim.",
        _LOOK,
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Claim is being allocated",
        _DRA,
        {"resource claim <claim> is in the process of being allocated": "1.30 to 1.37"},
        "another pod is getting claim {claim} right now",
        "Two pods that share a claim are scheduled at the same moment.",
        _WAIT,
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Device class does not exist",
        _DRA,
        {
            "request <request>: device class <class> does not exist": "1.31 to 1.37",
            "resource class <class> does not exist": "1.29 to 1.30",
            "look up resource class: <class>": "1.26 to 1.30",
        },
        "a claim of the pod names device class {class}, which does not exist",
        "The driver, which brings the class, is not installed, or the name is misspelt.",
        "create the class, or correct the claim",
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Request is not understood",
        _DRA,
        {
            "resource claim <claim>, request <request>: has subrequests, but the DRAPrioritizedList feature is "
            "disabled": "1.33 to 1.37",
            "resource claim <claim>, request <request>: unknown request type": "1.34 to 1.37",
            "request <request>: unsupported request type": "1.31 to 1.37",
            "resourceclaim depends on disabled DRAControlPlaneController feature": "1.31",
            "Pod <...> claim <claim>: none of the supported fields are set": _SINCE_26,
            "PodGroup <...> claim <claim>: none of the supported fields are set": "1.36 to 1.37",
            "PodGroup <...>, spec.resourceClaim <claim>: none of the supported fields are set": "1.36 to 1.37",
            'pod "<...>", spec.resourceClaim "<claim>": none of the supported fields are set': _SINCE_26,
        },
        "this kube-scheduler does not understand what a claim of the pod asks for: {claim}",
        "The API server has a feature on that kube-scheduler has off, or is newer.",
        "upgrade it, or turn the feature on",
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Claim is not there",
        _DRA,
        {
            "could not find v1.Pod's resource claims<...>": _SINCE_26,
            'could not find ResourceClaim "<...>"': _SINCE_26,
            'pod "<...>": ResourceClaim not created yet': "1.28 to 1.37",
            '<...>, spec.resourceClaim "<...>": ResourceClaim not created yet': "1.28 to 1.37",
            "PodGroup <...>: ResourceClaim not created yet": "1.36 to 1.37",
            "pod resource claim <...> not found<...>": BEFORE,
            'resourceclaim "<...>" not found': _SINCE_26,
            'resourceclaim.resource.k8s.io "<...>" not found': _SINCE_26,
            'waiting for <...>resourceclaim.resource.k8s.io "<...>" not found': BEFORE,
            "waiting for dynamic resource controller to create the resourceclaim <...>": "1.26 to 1.27",
            "resourceclaim <...> not created yet": BEFORE,
            "waiting for resourceclaim <...> to be created": BEFORE,
        },
        "a resource claim of the pod does not exist (yet)",
        "The claim is applied after the pod, its template is missing, or kube-controller-manager has yet to make it.",
        "create it; one from a template is made by kube-controller-manager",
        _CLAIMS,
    ),
    Reason(
        "Resource claim is being deleted",
        _DRA,
        {'resourceclaim "<claim>" is being deleted': _SINCE_26},
        "the pod's claim {claim} is being deleted",
        "The claim was deleted while a pod still used it.",
        "make it anew",
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Resource claim belongs to something else",
        _DRA,
        {"ResourceClaim <claim> was not created for <...>": _SINCE_26},
        "claim {claim} has the name that the pod's own claim would have, but belongs to something else",
        "Before 1.28 claims from templates were called POD-CLAIM; another claim of that name was there first.",
        "rename one of them",
        "k8s.io/dynamic-resource-allocation/resourceclaim: IsForPod",
    ),
    Reason(
        "Resource driver has not answered",
        _DRA,
        {
            "waiting for resource driver to allocate resource": "1.26 to 1.29",
            "waiting for resource driver to provide information": "1.26 to 1.31",
            "waiting for resource driver": "1.30 to 1.31",
            "unallocated immediate resourceclaim": "1.26 to 1.30",
            "resourceclaim must be reallocated": "1.26 to 1.31",
            "resourceclaim cannot be allocated for the node (unsuitable)": "1.26 to 1.31",
            "excluded by resource class node filter": "1.26 to 1.30",
            "excluded by device class node filter": "1.31",
        },
        "the driver's own controller decides about the claim (classic DRA), and has not, or not for this node",
        "Classic DRA, which 1.32 removed: kube-scheduler and the driver's controller negotiate through "
        "PodSchedulingContext objects.",
        "see that the driver's controller runs: kubectl describe podschedulingcontext",
        f"{_PLUGIN}: PreFilter, Filter, Reserve",
    ),
    Reason(
        "Parameters of a claim",
        _DRA,
        {
            "class parameters <name> not found": "1.30",
            "claim parameters <name> not found": "1.30",
            "generated class parameters for <name> not found": "1.30",
            "generated claim parameters for <name> not found": "1.30",
        },
        "the parameters {name} that a claim or its class refers to do not exist",
        "The driver makes them out of its own objects; it does not run, or the reference is misspelt.",
        "create the parameters, or correct the reference",
        f"{_PLUGIN}: PreFilter",
    ),
    Reason(
        "Extended resource by devices",
        _DRA,
        {
            "cannot fit resource": "1.34 to 1.37",
            "cannot schedule extended resource claim": "1.34 to 1.37",
        },
        "neither the node itself nor its devices offer enough of an extended resource",
        "The resource is offered by a device class, and all such devices of the node are taken.",
        "ask for less, or free or add room",
        f"{_PLUGIN}: Filter",
    ),
    Reason(
        "Claims were given back",
        _DRA,
        {
            "deallocation of ResourceClaim completed": "1.30 to 1.37",
            "deletion of ResourceClaim completed": "1.34 to 1.37",
            "deallocation and deletion of ResourceClaims completed": "1.37",
            "deallocation of PodGroup ResourceClaim completed": "1.37",
            "ResourceClaim unreserved for PodGroup": "1.36 to 1.37",
        },
        "a claim was given back, so that it can be allocated for another node; the pod is tried again",
        "The claim was allocated in an earlier attempt, and its node does not suit the pod any more.",
        _WAIT,
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "No claims to give back",
        _DRA,
        {"no new claims to deallocate": "1.26 to 1.36"},
        "giving back resource claims would not help either (also said of pods without claims)",
        "PostFilter asks each of its plugins whether it could make room; this is the answer of DynamicResources, and "
        "from "
        "1.34 to 1.36 it stands in most messages.",
        "",
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "Giving back claims did not help",
        _DRA,
        {"still not schedulable": "1.26 to 1.36"},
        "giving back resource claims did not help",
        "The pod has claims, but none that is allocated and in nobody's use keeps it out.",
        "",
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "Plugin is off",
        _DRA,
        {"plugin disabled": "1.26 to 1.36"},
        "the plugin is off, so it has nothing to add",
        "A configuration names DynamicResources, and the feature DynamicResourceAllocation is off.",
        "",
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "Node operations are optional",
        _DRA,
        {"resource claim <claim> allocation requires DRAOptionalNodeOperations feature on the node": "1.37"},
        "the node's kubelet lacks the feature DRAOptionalNodeOperations, which claim {claim} needs",
        "A device that needs no work on the node was allocated, and the kubelet is older or has the feature off.",
        "turn it on there",
        f"{_PLUGIN}: Filter",
    ),
    Reason(
        "Pod level resources do not cover devices",
        _DRA,
        {
            "pod level request for <resource> is insufficient to cover <...>": "1.36 to 1.37",
            "pod level limit for <resource> is insufficient to cover <...>": "1.37",
        },
        "the pod as a whole asks for less {resource} than its containers and devices together",
        "Devices that stand for the node's own CPUs or memory count toward the pod's own resources.",
        "raise the pod's own requests or limits",
        f"{_NODE_ALLOCATABLE}: validatePodLevelResourcesCoverDRA",
    ),
    Reason(
        "Claim of the node's own resources",
        _DRA,
        {
            "node allocatable resource claim <claim> is already used by another pod": "1.36",
            "node allocatable resource claim <claim> shared by multiple pods": "1.36",
            "node allocatable resource claim <claim> has a mapped device and cannot be shared across pods": "1.37",
            "claim <claim>: node-allocatable resource claim not referenced by any container within the pod": "1.36",
        },
        "claim {claim} stands for the node's own resources and cannot be used like this",
        "Several pods share such a claim, or no container of the pod refers to it.",
        "give each pod a claim of its own, which a container refers to",
        f"{_NODE_ALLOCATABLE}: validateNodeAllocatableDRAClaimSharing",
    ),
    Reason(
        "Search for devices was ended",
        _DRA,
        {
            "asked by caller to stop allocating devices: <...>": "1.34 to 1.37",
            "timed out trying to allocate devices": "1.34 to 1.35",
            "node <node>: timed out trying to allocate devices": "1.36 to 1.37",
            "claim allocation not found for node": "1.31 to 1.37",
        },
        "the search for devices was ended before it came to this node",
        "Many devices and many constraints: DynamicResourcesArgs.filterTimeout, ten seconds by default, has passed.",
        _WAIT,
        f"{_PLUGIN}: Filter",
    ),
    Reason(
        "Claim cannot be allocated",
        _DRA,
        {
            "claim <claim>, request <...>": "1.31 to 1.37",
            "claim <claim>, constraint <...>": "1.31 to 1.37",
            "claim <claim>: number of requested devices <...>": "1.31 to 1.37",
            "pool <...> is invalid: <...>": "1.31 to 1.37",
            "invalid resource pools were encountered": "1.35 to 1.37",
            "one or more devices in claim <...> failed<...>": BEFORE,
        },
        "a claim, its class or what a driver published is not in order: {claim}",
        "A CEL expression that fails for a device, a pool that a driver is just updating, a feature that is off, or "
        "more "
        "devices than a claim may hold.",
        _LOOK,
        _ALLOCATOR,
    ),
    Reason(
        "Device did not become ready",
        _DRA,
        {
            "device binding failed: <...>": "1.36 to 1.37",
            "device binding failed": "1.36 to 1.37",
            "device binding timeout": "1.34 to 1.37",
            "device binding timeout: <...>": "1.36 to 1.37",
            "claim <claim> binding failed: <...>": "1.34 to 1.35",
            "claim <claim> binding timeout": "1.34 to 1.35",
            "binding timeout<...>": BEFORE,
        },
        "a node was chosen, but the device there did not become ready",
        "A device with binding conditions, such as one attached over a fabric, reported failure or took too long.",
        _LOOK,
        f"{_PLUGIN}: PreBind",
    ),
)

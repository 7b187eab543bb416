"""Pods that no search is made for yet: gates, groups, preemption under way."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import Reason

_GANG = "GangScheduling"
_GANG_FILE = "plugins/gangscheduling/gangscheduling.go"
_GROUPS = "schedule_one_podgroup.go"
_ROOM_FOR_ALL = "create the missing pods, or make room for all of them"

QUEUE: Final = (
    Reason(
        "Scheduling gates",
        "SchedulingGates",
        {"waiting for scheduling gates: [<gates>]": "1.26 to 1.37"},
        "the pod is held back by {gates}; no scheduler looks at it before that is removed",
        "A queue such as Kueue, or another controller, put a gate into spec.schedulingGates until its time has come.",
        "whoever put the gate there removes it",
        "plugins/schedulinggates/scheduling_gates.go: PreEnqueue",
    ),
    Reason(
        "Gang is not complete",
        _GANG,
        {
            "waiting for minCount pods from a gang to appear in scheduling queue": "1.35 to 1.37",
            "waiting for minCount pods from a gang to be scheduled": "1.36 to 1.37",
            "waiting for minCount pods from a gang to be waiting on permit": "1.35",
            "minCount (<count>) cannot be satisfied: <...>": "1.37",
            "minCount (<count>) is not yet satisfied: <...>": "1.37",
        },
        "the pod's group is placed as a whole or not at all, and too few of its pods are there or fit",
        "The job has made fewer pods than minCount, or the cluster has room for some of them only.",
        _ROOM_FOR_ALL,
        f"{_GANG_FILE}: PreEnqueue, Permit, PlacementFeasible",
    ),
    Reason(
        "Group does not exist",
        _GANG,
        {
            'waiting for pods\'s workload "<group>" to appear in scheduling queue': "1.35",
            'waiting for pods\'s pod group "<group>" to appear in scheduling queue': "1.36 to 1.37",
            'pod group "<group>" doesn\'t exist for a workload "<workload>"': "1.35",
            'podgroup.scheduling.k8s.io "<group>" not found': "1.36 to 1.37",
        },
        "the pod's group {group} does not exist yet",
        "The Workload or PodGroup that the pod names is applied after the pod, or its name is misspelt.",
        "create it",
        f"{_GANG_FILE}: PreEnqueue",
    ),
    Reason(
        "Tree of groups is not complete",
        _GANG,
        {'waiting for composite pod group "<group>" tree to meet quorum': "1.37"},
        "too few pods below group {group} are there or fit",
        "One of the groups below has fewer pods than its minCount.",
        _ROOM_FOR_ALL,
        f"{_GANG_FILE}: PreEnqueue",
    ),
    Reason(
        "Groups above are missing",
        _GANG,
        {"failed to build hierarchy snapshot: <...>": "1.37"},
        "the groups above the pod's own are not complete",
        "A PodGroup names a parent that does not exist, or parents that name each other.",
        "create the missing groups",
        f"{_GANG_FILE}: PreEnqueue",
    ),
    Reason(
        "No placement for the group",
        _GANG,
        {
            "0/<count> placements are available, first placement status: <...>": "1.36 to 1.37",
            "no feasible placements found": "1.36 to 1.37",
        },
        "no place suits the pod's group as a whole",
        "The group is to be in one topology domain, and no domain has room for all of it.",
        "ask for less, or free or add room",
        f"{_GROUPS}: podGroupSchedulingPlacementAlgorithm",
    ),
    Reason(
        "Group is unschedulable",
        _GANG,
        {
            "pod group is unschedulable": "1.36 to 1.37",
            "failed to schedule other pod from a pod group: <...>": "1.36 to 1.37",
            "scheduling error for pod group, some pods were not processed": "1.37",
            "pod group is waiting for preemption to complete": "1.36",
            "composite pod group evaluation failed due to child error: <...>": "1.37",
        },
        "the pod may fit, but its group as a whole does not, so none of it is placed",
        "Another pod of the group fits nowhere; look at what is said of that one.",
        "explain the group's other pods",
        f"{_GROUPS}: submitPodGroupAlgorithmResult",
    ),
    Reason(
        "Pods of a group differ",
        _GANG,
        {
            "all pods in a single pod group should have the same <...>": "1.36 to 1.37",
            "different <...> in <...>pod group between snapshot <...>": "1.37",
        },
        "the pods of the group differ in what must be the same: schedulerName, priority or preemptionPolicy",
        "The group's pods come from several templates.",
        "make them alike",
        f"{_GROUPS}: validatePodGroup",
    ),
    Reason(
        "Group is in several domains",
        "TopologyPlacementGenerator",
        {
            "cannot determine domain for already scheduled pods: <...>": "1.36 to 1.37",
            "more than 1 domain found for pod group: <...>": "1.36 to 1.37",
        },
        "pods of the group run already, and not all in one topology domain",
        "A pod of the group was bound by hand, or a node's label was changed.",
        "end the pods that are in the wrong domain",
        "plugins/topologyaware/topology_placement.go: GeneratePlacements",
    ),
    Reason(
        "Preemption is under way",
        "DefaultPreemption",
        {
            "waiting for the preemption for this pod to be finished": "1.32 to 1.37",
            "waiting for the preemption for this pod group to be finished": "1.36 to 1.37",
        },
        "pods are being ended to make room for this one",
        "kube-scheduler deletes the victims in the background, and the pod waits for that.",
        "wait: this passes by itself",
        "plugins/defaultpreemption/default_preemption.go: PreEnqueue",
    ),
)

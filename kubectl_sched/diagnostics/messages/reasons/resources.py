"""Room on nodes: NodeResourcesFit and what resizes wait for."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import ALWAYS, Reason

_FIT = "NodeResourcesFit"
_RESIZE = "DeferredPodScheduling"

RESOURCES: Final = (
    Reason(
        "Insufficient resource",
        _FIT,
        {"Insufficient <resource>": ALWAYS},
        "not enough {resource} is left: the requests of the pods there, not their use, leave less than this pod "
        "requests",
        "Requests add up, of pods that are hardly used, too. Or one container asks for more than any node has.",
        "lower the request, remove pods, or add nodes; kubectl describe node shows what is requested",
        "plugins/noderesources/fit.go: fitsRequest",
    ),
    Reason(
        "Too many pods",
        _FIT,
        {"Too many pods": ALWAYS},
        "the node already runs as many pods as its kubelet allows (status.allocatable.pods)",
        "Many small pods on large nodes; 110 is the kubelet's default, and clouds set less where addresses are few.",
        "use other or more nodes, or raise the kubelet's maxPods",
        "plugins/noderesources/fit.go: fitsRequest",
    ),
    Reason(
        "Sidecars are off",
        _FIT,
        {"Pod has a restartable init container and the SidecarContainers feature is disabled": "1.28 to 1.36"},
        "the pod has a sidecar, which this kube-scheduler does not know how to count",
        "An init container has restartPolicy: Always, and kube-scheduler runs without the feature.",
        "turn the feature SidecarContainers on, or run no sidecar",
        "plugins/noderesources/fit.go: Filter",
    ),
    Reason(
        "Resize waits for the kubelet",
        _RESIZE,
        {"pod resize fits, waiting for Kubelet actuation": "1.37"},
        "the pod runs, and what it is to grow by fits on its node; the kubelet has yet to do it",
        "A running pod's resources were raised, and the node had no room at first.",
        "wait: this passes by itself",
        "plugins/deferredpodscheduling/deferred_pod_scheduling.go: Permit",
    ),
    Reason(
        "Pod grows on another node",
        _RESIZE,
        {"pod assigned to different node": "1.37"},
        "the pod runs on another node, and only there can it grow",
        "A running pod's resources were raised; every node but its own says so.",
        "",
        "plugins/deferredpodscheduling/deferred_pod_scheduling.go: Filter",
    ),
    Reason(
        "Resize may not preempt",
        _RESIZE,
        {"node had resize preemption disabled": "1.37"},
        "the node does not let other pods be ended so that this one can grow",
        "The node's spec.podPreemptionPolicy.disableResizePreemption names a reason against it.",
        "ask for less, or free or add room",
        "plugins/deferredpodscheduling/deferred_pod_scheduling.go: Filter",
    ),
)

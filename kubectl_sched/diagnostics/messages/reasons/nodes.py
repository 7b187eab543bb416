"""Reasons about a node: taints, cordons, labels, names, ports, features."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import ALWAYS, BEFORE, Reason

_AFFINITY = "NodeAffinity"

NODES: Final = (
    Reason(
        "Untolerated taint",
        "TaintToleration",
        {
            "node(s) had taint {<key>: <value>}, that the pod didn't tolerate": "1.22 to 1.23",
            "node(s) had untolerated taint {<key>: <value>}": "1.24 to 1.33",
        },
        "the node repels pods that do not tolerate its taint {key}={value}",
        "Control planes and nodes of special hardware are tainted on purpose; not-ready and unreachable ones, full "
        "disks and new nodes by controllers. The node's first taint that is not tolerated is the one named.",
        "add a toleration for {key} if the pod belongs there, or remove the taint",
        "plugins/tainttoleration/taint_toleration.go: Filter",
    ),
    Reason(
        "Untolerated taints",
        "TaintToleration",
        {
            "node(s) had untolerated taint(s)": "1.34 to 1.37",
            "node(s) had taints that the pod didn't tolerate": BEFORE,
        },
        "the node repels pods that do not tolerate its taints",
        "As with one taint; from 1.34 on the text no longer names it, so that nodes with different taints are counted "
        "together.",
        "see the taints with kubectl describe node; tolerate them if the pod belongs there",
        "plugins/tainttoleration/taint_toleration.go: Filter",
    ),
    Reason(
        "Node is cordoned",
        "NodeUnschedulable",
        {"node(s) were unschedulable": ALWAYS},
        "the node is cordoned",
        "kubectl cordon or drain, an upgrade, or an autoscaler that is about to remove the node.",
        "kubectl uncordon it when its maintenance is over",
        "plugins/nodeunschedulable/node_unschedulable.go: Filter",
    ),
    Reason(
        "Node is unknown",
        "NodeUnschedulable",
        {"node(s) had unknown conditions": ALWAYS, "node not found": "1.22 to 1.28", "invalid node": "1.22 to 1.27"},
        "the scheduler did not find the node's own data",
        "A node went away during the attempt.",
        "wait: this passes by itself",
        "plugins/nodeunschedulable/node_unschedulable.go: Filter",
    ),
    Reason(
        "Node affinity or selector",
        _AFFINITY,
        {
            "node(s) didn't match Pod's node affinity/selector": ALWAYS,
            "node(s) didn't match Pod's node affinity": BEFORE,
            "node(s) didn't match node selector": BEFORE,
            "node(s) didn't match node affinity": BEFORE,
        },
        "the node's labels are not what the pod's nodeSelector or required node affinity asks for",
        "A label is missing or misspelt, a node pool is empty, or two conditions that no node meets together.",
        "compare them with kubectl get nodes --show-labels; label a node or change the pod",
        "plugins/nodeaffinity/node_affinity.go: Filter",
    ),
    Reason(
        "Affinity enforced by the scheduler",
        _AFFINITY,
        {"node(s) didn't match scheduler-enforced node affinity": ALWAYS},
        "the node's labels are not what the scheduler's own configuration asks for (addedAffinity)",
        "The pod's schedulerName chose a profile that is confined to some nodes.",
        "choose another profile, or change NodeAffinityArgs.addedAffinity",
        "plugins/nodeaffinity/node_affinity.go: Filter",
    ),
    Reason(
        "Affinity terms conflict",
        _AFFINITY,
        {"pod affinity terms conflict": "1.24 to 1.37"},
        "the pod's node affinity names nodes in terms that exclude each other, so none is left",
        "A term names two different nodes by metadata.name, which only a hand or a faulty controller writes.",
        "correct the matchFields of the pod's node affinity",
        "plugins/nodeaffinity/node_affinity.go: PreFilter",
    ),
    Reason(
        "Requested node name",
        "NodeName",
        {
            "node(s) didn't match the requested node name": ALWAYS,
            "node(s) didn't match the requested hostname": BEFORE,
        },
        "the pod wants one node by name (spec.nodeName), and this is another",
        "Rarely seen: a pod with spec.nodeName is not scheduled at all.",
        "",
        "plugins/nodename/node_name.go: Filter",
    ),
    Reason(
        "Host port is taken",
        "NodePorts",
        {"node(s) didn't have free ports for the requested pod ports": ALWAYS},
        "a pod there already has the host port that this pod asks for",
        "A hostPort, or hostNetwork with container ports, and more replicas than nodes; during a rollout the old pod "
        "still holds the port.",
        "do without hostPort, choose another, or have fewer replicas than nodes",
        "plugins/nodeports/node_ports.go: Filter",
    ),
    Reason(
        "Required node features",
        "NodeDeclaredFeatures",
        {
            "node(s) didn't match Pod's required features": "1.36 to 1.37",
            "node declared features check failed - unsatisfied requirements: <features>": "1.35",
        },
        "the node's kubelet does not declare a feature that the pod uses: {features}",
        "Kubelets are older than the control plane, or have a feature off that it has on.",
        "upgrade the kubelets, or turn their feature on",
        "plugins/nodedeclaredfeatures/nodedeclaredfeatures.go: Filter",
    ),
    Reason(
        "Left out by other plugins",
        "",
        {
            "node(s) didn't satisfy plugin(s) [<plugins>]": "1.32 to 1.37",
            "node(s) didn't satisfy plugin(s) [<plugins>] simultaneously": "1.24 to 1.37",
            "node(s) didn't satisfy plugin <plugins>": "1.24 to 1.37",
            "node is filtered out by the prefilter result": "some patch releases before 1.32",
            "node(s) were filtered out by the prefilter result": "some patch releases before 1.32",
        },
        "{plugins} had already narrowed the search to other nodes",
        "The pod names its node, as those of a DaemonSet do, or has a volume of one node; all others give this reason.",
        "look at what the pod asks of that plugin, such as a node by name or a volume of one node",
        "framework/runtime/framework.go: RunPreFilterPlugins; schedule_one.go: findNodesThatFitPod",
    ),
    Reason(
        "Labels that the configuration wants",
        "NodeLabel",
        {"node(s) didn't have the requested labels": "1.22"},
        "the node lacks a label that the scheduler's configuration demands, or has one that it forbids",
        "A Policy or NodeLabelArgs of an old configuration.",
        "label the node, or change NodeLabelArgs",
        "plugins/nodelabel/node_label.go: Filter",
    ),
    Reason(
        "Service affinity",
        "ServiceAffinity",
        {"node(s) didn't match service affinity": "1.22"},
        "the node's labels differ from those of the nodes that the service's other pods run on",
        "A Policy or ServiceAffinityArgs of an old configuration.",
        "make room on such nodes, or change ServiceAffinityArgs",
        "plugins/serviceaffinity/service_affinity.go: Filter",
    ),
)

"""Changes of one node that might let a pod in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import selector_of
from kubectl_sched.api.component_helpers import taints
from kubectl_sched.shell_commands import label_node, uncordon_node
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.affinity import PodAffinityTerm, TopologySpreadConstraint
    from kubectl_sched.api.core import Node
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.suggestions.change import Way

_LABEL_LENGTH = 63
_KEPT = (
    *("kubernetes.io", "k8s.io", "k8s.aws", "amazonaws.com", "aws.com", "azure.com", "google.com", "gke.io"),
    *("karpenter.sh", "eksctl.io", "openshift.io", "nvidia.com", "amd.com", "intel.com", "digitalocean.com"),
    *("oraclecloud.com", "scaleway.com", "hetzner.cloud", "linode.com", "vultr.com"),
)
"""Domains of the labels that Kubernetes, clouds, autoscalers and makers of devices keep themselves."""

_AGENT_POOL = "agentpool"
"""AKS keeps this one, which has no domain."""


def uncordon(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Uncordon the row's node."""
    yield (uncordoned(result.nodes.names[row]),)


def uncordoned(name: str) -> Change:
    """The node schedulable again, without the taint that goes with it."""
    return Change(
        kind=Kind.UNCORDON,
        text=_after(uncordon_node(name), "it is uncordoned"),
        step=f"uncordon {name}",
        node_name=name,
        node=taints.uncordoned,
        caution="whoever cordoned it wanted no new pods there",
    )


def give_topology_key(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Give the node the topology key over which the pod wants to be near to others that run there."""
    affinity = result.pod.spec.affinity
    terms = affinity.pod_affinity.required if affinity and affinity.pod_affinity else ()
    labels = result.nodes.node_objects[row].metadata.labels
    for term in terms:
        if term.topology_key not in labels and is_free(term.topology_key) and row in _rows_with(term, result):
            yield (_in_a_domain_of_its_own(result, row, term.topology_key),)


def join_a_domain(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Give the node every topology key that it lacks of those over which the pod must be spread."""
    lacking = dict.fromkeys(constraint.topology_key for constraint in lacking_keys(result, row))
    if lacking and all(map(is_free, lacking)):
        yield tuple(_in_a_domain_of_its_own(result, row, key) for key in lacking)


def lacking_keys(result: ScheduleResult, row: int) -> list[TopologySpreadConstraint]:
    """The constraints that must hold and over whose topology key the row's node has no label."""
    labels = result.nodes.node_objects[row].metadata.labels
    return [
        constraint
        for constraint in result.pod.spec.topology_spread_constraints
        if constraint.when_unsatisfiable == "DoNotSchedule" and constraint.topology_key not in labels
    ]


def _rows_with(term: PodAffinityTerm, result: ScheduleResult) -> set[int]:
    """The nodes that run pods which the term is about, as far as its labels tell."""
    selector = selector_of(term.label_selector)
    namespaces = term.namespaces or (result.pod.metadata.namespace,)
    existing = result.nodes.existing_pods
    return {int(row) for row in existing.rows[existing.selected(selector, lambda name: name in namespaces)]}


def _in_a_domain_of_its_own(result: ScheduleResult, row: int, key: str) -> Change:
    """With the value by which the pod selects nodes, so that one label does for both; else with the node's own name."""
    selected = (result.pod.spec.node_selector or {}).get(key)
    if selected is not None:
        return said_of(result, row, key, selected)
    name = result.nodes.names[row]
    own = labelled(result, row, key, name[:_LABEL_LENGTH].rstrip("-."))
    return replace(own, caution=f"all pods that go by {key} then see {name} as a domain of its own")


def is_free(key: str) -> bool:
    """Report whether people may set the label as they like. Those of Kubernetes, clouds and drivers are not theirs."""
    domain = key.rpartition("/")[0]
    return not (key == _AGENT_POOL or domain.endswith(_KEPT) or domain.startswith("topology.") or ".csi." in domain)


def said_of(result: ScheduleResult, row: int, key: str, value: str) -> Change:
    """A label that says of the row's node what it may not be: the pod wants such a node, and others may, too."""
    return replace(
        labelled(result, row, key, value), caution="only if the label is true of the node: other pods go by it, too"
    )


def labelled(result: ScheduleResult, row: int, key: str, value: str) -> Change:
    """The row's node with a label that it has not got yet."""
    name = result.nodes.names[row]

    def with_label(node: Node) -> Node:
        return replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, key: value}))

    text = _after(label_node(name, key, value), f"it is labelled {key}={value}")
    return Change(kind=Kind.LABEL, text=text, step=f"label node {name} {key}={value}", node_name=name, node=with_label)


def _after(command: ShellCommand | None, otherwise: str) -> str:
    """The words for a change: the command that makes it, if there is one."""
    return f"after `{command}`" if command is not None else f"after {otherwise}"

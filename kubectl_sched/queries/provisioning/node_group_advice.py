"""Changes to node groups that would let cluster-autoscaler add a node for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.core import ZONE
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.node_provisioning.cluster_autoscaler.template_hints import template_hint
from kubectl_sched.queries.provisioning.provisioner_advice import NODE_GROUP, ProvisionerAdvice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import NodeGroup

_ZONE_SUFFIX: Final = "/zone"
_OF_THE_CLOUD: Final = ("kubernetes.io/", "node.kubernetes.io/", "topology.", "beta.kubernetes.io/", "failure-domain.")
"""Labels that the cloud's description of a group has by itself, by how they begin."""

_KNOWN_RESOURCES: Final = frozenset({"nvidia.com/gpu"})
_MOST: Final = 3


def wanted_zones(pod: Pod, objects: Iterable[KubernetesObject]) -> list[str]:
    """The zones that the pod's selectors and volumes name, each once."""
    claims = {
        each.spec.volume_name
        for each in objects
        if isinstance(each, PersistentVolumeClaim) and each.key in _claims_of(pod) and each.spec.volume_name
    }
    zones = dict.fromkeys(value for key, values in _required(pod) for value in values if _is_zone(key))
    for each in objects:
        affinity = each.spec.node_affinity if isinstance(each, PersistentVolume) and each.name in claims else None
        for term in affinity.required.node_selector_terms if affinity is not None and affinity.required else ():
            zones |= dict.fromkeys(
                value for found in term.match_expressions if _is_zone(found.key) for value in found.values
            )
    return list(zones)


def in_zone(example: Node, zone: str) -> Node:
    """Return the node as one of its group in another zone."""
    labels = example.metadata.labels
    moved = {key: zone if _is_zone(key) else value for key, value in labels.items()}
    return replace(example, metadata=replace(example.metadata, labels=moved))


def another_zone(group: str, example: Node, zone: str) -> ProvisionerAdvice:
    """Advise a group per zone, where the template's zone is what keeps the pod out."""
    own = example.metadata.labels.get(ZONE, "no zone")
    return ProvisionerAdvice(
        kind=NODE_GROUP,
        name=group,
        field="zone",
        value=zone,
        sentence=(
            f"Node group {group} is judged by a template made of node {example.name} in {own}, and the pod needs "
            f"{zone}: make one node group per zone, with one in {zone}"
        ),
    )


def at_zero(group: NodeGroup, pod: Pod, nodes: Iterable[Node]) -> Iterator[ProvisionerAdvice]:
    """Yield the tags or annotations by which a group without nodes could have what the pod asks for."""
    hint = template_hint(group.name, nodes)
    if hint is None:
        return
    also = f" ({hint.also})" if hint.also else ""
    of_labels = [(*hint.of_label(key, value), f"the label {key}") for key, value in _labels(pod).items()]
    of_resources = [(*hint.of_resource(name, amount), name) for name, amount in _resources(pod).items()]
    for field, value, told in [each for each in (*of_labels, *of_resources) if each[0]][:_MOST]:
        yield ProvisionerAdvice(
            kind=NODE_GROUP,
            name=group.name,
            field=field,
            value=value,
            sentence=(
                f"Node group {group.name} has no nodes, so cluster-autoscaler makes its template without {told} unless "
                f"a {hint.what} says so: {field}={value}{also}"
            ),
        )


def _labels(pod: Pod) -> dict[str, str]:
    """The labels that the pod requires, each with the first value that does."""
    return {key: values[0] for key, values in _required(pod) if not key.startswith(_OF_THE_CLOUD)}


def _resources(pod: Pod) -> dict[str, str]:
    """The extended resources that the pod requests."""
    return {
        name: str(amount) for name, amount in pod_requests(pod).items() if "/" in name and name not in _KNOWN_RESOURCES
    }


def _required(pod: Pod) -> list[tuple[str, tuple[str, ...]]]:
    """The labels of which the pod requires one of some values: of its node affinity, then of its node selector."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    listed = [each for term in terms for each in term.match_expressions if each.operator == "In" and each.values]
    selected = [(key, (value,)) for key, value in (pod.spec.node_selector or {}).items()]
    return [*((each.key, each.values) for each in listed), *selected]


def _claims_of(pod: Pod) -> set[str]:
    return {f"{pod.namespace}/{use.claim_name}" for use in claim_uses(pod)}


def _is_zone(key: str) -> bool:
    return key.endswith(_ZONE_SUFFIX)

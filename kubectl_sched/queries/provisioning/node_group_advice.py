"""Changes to node groups that would let cluster-autoscaler add a node for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.component_helpers.taints import tolerates
from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.core import ZONE
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.cluster_autoscaler.similar_groups import differences
from kubectl_sched.node_provisioning.cluster_autoscaler.template_hints import cloud_of, template_hint
from kubectl_sched.queries.provisioning.karpenter_advice import goes_by_itself
from kubectl_sched.queries.provisioning.provisioner_advice import NODE_GROUP, ProvisionerAdvice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions
    from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import NodeGroup
    from kubectl_sched.node_provisioning.cluster_autoscaler.similar_groups import Template

_ZONE_SUFFIX: Final = "/zone"
_OF_THE_CLOUD: Final = ("kubernetes.io/", "node.kubernetes.io/", "topology.", "beta.kubernetes.io/", "failure-domain.")
"""Labels that the cloud's description of a group has by itself, by how they begin."""

_KNOWN_RESOURCES: Final = frozenset({"nvidia.com/gpu"})
_DISK: Final = "ephemeral-storage"
_MOST: Final = 3
_NODES_TRIED: Final = 3
_BALANCED: Final = 8
_GROWN: Final = pattern(r"\{(\S{1,400}) (\d{1,9})->\d{1,9} \(max: \d{1,9}\)\}")


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
    sentence = (
        f"Node group {group} is judged by a template made of node {example.name} in {own}, and the pod needs {zone}: "
        f"make one node group per zone, with one in {zone}"
    )
    return _of_group(group, "zone", zone, sentence)


def at_zero(group: NodeGroup, pod: Pod, nodes: Iterable[Node]) -> Iterator[ProvisionerAdvice]:
    """Yield the tags or annotations by which a group without nodes could have what the pod asks for."""
    hint = template_hint(group.name, nodes)
    if hint is None:
        return
    also = f" ({hint.also})" if hint.also else ""
    of_labels = [(*hint.of_label(key, value), f"the label {key}") for key, value in _labels(pod).items()]
    wanted = _resources(pod, with_known=bool(hint.gpu)) | ({} if hint.knows_disk else _disk(pod))
    of_resources = [
        (*((hint.gpu, amount) if hint.gpu and name in _KNOWN_RESOURCES else hint.of_resource(name, amount)), name)
        for name, amount in wanted.items()
    ]
    for field, value, told in [each for each in (*of_labels, *of_resources) if each[0]][:_MOST]:
        sentence = (
            f"Node group {group.name} has no nodes, so cluster-autoscaler makes its template without {told} unless "
            f"{hint.with_article} says so: {field}={value}{also}"
        )
        yield _of_group(group.name, field, value, sentence)


def unlike_its_template(
    group: NodeGroup, pod: Pod, grown: str, nodes: Iterable[Node], options: AutoscalerOptions
) -> Iterator[ProvisionerAdvice]:
    """Yield what the group's template lacked when the group grew from zero for the pod, and its nodes do not take it.

    `grown` is the text of the newest TriggeredScaleUp event about the pod.
    """
    full_name = group.status.name if group.status is not None else group.name
    grew = any(found[1] in {group.name, full_name} and found[2] == "0" for found in _GROWN.finditer(grown))
    hint = template_hint(full_name, nodes) if grew else None
    if hint is None:
        return
    start = f"cluster-autoscaler grew node group {group.name} for the pod, and its nodes"
    unless = f"its template lacks that while it has no nodes, unless {hint.with_article} says so"
    for node in group.nodes[:1]:
        for taint in node.spec.taints:
            if options.is_left_out(taint) or taint.effect == "PreferNoSchedule":
                continue
            if not any(tolerates(each, taint) for each in pod.spec.tolerations):
                field, value = hint.of_taint(taint.key, taint.value, taint.effect)
                said = f"{start} have taint {taint}, which it does not tolerate; {unless}: {field}={value}"
                yield _of_group(group.name, field, value, said)
        for key, values in _required(pod):
            if node.metadata.labels.get(key) not in values:
                field, value = hint.of_label(key, values[0])
                said = f"{start} have no label {key}={values[0]}: give the nodes what {hint.with_article} promises"
                yield _of_group(group.name, field, value, said)


def missing_startup_taint(
    group: NodeGroup, pod: Pod, options: AutoscalerOptions, takes: Callable[[Node], bool]
) -> Iterator[ProvisionerAdvice]:
    """Yield the taint of a node that would take the pod once its agent runs, if the autoscaler does not know that."""
    for node in group.nodes[:_NODES_TRIED]:
        passing = [
            each
            for each in node.spec.taints
            if goes_by_itself(each)
            and not options.is_left_out(each)
            and not any(tolerates(own, each) for own in pod.spec.tolerations)
        ]
        rest = tuple(each for each in node.spec.taints if each not in passing)
        if passing and takes(replace(node, spec=replace(node.spec, taints=rest))):
            key = passing[0].key
            said = (
                f"Node {node.name} of node group {group.name} has the taint {passing[0]}, which goes by itself once "
                f"its agent runs, and which cluster-autoscaler takes for lasting: start it with --startup-taint={key}"
            )
            yield _of_group(group.name, "--startup-taint", key, said)
            return


def balance_sentences(
    templates: Mapping[str, Template], options: AutoscalerOptions, nodes: Sequence[Node]
) -> Iterator[str]:
    """Yield which of several groups that could grow are balanced with the first, and what keeps others apart."""
    if len(templates) < 2:
        return
    if not options.balances_similar_groups:
        yield "It adds all nodes to one of these groups, as --balance-similar-node-groups is off"
        return
    (first, template), *others = list(templates.items())[:_BALANCED]
    cloud = cloud_of(first, nodes)
    found = {name: [*differences(template, each, options, cloud)] for name, each in others}
    alike = [name for name, apart in found.items() if not apart]
    if alike:
        yield f"It balances node group {first} with {first_few(alike)}"
    for name, apart in found.items():
        if apart:
            flags = [f"--balancing-ignore-label={each.label}" for each in apart if each.label]
            hint = "" if len(flags) < len(apart) or options.balancing_labels else f"; {' '.join(flags[:_MOST])}"
            yield f"It does not balance {name} with {first}: {first_few([each.words for each in apart])}{hint}"


def _of_group(name: str, field: str, value: str, sentence: str) -> ProvisionerAdvice:
    return ProvisionerAdvice(kind=NODE_GROUP, name=name, field=field, value=value, sentence=sentence)


def _labels(pod: Pod) -> dict[str, str]:
    """The labels that the pod requires, each with the first value that does."""
    return {key: values[0] for key, values in _required(pod) if not key.startswith(_OF_THE_CLOUD)}


def _resources(pod: Pod, *, with_known: bool) -> dict[str, str]:
    """The extended resources that the pod requests, with those that most clouds know if these are asked for."""
    return {
        name: str(amount)
        for name, amount in pod_requests(pod).items()
        if "/" in name and (with_known or name not in _KNOWN_RESOURCES)
    }


def _disk(pod: Pod) -> dict[str, str]:
    """The ephemeral storage that the pod requests, if any."""
    wanted = pod_requests(pod).get(_DISK)
    return {_DISK: str(wanted)} if wanted else {}


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

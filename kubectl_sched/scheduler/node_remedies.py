"""Changes of one node that might let a pod in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.labels import selector_of
from kubectl_sched.scheduler import commands
from kubectl_sched.scheduler.change import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import PodAffinityTerm
    from kubectl_sched.scheduler.result import ScheduleResult

_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_LABEL_LENGTH = 63


def uncordon(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Uncordon one node, which takes its taint off, too."""
    for row in rows:
        name = result.nodes.names[row]
        command = commands.uncordon(name)
        yield Change(f"after `{command}`", command, node_name=name, node=_uncordoned)


def _uncordoned(node: Node) -> Node:
    taints = tuple(each for each in node.spec.taints if each.key != _UNSCHEDULABLE)
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))


def label(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Give a node the one label of the nodeSelector that it lacks; a label that it has stays as it is."""
    selector = result.pod.spec.node_selector or {}
    for row in rows:
        labels = result.nodes.node_objects[row].metadata.labels
        missing = [(key, wanted) for key, wanted in selector.items() if labels.get(key) != wanted]
        if len(missing) == 1 and _is_free(missing[0][0]) and missing[0][0] not in labels:
            yield _labelled(result.nodes.names[row], *missing[0])


def give_topology_key(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Give a node the topology key over which the pod wants to be near to others that run there, or be spread."""
    affinity = result.pod.spec.affinity
    terms = affinity.pod_affinity.required if affinity and affinity.pod_affinity else ()
    rejected = frozenset(rows)
    for term in (term for term in terms if _is_free(term.topology_key)):
        for row in _rows_with(term, result):
            if row in rejected and term.topology_key not in result.nodes.node_objects[row].metadata.labels:
                yield _in_a_domain_of_its_own(result, row, term.topology_key)


def join_a_domain(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Give a node the topology key over which the pod is to be spread."""
    keys = dict.fromkeys(each.topology_key for each in result.pod.spec.topology_spread_constraints)
    for key in filter(_is_free, keys):
        for row in rows:
            if key not in result.nodes.node_objects[row].metadata.labels:
                yield _in_a_domain_of_its_own(result, row, key)


def _rows_with(term: PodAffinityTerm, result: ScheduleResult) -> list[int]:
    """The nodes that run pods which the term is about, as far as its labels tell."""
    selector = selector_of(term.label_selector)
    namespaces = term.namespaces or (result.pod.metadata.namespace,)
    existing = result.nodes.existing_pods
    return sorted({int(row) for row in existing.rows[existing.selected(selector, lambda name: name in namespaces)]})


def _in_a_domain_of_its_own(result: ScheduleResult, row: int, key: str) -> Change:
    name = result.nodes.names[row]
    return _labelled(name, key, name[:_LABEL_LENGTH].rstrip("-."))


def _is_free(key: str) -> bool:
    """Whether people may label nodes as they like: what Kubernetes and clouds say of a node is not theirs to change."""
    domain = key.rpartition("/")[0]
    return not domain.endswith(("kubernetes.io", "k8s.io"))


def _labelled(node_name: str, key: str, value: str) -> Change:
    command = commands.label(node_name, key, value)

    def labelled(node: Node) -> Node:
        return replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, key: value}))

    return Change(f"after `{command}`", command, node_name=node_name, node=labelled)

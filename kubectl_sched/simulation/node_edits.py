"""Edits of a cluster's nodes before a what-if: added, drained, removed, cordoned, tainted and labelled ones."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import label_key_errors, label_value_errors
from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.component_helpers.taints import (
    EFFECTS,
    NO_EXECUTE,
    cordoned,
    tolerates,
    uncordoned,
    without_taint,
)
from kubectl_sched.api.core import Node, Taint
from kubectl_sched.api.meta import with_spec
from kubectl_sched.apiserver.what_if_size_limits import decimal, few, nodes_counted
from kubectl_sched.controllers.daemon_set import stays_on, with_daemon_tolerations
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.dump.undecoded_values import typed
from kubectl_sched.sources.dump.user_files import read_document
from kubectl_sched.typed_paths import is_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.edited_cluster import Cluster


_TAINT_FORM = "NODE=KEY[=VALUE]:EFFECT, or NODE=KEY[:EFFECT]-"


DRAIN: Final = "--drain"
"""The flag of a drain."""


class Edit(NamedTuple):
    """A flag and its value, as they were given: `--drain`, `gpu-*`."""

    flag: str
    value: str


def _add_nodes(cluster: Cluster, value: str) -> tuple[str, ...]:
    number, _, what = value.partition("=")
    count = decimal(number)
    if count is None or not what:
        raise SchedError(f"--add-nodes {value}: write N=NODE, such as 3=worker-1 or 3=node.yaml")
    count = nodes_counted(count, f"--add-nodes {value}")
    cluster.add_copies(node_meant(cluster, what, "--add-nodes"), count)
    return ()


def node_meant(cluster: Cluster, text: str, flag: str) -> Node:
    """One node: of the cluster (the first by name where several match), or a Node manifest by path."""
    if text in cluster.nodes or not is_file(text):
        return min(cluster.matching(text, flag), key=lambda node: node.name)
    return node_of_manifest(read_document(text), text)


def node_of_manifest(document: Mapping[str, Any], source: str) -> Node:
    """Return the node of a manifest; `source` is its path. Raises SchedError if it is none, or nothing fits on it."""
    if document.get("kind") != "Node":
        raise SchedError(f"{source}: it holds a {document.get('kind')} where a Node belongs")
    try:
        node = typed(dict(document), Node)
    except msgspec.ValidationError as error:
        raise SchedError(f"{source}: {error}") from None
    if not node.name:
        raise SchedError(f"{source}: the Node has no metadata.name")
    return _with_allocatable(node, source)


def _with_allocatable(node: Node, source: str) -> Node:
    """SetDefaults_NodeStatus: all of the capacity can be had where nothing else is said."""
    if not node.status.allocatable:
        node = structs.replace(node, status=structs.replace(node.status, allocatable=node.status.capacity))
    if not node.status.allocatable:
        raise SchedError(f"{source}: the Node has neither status.allocatable nor status.capacity, so no pod fits on it")
    for name, raw in node.status.allocatable.items():
        try:
            parse_quantity(raw)
        except InvalidQuantity as error:
            raise error.within(f"{source}: status.allocatable[{name}]") from None
    return node


def _drain(cluster: Cluster, value: str) -> tuple[str, ...]:
    for node in cluster.matching(value, DRAIN):
        cluster.nodes[node.name] = cordoned(node)
        name = node.name
        cluster.evict(lambda pod, name=name: _is_drained(pod, name))  # type: ignore[misc]
    return ()


def _is_drained(pod: Pod, node: str) -> bool:
    return pod.spec.node_name == node and not pod.is_daemon and not pod.is_static


def _remove_node(cluster: Cluster, value: str) -> Iterator[str]:
    for node in cluster.matching(value, "--remove-node"):
        name = node.name
        bare = [pod for pod in cluster.on(name) if pod.metadata.controller is None]
        if bare:
            has = (
                "1 pod has no controller and does" if len(bare) == 1 else f"{len(bare)} pods have no controller and do"
            )
            yield f"removing {name}: {has} not come back: {_named(bare)}"
        cluster.evict(lambda pod, name=name: pod.spec.node_name == name)  # type: ignore[misc]
        del cluster.nodes[name]


def _cordon(cluster: Cluster, value: str) -> tuple[str, ...]:
    for node in cluster.matching(value, "--cordon"):
        cluster.nodes[node.name] = cordoned(node)
    return ()


def _uncordon(cluster: Cluster, value: str) -> tuple[str, ...]:
    for node in cluster.matching(value, "--uncordon"):
        cluster.nodes[node.name] = uncordoned(node)
    return ()


def _taint(cluster: Cluster, value: str) -> Iterator[str]:
    where, change = _node_and_change(value, "--taint", _TAINT_FORM)
    for node in cluster.matching(where, "--taint"):
        if change.endswith("-"):
            pair, _, effect = change[:-1].partition(":")
            key = pair.partition("=")[0]  # kubectl takes a value and does not look at it (parseTaints)
            taints = tuple(each for each in node.spec.taints if each.key != key or effect not in {"", each.effect})
            if taints == node.spec.taints:
                raise SchedError(f"--taint {value}: {node.name} has no taint {change[:-1]}")
            cluster.nodes[node.name] = with_spec(node, taints=taints)
            continue
        taint = _parsed_taint(change, value)
        cluster.nodes[node.name] = with_spec(node, taints=(*without_taint(node, taint).spec.taints, taint))
        if taint.effect == NO_EXECUTE:
            yield from _evict_from(cluster, node.name, taint)


def _parsed_taint(text: str, value: str) -> Taint:
    pair, colon, effect = text.rpartition(":")
    key, _, taint_value = pair.partition("=")
    if not colon or not key:
        raise SchedError(f"--taint {value}: write {_TAINT_FORM}")
    problems = label_key_errors(key) + label_value_errors(taint_value)
    if effect not in EFFECTS:
        problems.append(f"the effect is one of {', '.join(EFFECTS)}")
    if problems:
        raise SchedError(f"--taint {value}: {problems[0]}")
    return Taint(key=key, value=taint_value, effect=effect)


def _evict_from(cluster: Cluster, node: str, taint: Taint) -> Iterator[str]:
    """Evict the pods that do not tolerate the taint. Static pods tolerate all; who tolerates it for a time stays."""
    from kubectl_sched.simulation.drain import comes_back, is_replaced

    def seconds(pod: Pod) -> float:
        """Return for how long the pod stays: the first toleration that matches counts alone (getMinTolerationTime)."""
        first = next((each for each in pod.spec.tolerations if tolerates(each, taint)), None)
        if first is None:
            return 0
        return inf if first.toleration_seconds is None else max(0, first.toleration_seconds)

    def leaves(pod: Pod) -> bool:
        return pod.spec.node_name == node and not pod.is_static and not pod.has_ended and not seconds(pod)

    leaving = [pod for pod in cluster.on(node) if leaves(pod)]
    patient = cluster.patient_jobs
    gone = [pod for pod in leaving if not comes_back(pod, patient) and not is_replaced(pod, patient)]
    if gone:
        are = "1 pod is evicted and does" if len(gone) == 1 else f"{len(gone)} pods are evicted and do"
        yield f"tainting {node}: {are} not come back: {_named(gone)}"
    for_a_time = [pod for pod in cluster.on(node) if 0 < seconds(pod) < inf]
    if for_a_time:
        they = "1 pod tolerates" if len(for_a_time) == 1 else f"{len(for_a_time)} pods tolerate"
        yield f"tainting {node}: {they} it only for a time: {_named(for_a_time)}"
    cluster.evict(leaves)


def _named(pods: Sequence[Pod]) -> str:
    return few(sorted(pod.key for pod in pods))


def _label(cluster: Cluster, value: str) -> Iterator[str]:
    where, change = _node_and_change(value, "--label", "NODE=KEY=VALUE, or NODE=KEY-")
    before: dict[str, Node] = {}
    for node in cluster.matching(where, "--label"):
        labels = dict(node.metadata.labels)
        key, equals, label = change.partition("=")
        if not equals and change.endswith("-"):
            labels.pop(change[:-1], None)
        else:
            problems = label_key_errors(key) + label_value_errors(label)
            if not equals or problems:
                raise SchedError(f"--label {value}: {problems[0] if problems else 'write NODE=KEY=VALUE or NODE=KEY-'}")
            labels[key] = label
        before[node.name] = node
        cluster.nodes[node.name] = structs.replace(node, metadata=structs.replace(node.metadata, labels=labels))
    yield from _end_daemons(cluster, before)


def _end_daemons(cluster: Cluster, before: Mapping[str, Node]) -> Iterator[str]:
    """Take away the DaemonSet pods that may not stay on a changed node, as their controller does (podsShouldBeOnNode).

    `before` are the nodes as they were.
    """
    sets = {item.key: item.spec.template.spec for item in cluster.others if isinstance(item, DaemonSet)}
    specs = {key: with_daemon_tolerations(spec) for key, spec in sets.items()}
    ended = []
    for pod in cluster.pods if specs else ():
        node, owner = before.get(pod.spec.node_name), pod.metadata.controller
        if node is None or owner is None or owner.kind != "DaemonSet":
            continue
        spec = specs.get(f"{pod.namespace}/{owner.name}")
        if spec is not None and stays_on(spec, node) and not stays_on(spec, cluster.nodes[node.name]):
            ended.append(pod)
    cluster.drop(ended)
    if ended:
        leave = "1 pod of a DaemonSet leaves its node" if len(ended) == 1 else f"{len(ended)} pods of DaemonSets leave"
        yield f"labelling {few(sorted(before))}: {leave}: {_named(ended)}"


def _node_and_change(value: str, flag: str, form: str) -> tuple[str, str]:
    """Split at the `=` behind NODE. A selector in parentheses may hold `=` itself, and sets in parentheses."""
    is_selector = value.startswith("(") and ")" in value
    position = value.find(")=") + 1 if is_selector else value.find("=")
    if position < 1 or position == len(value) - 1:
        raise SchedError(f"{flag} {value}: write {form}")
    return value[:position], value[position + 1 :]


_APPLY: Mapping[str, Callable[[Cluster, str], Iterable[str]]] = {
    "--add-nodes": _add_nodes,
    DRAIN: _drain,
    "--remove-node": _remove_node,
    "--cordon": _cordon,
    "--uncordon": _uncordon,
    "--taint": _taint,
    "--label": _label,
}
FLAGS = frozenset(_APPLY)


def apply(edits: Iterable[Edit], cluster: Cluster) -> tuple[str, ...]:
    """Make the edits in their order and return what they cost, in sentences.

    Raises SchedError for an edit that cannot be made.
    """
    return tuple(note for edit in edits for note in _APPLY[edit.flag](cluster, edit.value))

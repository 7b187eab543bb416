"""A cluster while a what-if edits it: nodes that are copied, pods that leave their nodes and come back."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apps import DaemonSet, Job
from kubectl_sched.api.core import HOSTNAME, Node
from kubectl_sched.api.meta import Condition, ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceSlice
from kubectl_sched.api.storage import CSINode
from kubectl_sched.controllers.claims_after_deletion import Changes, all_changed, changed, left_behind, recreated
from kubectl_sched.controllers.controller_reference import controller_reference
from kubectl_sched.controllers.daemon_set import pinned, runs_on, with_daemon_tolerations
from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_hint, with_domain
from kubectl_sched.snapshot import Objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import PodSpec

_TRANSIENT_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_TRANSIENT_KEYS = frozenset({"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"})


def fresh_copy(node: Node, name: str) -> Node:
    """The node under another name: Ready, uncordoned, without transient taints, images and attached volumes."""
    labels = {**node.metadata.labels, HOSTNAME: name}
    ready = Condition(type="Ready", status="True", reason="KubeletReady")
    return structs.replace(
        node,
        metadata=ObjectMeta(name=name, uid=f"whatif/Node/{name}", labels=labels, annotations=node.metadata.annotations),
        spec=structs.replace(
            node.spec,
            unschedulable=False,
            provider_id="",
            taints=tuple(taint for taint in node.spec.taints if not _is_transient(taint)),
        ),
        status=structs.replace(node.status, conditions=(ready,), images=()),
    )


def slices_of_copy(node: str, copy: str, objects: Iterable[KubernetesObject]) -> Iterator[ResourceSlice]:
    """The node's own devices, as its drivers will publish them on the copy; nobody has them yet."""
    for item in objects:
        if isinstance(item, ResourceSlice) and item.spec.node_name == node:
            name, pool = (_of_copy(text, node, copy) for text in (item.name, item.spec.pool.name))
            spec = structs.replace(item.spec, node_name=copy, pool=structs.replace(item.spec.pool, name=pool))
            yield structs.replace(item, metadata=ObjectMeta(name=name, uid=f"whatif/ResourceSlice/{name}"), spec=spec)


def _of_copy(text: str, node: str, copy: str) -> str:
    return text.replace(node, copy) if node in text else f"{text}-{copy}"


def _is_transient(taint: Taint) -> bool:
    return taint.key.startswith(_TRANSIENT_PREFIXES) or taint.key in _TRANSIENT_KEYS


def daemon_templates(objects: Iterable[KubernetesObject], pods: Iterable[Pod]) -> list[Pod]:
    """A pod of each DaemonSet, bound to no node: from its template, or where that is not known from one of its pods."""
    found: dict[str, Pod] = {}
    for item in objects:
        if isinstance(item, DaemonSet):
            template = item.spec.template
            owners = (controller_reference(item, "apps/v1"),)
            metadata = structs.replace(
                template.metadata, name=item.name, namespace=item.namespace, owner_references=owners
            )
            found[item.key] = Pod(metadata=metadata, spec=with_daemon_tolerations(template.spec))
    for pod in pods:
        controller = pod.metadata.controller
        if controller is not None and pod.is_daemon and f"{pod.namespace}/{controller.name}" not in found:
            metadata = structs.replace(pod.metadata, name=controller.name)
            found[f"{pod.namespace}/{controller.name}"] = Pod(metadata=metadata, spec=_off_its_node(pod.spec))
    return list(found.values())


def _off_its_node(spec: PodSpec) -> PodSpec:
    """Without the affinity that pins it; what the template itself required of nodes is lost in its pods."""
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = structs.replace(affinity, node_affinity=structs.replace(affinity.node_affinity, required=None))
    return structs.replace(spec, node_name="", affinity=affinity)


def daemon_on(node: Node, template: Pod) -> Pod:
    """The DaemonSet's pod on the node."""
    name = f"{template.name}-{node.name}"
    metadata = structs.replace(template.metadata, name=name, uid=f"whatif/{template.namespace}/{name}")
    spec = structs.replace(pinned(template.spec, node.name), node_name=node.name)
    return structs.replace(template, metadata=metadata, spec=spec)


class Cluster:
    """The objects of a cluster while they are edited; `evicted` come back as pending pods.

    `admit` gives a pod that is created what the API server would give it.
    """

    def __init__(
        self,
        nodes: dict[str, Node],
        pods: list[Pod],
        others: list[KubernetesObject],
        admit: Callable[[Pod], Pod],
    ) -> None:
        self.nodes = nodes
        self.pods = pods
        self.others = others
        self.admit = admit
        self.evicted: list[Pod] = []

    @classmethod
    def of(cls, objects: Iterable[KubernetesObject], admit: Callable[[Pod], Pod]) -> Cluster:
        """The cluster of these objects."""
        nodes: dict[str, Node] = {}
        pods: list[Pod] = []
        others: list[KubernetesObject] = []
        for item in objects:
            if isinstance(item, Node):
                nodes[item.name] = item
            elif isinstance(item, Pod):
                pods.append(item)
            else:
                others.append(item)
        return cls(nodes, pods, others, admit)

    @property
    def objects(self) -> tuple[KubernetesObject, ...]:
        """All objects; evicted pods are not among them."""
        return (*self.nodes.values(), *self.pods, *self.others)

    @cached_property
    def patient_jobs(self) -> frozenset[str]:
        """The keys of the Jobs that wait for the end of a pod that terminates."""
        return frozenset(item.key for item in self.others if isinstance(item, Job) and item.waits_for_the_end)

    def matching(self, text: str, flag: str) -> list[Node]:
        """The nodes of a name, which may lack its domain, of a shell pattern, or of a label selector in parentheses."""
        if not text:
            raise SchedError(f"{flag}: it names no node: give a name, a pattern (gpu-*) or a selector ((zone=a))")
        if text.startswith("(") and not text.endswith(")"):
            raise SchedError(f"{flag} {text}: the parenthesis is not closed")
        if text.startswith("("):
            from kubectl_sched.api.apimachinery.selector_text import parse_selector

            selector = parse_selector(text[1:-1])
            found = [node for node in self.nodes.values() if selector.matches(node.metadata.labels)]
        elif (name := with_domain(text, self.nodes)) in self.nodes:
            found = [self.nodes[name]]
        else:
            found = [node for name, node in self.nodes.items() if fnmatchcase(name, text)]
        if not found and not self.nodes:
            raise SchedError(f"{flag}: no node was read that could be {text} (`kubectl get nodes -o json` has them)")
        if not found:
            raise SchedError(f"{flag}: no node matches {text}{near_hint(text, self.nodes)}")
        return found

    def add_copies(self, original: Node, count: int) -> None:
        """Copies of a node, NAME-add-1 and so on, each with the DaemonSet pods that belong on it."""
        drivers = next((item for item in self.others if isinstance(item, CSINode) and item.name == original.name), None)
        daemons = daemon_templates(self.others, self.pods)
        number = 1
        for _ in range(count):
            while f"{original.name}-add-{number}" in self.nodes:
                number += 1
            copy = fresh_copy(original, f"{original.name}-add-{number}")
            self.nodes[copy.name] = copy
            self.others += list(slices_of_copy(original.name, copy.name, self.others))
            if drivers is not None:
                named = structs.replace(drivers.metadata, name=copy.name, uid="")
                self.others.append(structs.replace(drivers, metadata=named))
            self.pods += (self.admit(daemon_on(copy, pod)) for pod in daemons if runs_on(pod.spec, copy))

    def drop(self, pods: Iterable[Pod]) -> None:
        """Take pods away for good, with what they had for themselves."""
        keys = {pod.key for pod in pods}
        if keys:
            self._leave([pod for pod in self.pods if pod.key in keys], lambda _: None)

    def evict(self, leaving: Callable[[Pod], bool]) -> None:
        """Take pods off their nodes; those that a controller owns are pending again."""
        from kubectl_sched.simulation.drain import comes_back

        gone = [pod for pod in self.pods if leaving(pod)]
        again = {pod.key: recreated(pod) for pod in gone if comes_back(pod, self.patient_jobs) and not pod.has_ended}
        self.evicted += again.values()
        self._leave(gone, lambda pod: again.get(pod.key))

    def take_evicted(self, choose: Callable[[Sequence[Pod]], Sequence[Pod]]) -> Sequence[Pod]:
        """Return those evicted pods that are chosen; the rest stay."""
        taken = choose(self.evicted)
        keys = {pod.key for pod in taken}
        self.evicted = [pod for pod in self.evicted if pod.key not in keys]
        return taken

    def _leave(self, gone: Sequence[Pod], again: Callable[[Pod], Pod | None]) -> None:
        changes: Changes = {}
        if any(map(_has_claims, gone)):
            objects = Objects(self.others)
            for pod in gone:
                changes |= left_behind(pod, changed(objects, changes) if changes else objects, again(pod))
            self.others = all_changed(self.others, changes)
        names = {pod.key for pod in gone}
        self.pods = [pod for pod in self.pods if pod.key not in names]

    def on(self, node: str) -> list[Pod]:
        """The pods of one node."""
        return [pod for pod in self.pods if pod.spec.node_name == node]


def _has_claims(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims or pod.spec.volumes or pod.status.extended_resource_claim_status)

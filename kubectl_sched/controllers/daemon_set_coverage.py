"""The nodes that have a DaemonSet's pod, wait for it, or lack it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.daemon_set import runs_on, target_of, with_daemon_tolerations
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject

_SHOWN = 5


class Coverage(Record, frozen=True, kw_only=True):
    """Of one DaemonSet, the names of nodes in their order."""

    key: str
    having: tuple[str, ...]
    waiting: tuple[str, ...]
    lacking: tuple[str, ...]
    """Nodes that are meant to have a pod and have none; all without one where the DaemonSet itself was not read."""

    passed_over: tuple[str, ...]
    """Nodes that the DaemonSet is not meant for."""

    @property
    def told(self) -> str:
        """All of it in a sentence."""
        nodes = len(self.having) + len(self.waiting) + len(self.lacking) + len(self.passed_over)
        said = [f"DaemonSet {self.key}: {len(self.having):,} of {nodes:,} nodes have its pod"]
        if self.waiting:
            said.append(f"{_listed(self.waiting)} {_have(self.waiting)} one that waits")
        if self.lacking:
            said.append(f"{_listed(self.lacking)} {_have(self.lacking)} none")
        if self.passed_over:
            said.append(f"its selector, affinity and tolerations leave out {_listed(self.passed_over)}")
        return "; ".join(said)


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def coverage(objects: Sequence[KubernetesObject], name: str, namespace: str | None) -> Iterator[Coverage]:
    """Of every DaemonSet of the name that has pods or was read, in the namespace or (None) in all."""
    pods: dict[str, list[Pod]] = {}
    sets = {item.key: item for item in objects if isinstance(item, DaemonSet) and item.name == name}
    for item in objects:
        if isinstance(item, Pod) and not item.has_ended and _owner(item) == ("DaemonSet", name):
            pods.setdefault(f"{item.metadata.namespace}/{name}", []).append(item)
    nodes = sorted((item for item in objects if isinstance(item, Node)), key=lambda node: node.name)
    for key in sorted({*sets, *pods}):
        if namespace in {None, key.partition("/")[0]}:
            yield _coverage(key, pods.get(key, []), sets.get(key), nodes)


def _owner(pod: Pod) -> tuple[str, str] | None:
    controller = pod.metadata.controller
    return (controller.kind, controller.name) if controller is not None else None


def _coverage(key: str, pods: Sequence[Pod], item: DaemonSet | None, nodes: Sequence[Node]) -> Coverage:
    having = {pod.spec.node_name for pod in pods if pod.spec.node_name}
    waiting = {target_of(pod) for pod in pods if not pod.spec.node_name} - having
    spec = with_daemon_tolerations(item.spec.template.spec) if item is not None else None
    rest = [node for node in nodes if node.name not in having and node.name not in waiting]
    meant = [node.name for node in rest if spec is None or runs_on(spec, node)]
    return Coverage(
        key=key,
        having=tuple(node.name for node in nodes if node.name in having),
        waiting=tuple(node.name for node in nodes if node.name in waiting),
        lacking=tuple(meant),
        passed_over=tuple(node.name for node in rest if node.name not in meant),
    )

"""Workloads that were asked for by name and have no pods: paused, for no node, or not acted on by a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.core import Node
from kubectl_sched.controllers.daemon_set import runs_on, with_daemon_tolerations
from kubectl_sched.queries.never_created.missing_pods import NeverCreated, Obstacle
from kubectl_sched.queries.never_created.replicated import deployment_without_replicas
from kubectl_sched.shell_commands import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.queries.never_created.workloads import Workloads


def idle(item: KubernetesObject, around: Workloads) -> Iterator[NeverCreated]:
    """Yield why a workload has no pods at all, if neither a refusal nor a pause is the reason."""
    if around.pods_of(item) or around.name_of(item) in around.owned:
        return
    name, found, wanted = around.name_of(item), None, 0
    if isinstance(item, Deployment | ReplicaSet | ReplicationController | StatefulSet):
        wanted = 1 if item.spec.replicas is None else item.spec.replicas
        if isinstance(item, Deployment) and item.spec.paused and wanted:
            yield deployment_without_replicas(name, wanted)
            return
        found = _of_nobody(item, around) if wanted else None
    elif isinstance(item, DaemonSet):
        found = _without_nodes(item, around)
    if found is not None:
        yield NeverCreated(workload=around.topmost(item), owner=name, obstacle=found, wanted=wanted, there=0)


def _of_nobody(item: KubernetesObject, around: Workloads) -> Obstacle | None:
    """Return that no controller has acted, where the ReplicaSets of the dump show it."""
    if not isinstance(item, Deployment) or "ReplicaSet" not in around.around.dump.present:
        return None
    command = describe("deployment", item.namespace, item.name)
    return Obstacle(
        cause="NoController",
        clause="it has no ReplicaSet: the deployment controller has not acted on it",
        helps="see that kube-controller-manager runs, and the Deployment's events",
        commands=tuple(filter(None, (command,))),
    )


def _without_nodes(item: DaemonSet, around: Workloads) -> Obstacle | None:
    nodes = around.objects.all(Node)
    spec = with_daemon_tolerations(item.spec.template.spec)
    if not nodes or any(runs_on(spec, node) for node in nodes):
        return None
    wanted = spec.node_selector or {}
    lacking = [f"{key}={value}" for key, value in wanted.items() if all(_lacks(each, key, value) for each in nodes)]
    why = f"none has {lacking[0]}" if lacking else "its node selector, affinity and tolerations leave out all of them"
    return Obstacle(
        cause="NoNode",
        clause=f"no node of {len(nodes):,} is one for it: {why}",
        helps="label the nodes that it is for, or correct the DaemonSet's node selector or tolerations",
        on_purpose=True,
    )


def _lacks(node: Node, key: str, value: str) -> bool:
    return node.metadata.labels.get(key) != value

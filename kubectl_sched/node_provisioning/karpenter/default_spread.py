"""The default spread constraints of pods that have none (defaultconstraints.go of the simulation).

Karpenter deduces the selector of each pod as kube-scheduler does: from the Services that select it and its controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import selector_from_set
from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.core import Service
from kubectl_sched.api.meta import LabelSelector, LabelSelectorRequirement, with_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options


def with_default_spread(pods: Sequence[Pod], cluster: Cluster, options: Options) -> list[Pod]:
    """Return the pods, those without spread constraints with the default ones (Inject)."""
    if not options.default_constraints:
        return list(pods)
    services: dict[str, list[Service]] = {}
    for each in cluster.of(Service):
        services.setdefault(each.namespace, []).append(each)
    return [_constrained(pod, services.get(pod.namespace, []), cluster, options) for pod in pods]


def _constrained(pod: Pod, services: Sequence[Service], cluster: Cluster, options: Options) -> Pod:
    if pod.spec.topology_spread_constraints:
        return pod
    selector = _default_selector(pod, services, cluster)
    if selector is None:
        return pod
    constraints = tuple(replace(each, label_selector=selector) for each in options.default_constraints)
    return with_spec(pod, topology_spread_constraints=constraints)


def _default_selector(pod: Pod, services: Sequence[Service], cluster: Cluster) -> LabelSelector | None:
    """Return the selector of a pod's Services and controller; None if they select by nothing."""
    labels: dict[str, str] = {}
    for service in services:
        if service.spec.selector and selector_from_set(service.spec.selector).matches(pod.metadata.labels):
            labels |= service.spec.selector
    expressions: tuple[LabelSelectorRequirement, ...] = ()
    owner = pod.metadata.controller
    key = f"{pod.namespace}/{owner.name}" if owner is not None else ""
    match (owner.api_version, owner.kind) if owner is not None else ("", ""):
        case ("v1", "ReplicationController"):
            labels |= next((each.spec.selector for each in cluster.of(ReplicationController) if each.key == key), {})
        case ("apps/v1", "ReplicaSet"):
            sets = (each.spec.selector for each in cluster.of(ReplicaSet) if each.key == key)
            expressions = _requirements(next(sets, None))
        case ("apps/v1", "StatefulSet"):
            stateful = (each.spec.selector for each in cluster.of(StatefulSet) if each.key == key)
            expressions = _requirements(next(stateful, None))
    if not labels and not expressions:
        return None
    return LabelSelector(match_labels=labels, match_expressions=expressions)


def _requirements(selector: LabelSelector | None) -> tuple[LabelSelectorRequirement, ...]:
    """Return a selector as expressions alone (requirementsFrom)."""
    if selector is None:
        return ()
    pairs = (LabelSelectorRequirement(key=key, operator="In", values=(value,))
             for key, value in selector.match_labels.items())  # fmt: skip
    return (*pairs, *selector.match_expressions)

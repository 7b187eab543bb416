"""The reasons why a NodePool can make no node for a pod, whatever instance types there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.node_provisioning.karpenter.node_claim_template import template_requirements
from kubectl_sched.node_provisioning.karpenter.preference_relaxation import relax
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    incompatibility,
    is_compatible,
    merged,
    pod_requirements,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import requests_for_pods
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all, untolerated_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

_COUNTED = ("cpu", "memory")


def certain_obstacle(
    pool: NodePool,
    pod: Pod,
    remaining: Mapping[str, Quantity],
    options: Options,
    volumes: Sequence[Requirements] = (),
) -> str:
    """Karpenter's words for what no instance type can change: limits, taints, requirements; empty if there is none.

    `remaining` is what the limits leave, `volumes` the alternatives of where all volumes of the pod can be reached.
    """
    nodes = remaining.get("nodes")
    if nodes is not None and nodes.is_zero:
        return f"node limits have been exhausted for nodepool (NodePool={pool.name})"
    exceeded = f"all available instance types exceed limits for nodepool (NodePool={pool.name})"
    if any(left < ZERO or (name in _COUNTED and left.is_zero) for name, left in remaining.items()):
        return exceeded
    wrong = ""
    for stage in _stages(pool, pod):
        wrong = _constraint(pool, stage, options, volumes)
        if not wrong:
            break
    if wrong:
        return wrong
    wanted = requests_for_pods(pod)
    return exceeded if any(remaining.get(name, wanted[name]) < wanted[name] for name in wanted) else ""


def labels_not_named(pool: NodePool, pod: Pod, options: Options) -> list[str]:
    """The labels that the pod requires, and that neither the NodePool names nor anybody is known to add."""
    have = template_requirements(pool)
    wanted = (pod_requirements(stage, strict=True) for stage in _stages(pool, pod))
    unnamed = [
        sorted(key for key, each in stage.items() if not each.is_negative and key not in have) for stage in wanted
    ]
    return min(([key for key in keys if key not in options.well_known] for keys in unnamed), key=len)


def _stages(pool: NodePool, pod: Pod) -> Iterator[Pod]:
    """The pod, and what is left of it with each constraint that Karpenter drops."""
    soft = any(taint.effect == "PreferNoSchedule" for taint in pool.spec.template.spec.taints)
    stage: Pod | None = pod
    while stage is not None:
        yield stage
        stage = relax(stage, tolerate_prefer_no_schedule=soft)


def _constraint(pool: NodePool, pod: Pod, options: Options, volumes: Sequence[Requirements]) -> str:
    taints = pool.spec.template.spec.taints
    if not tolerates_all(taints, pod.spec.tolerations):
        return untolerated_text(taints, pod.spec.tolerations)
    have, want = template_requirements(pool), pod_requirements(pod, strict=not options.respects_preferences)
    if not is_compatible(have, want, options.well_known):
        return f"incompatible requirements, {incompatibility(have, want, options.well_known)}"
    both = merged(have.values(), want.values())
    if not volumes or any(is_compatible(both, each, options.well_known) for each in volumes):
        return ""
    return f"incompatible volume requirements, {incompatibility(both, volumes[-1], options.well_known)}"

"""The reasons why a NodePool can make no node for a pod, whatever instance types there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.node_provisioning.karpenter.node_claim_template import template_requirements
from kubectl_sched.node_provisioning.karpenter.preference_relaxation import relax
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    incompatibility,
    is_compatible,
    pod_requirements,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import requests_for_pods
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all, untolerated_text

if TYPE_CHECKING:
    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options

_COUNTED = ("cpu", "memory")


def rejection_by_any_type(pool: NodePool, pod: Pod, remaining: Resources, options: Options) -> str:
    """Karpenter's words for what no instance type can change: a limit, taints, requirements; empty if there is none."""
    nodes = remaining.get("nodes")
    if nodes is not None and nodes.is_zero:
        return f"node limits have been exhausted for nodepool (NodePool={pool.name})"
    wanted = requests_for_pods(pod)
    least = {name: max(wanted.get(name, ZERO), ZERO) for name in _COUNTED}
    if any(left < least.get(name, ZERO) for name, left in remaining.items()):
        return f"all available instance types exceed limits for nodepool (NodePool={pool.name})"
    stage: Pod | None = pod
    wrong = ""
    while stage is not None:
        wrong = _constraint(pool, stage, options)
        if not wrong:
            return ""
        soft = any(taint.effect == "PreferNoSchedule" for taint in pool.spec.template.spec.taints)
        stage = relax(stage, tolerate_prefer_no_schedule=soft)
    return wrong


def _constraint(pool: NodePool, pod: Pod, options: Options) -> str:
    taints = pool.spec.template.spec.taints
    if not tolerates_all(taints, pod.spec.tolerations):
        return untolerated_text(taints, pod.spec.tolerations)
    have, want = template_requirements(pool), pod_requirements(pod, strict=not options.respects_preferences)
    # Requirements on labels that instance types add are known only with the types.
    stated = {key: each for key, each in want.items() if key in have}
    if is_compatible(have, stated, options.well_known):
        return ""
    return f"incompatible requirements, {incompatibility(have, stated, options.well_known)}"

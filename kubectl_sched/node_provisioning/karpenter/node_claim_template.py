"""The template of a NodePool's NodeClaims (nodeclaimtemplate.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.node_provisioning.karpenter.karpenter_labels import (
    INITIALIZED,
    NODE_POOL,
    REGISTERED,
    node_class_label,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import label_requirements, merged

if TYPE_CHECKING:
    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.snapshot.array_types import Mask


class NodeClaimTemplate(NamedTuple):
    """A NodePool as the simulation uses it: labels, taints, requirements, and the instance types within these."""

    node_pool: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    requirements: Requirements
    table: InstanceTypeTable
    options: Mask


def template_labels(pool: NodePool) -> dict[str, str]:
    """The labels that every node of the NodePool gets."""
    reference = pool.spec.template.spec.node_class_ref
    own = {NODE_POOL: pool.name, node_class_label(reference.group, reference.kind): reference.name}
    return {**pool.spec.template.metadata.labels, **own}


def pool_requirements(pool: NodePool) -> Requirements:
    """The requirements of the NodePool's template, its labels left out."""
    return merged(
        requirement(each.key, each.operator, each.values, each.min_values)
        for each in pool.spec.template.spec.requirements
    )


def template_requirements(pool: NodePool) -> Requirements:
    """Return what every node of the NodePool meets (NewNodeClaimTemplate)."""
    return merged(
        pool_requirements(pool).values(),
        label_requirements(template_labels(pool)).values(),
        [requirement(REGISTERED, IN, ("true",)), requirement(INITIALIZED, IN, ("true",))],
    )

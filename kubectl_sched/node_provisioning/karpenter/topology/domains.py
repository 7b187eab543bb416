"""The domains that the nodes of NodePools could be in, for topology constraints (buildDomainGroups of topology.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.node_provisioning.karpenter.node_claim_template import pool_requirements
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import label_requirements, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Domains


def pool_domains(pools: Iterable[NodePool], tables: Mapping[str, InstanceTypeTable]) -> Domains:
    """Every value that a label could have on a new node, with the taints of the NodePools that could make it."""
    domains: Domains = {}
    for pool in pools:
        if pool.name not in tables:
            continue
        labels = label_requirements(pool.spec.template.metadata.labels)
        own = merged(pool_requirements(pool).values(), labels.values())
        for key, values in _values(own, tables[pool.name]):
            known = domains.setdefault(key, {})
            for value in values:
                taint_sets = known.setdefault(value, [])
                if pool.spec.template.spec.taints not in taint_sets:
                    taint_sets.append(pool.spec.template.spec.taints)
    return domains


def _values(own: Requirements, table: InstanceTypeTable) -> Iterator[tuple[str, Iterable[str]]]:
    """The values of each label: of the NodePool and each of its types together, and of the NodePool alone.

    Of a requirement that excludes values upstream takes these.
    """
    for key in {*own, *table.labels}:
        for stated in table.distinct(key):
            parts = [each for each in (own.get(key), stated) if each is not None]
            yield key, merged(parts).get(key, parts[0]).values if parts else ()
    for key, wanted in own.items():
        if wanted.operator == IN:
            yield key, wanted.values

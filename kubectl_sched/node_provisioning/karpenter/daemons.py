"""The daemons that a new node would run, and what they take of it (buildDaemonOverheadGroups of scheduler.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.affinity import Affinity, NodeAffinity
from kubectl_sched.api.meta import ObjectMeta, with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.node_provisioning.karpenter.preference_relaxation import (
    tolerates_prefer_no_schedule,
    without_first_required_term,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import host_ports
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible, pod_requirements
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import requests_for_pods
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.apps import DaemonSet
    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.core import Taint
    from kubectl_sched.node_provisioning.karpenter.node_claim_template import NodeClaimTemplate
    from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import HostPort
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.snapshot.array_types import Mask


class DaemonOverheadGroup(NamedTuple):
    """Instance types on which the same daemons run."""

    rows: tuple[int, ...]
    mask: Mask
    overhead: Resources
    host_ports: dict[str, tuple[HostPort, ...]]


class DaemonPods:
    """A pod of each DaemonSet, on the way through Karpenter's simulation, which changes them for good.

    To see whether a daemon runs on an instance type, upstream lets the pod tolerate PreferNoSchedule and drops its
    required terms one by one, and whatever comes next sees what is left of it.
    """

    def __init__(self, pods: Iterable[Pod], *, ignores_devices: bool) -> None:
        self.pods = [pod for pod in pods if not (ignores_devices and has_dynamic_resources(pod))]

    def overhead_groups(self, template: NodeClaimTemplate) -> tuple[DaemonOverheadGroup, ...]:
        """The template's instance types by the daemons that run on them."""
        rows = [int(row) for row in np.flatnonzero(template.options)]
        runs = [self._runs(index, template, rows) for index in range(len(self.pods))]
        groups: dict[tuple[int, ...], list[int]] = {}
        for place, row in enumerate(rows):
            daemons = tuple(index for index in range(len(self.pods)) if runs[index][place])
            groups.setdefault(daemons, []).append(row)
        return tuple(self._group(template, daemons, members) for daemons, members in groups.items())

    def on_node(self, taints: Sequence[Taint], labels: Requirements) -> list[Pod]:
        """The daemons that run on an existing node (getCompatibleDaemonPods)."""
        return [
            pod
            for pod in self.pods
            if tolerates_all(taints, pod.spec.tolerations) and is_compatible(labels, pod_requirements(pod, strict=True))
        ]

    def _group(self, template: NodeClaimTemplate, daemons: tuple[int, ...], rows: list[int]) -> DaemonOverheadGroup:
        pods = [self.pods[index] for index in daemons]
        mask = np.zeros(len(template.table.types), dtype=np.bool_)
        mask[rows] = True
        overhead = requests_for_pods(*pods) if pods else {}
        return DaemonOverheadGroup(tuple(rows), mask, overhead, {pod.key: host_ports(pod) for pod in pods})

    def _runs(self, index: int, template: NodeClaimTemplate, rows: list[int]) -> list[bool]:
        """Report whether a daemon runs on each of the types, terms being dropped on the way (isDaemonPodCompatible)."""
        if not rows:
            return []
        pod = self.pods[index] = tolerates_prefer_no_schedule(self.pods[index]) or self.pods[index]
        if not tolerates_all(template.taints, pod.spec.tolerations):
            return [False] * len(rows)
        runs, mask = [], self._mask(pod, template)
        for row in rows:
            while not mask[row] and (relaxed := without_first_required_term(pod)) is not None:
                pod, mask = relaxed, self._mask(relaxed, template)
            runs.append(bool(mask[row]))
        self.pods[index] = pod
        return runs

    def _mask(self, pod: Pod, template: NodeClaimTemplate) -> Mask:
        wanted = pod_requirements(pod, strict=True)
        if not is_compatible(template.requirements, wanted, template.table.well_known):
            return np.zeros(len(template.table.types), dtype=np.bool_)
        return template.table.compatible(wanted)


def daemon_set_pods(daemon_sets: Iterable[DaemonSet], pods: Iterable[Pod]) -> list[Pod]:
    """A pod for each DaemonSet: its newest or one of the template, with the template's affinity (getDaemonSetPods)."""
    newest: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "DaemonSet":
            key = pod.namespace, owner.uid or owner.name
            known = newest.get(key)
            if known is None or (pod.metadata.creation_timestamp or "") > (known.metadata.creation_timestamp or ""):
                newest[key] = pod
    return [_daemon_pod(item, newest.get((item.namespace, item.metadata.uid or item.name))) for item in daemon_sets]


def has_dynamic_resources(pod: Pod) -> bool:
    """Report whether a pod uses ResourceClaims (HasDRARequirements)."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return bool(pod.spec.resource_claims) or any(each.resources.claims for each in containers)


def _daemon_pod(item: DaemonSet, running: Pod | None) -> Pod:
    if running is None:
        return _of_template(item)
    template = item.spec.template.spec.affinity
    required = template.node_affinity.required if template is not None and template.node_affinity is not None else None
    if required is None:
        return running
    affinity = running.spec.affinity or Affinity()
    node_affinity = replace(affinity.node_affinity or NodeAffinity(), required=required)
    return with_spec(running, affinity=replace(affinity, node_affinity=node_affinity))


def _of_template(item: DaemonSet) -> Pod:
    """A pod of the template, limits standing for requests that are not made (PodForDaemonSet)."""
    spec = item.spec.template.spec
    completed = replace(
        spec,
        containers=tuple(map(_completed, spec.containers)),
        init_containers=tuple(map(_completed, spec.init_containers)),
    )
    return Pod(metadata=ObjectMeta(name=item.name, namespace=item.namespace), spec=completed)


def _completed(container: Container) -> Container:
    resources = container.resources
    requests = {**resources.limits, **resources.requests}
    return replace(container, resources=replace(resources, requests=requests))

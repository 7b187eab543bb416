"""Karpenter's simulation: each pod onto a node that is there, one in the making, or a new one (scheduler.go)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.node_provisioning.karpenter.daemons import has_dynamic_resources
from kubectl_sched.node_provisioning.karpenter.node_claim import Addition, NewNodeClaim, Simulation
from kubectl_sched.node_provisioning.karpenter.pod_data import PodData, Rejection
from kubectl_sched.node_provisioning.karpenter.preference_relaxation import relax
from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import host_ports
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import pod_requirements
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import requests_for_pods
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import (
    MissingVolumeObject,
    Storage,
    pod_volumes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.daemons import DaemonOverheadGroup
    from kubectl_sched.node_provisioning.karpenter.existing_node import ExistingNode
    from kubectl_sched.node_provisioning.karpenter.node_claim_template import NodeClaimTemplate
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Volumes
    from kubectl_sched.snapshot.array_types import Mask

_DYNAMIC_RESOURCES = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
_NO_TEMPLATE = "nodepool requirements filtered out all available instance types"


class Template(NamedTuple):
    """A NodePool's template, and the daemons that its nodes would run."""

    claim: NodeClaimTemplate
    groups: tuple[DaemonOverheadGroup, ...]


class Removal(NamedTuple):
    """The rules of a simulation that asks whether a node can go, in place of where pending pods are placed."""

    waiting_nodes: frozenset[str] = frozenset()
    """Nodes whose consolidateAfter is not over: they take no pod that is moved."""

    moved_pods: frozenset[str] = frozenset()
    """The pods that are moved, by namespace/name: they run, and their node is not being deleted."""

    falls_back: bool = False
    """A pod has on-demand or spot where its reservation is not to be had."""


NO_REMOVAL: Final = Removal()


class Setting(NamedTuple):
    """The input of the simulation."""

    templates: tuple[Template, ...]
    nodes: list[ExistingNode]
    remaining: dict[str, Resources]
    """The rest of each NodePool's limits."""

    storage: Storage
    volume_requirements: Mapping[str, tuple[Requirements, ...]]
    """The alternatives of each pod's volumes, by namespace/name."""

    simulation: Simulation
    options: Options
    tolerates_prefer_no_schedule: bool
    removal: Removal


class Solver:
    """One simulation under way."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._topology = setting.simulation.topology
        self._hosts = 0
        self.claims: list[NewNodeClaim] = []
        self.errors: dict[str, Rejection] = {}
        """The error of each pod that found no place, by namespace/name."""

    def solve(self, pods: Sequence[Pod]) -> None:
        """Place the pods, again and again as long as one more finds its place (Solve)."""
        queue = Queue([self._data(pod) for pod in pods])
        while (data := queue.pop()) is not None:
            rejection = self._try_schedule(data)
            if rejection is None:
                self.errors.pop(data.pod.key, None)
                continue
            self.errors[data.pod.key] = rejection
            self._topology.update(data.pod)
            queue.push(data)
        for claim in self.claims:
            claim.finish()

    def _data(self, pod: Pod) -> PodData:
        respects = self._setting.options.respects_preferences
        devices = self._setting.simulation.devices
        return PodData(
            pod,
            requests_for_pods(pod),
            pod_requirements(pod, strict=not respects),
            pod_requirements(pod, strict=True),
            self._setting.volume_requirements.get(pod.key, ()),
            host_ports(pod),
            self._volumes(pod),
            devices.claims_of(pod) if devices is not None and has_dynamic_resources(pod) else None,
        )

    def _volumes(self, pod: Pod) -> Volumes:
        try:
            return pod_volumes(pod, self._setting.storage)
        except MissingVolumeObject:
            return {}

    def _try_schedule(self, data: PodData) -> Rejection | None:
        """Place a pod, relaxing it as far as it can be (trySchedule)."""
        while True:
            rejection = self._add(data)
            if rejection is None or rejection.awaits_reservation or rejection.is_final:
                return rejection
            relaxed = relax(data.pod, tolerate_prefer_no_schedule=self._setting.tolerates_prefer_no_schedule)
            if relaxed is None:
                return rejection
            self._topology.update(relaxed)
            data = self._data(relaxed)

    def _add(self, data: PodData) -> Rejection | None:
        """Place a pod as it is now (add)."""
        if has_dynamic_resources(data.pod) and data.device_claims is None:
            return self._without_claims(data.pod)
        missing = self._missing_volume(data)
        if missing is not None:
            return missing
        if self._add_to_existing(data):
            return None
        self.claims = go_sort(self.claims, lambda left, right: len(left.pods) < len(right.pods))
        for claim in self.claims:
            addition = claim.can_add(data, relaxes_min_values=False)
            if isinstance(addition, Addition):
                claim.add(data, addition)
                return None
        if not self._setting.templates:
            return Rejection(lambda: _NO_TEMPLATE)
        return self._add_to_new(data)

    def _without_claims(self, pod: Pod) -> Rejection:
        """Refuse a pod with claims: they are ignored, or one of them is not there yet."""
        devices = self._setting.simulation.devices
        if devices is None:
            return Rejection(lambda: _DYNAMIC_RESOURCES, is_final=True)
        return Rejection(lambda: devices.missing_claim(pod))

    def _missing_volume(self, data: PodData) -> Rejection | None:
        """Refuse a pod of which a volume cannot be found, in the releases that look for volumes first."""
        if not self._setting.options.release.volumes_come_first:
            return None
        try:
            pod_volumes(data.pod, self._setting.storage)
        except MissingVolumeObject as missing:
            text = str(missing)
            return Rejection(lambda: text)
        return None

    def _add_to_existing(self, data: PodData) -> bool:
        try:
            volumes = pod_volumes(data.pod, self._setting.storage)
        except MissingVolumeObject:
            return False  # newer releases do not come here with such a pod
        waiting, moved = self._setting.removal.waiting_nodes, self._setting.removal.moved_pods
        for node in self._setting.nodes:
            if node.state.name in waiting and data.pod.key in moved:
                continue
            room = node.can_add(data, volumes)
            if room is not None:
                node.add(data, room, volumes)
                return True
        return False

    def _add_to_new(self, data: PodData) -> Rejection | None:
        """Make a NodeClaim of the first NodePool that can (addToNewNodeClaim)."""
        relaxes = self._setting.options.relaxes_min_values
        rejections: list[tuple[str, Rejection]] = []
        for template in self._setting.templates:
            options = self._within_limits(template.claim)
            if isinstance(options, Rejection):
                rejections.append((template.claim.node_pool, options))
                continue
            self._hosts += 1
            hostname = f"hostname-placeholder-{self._hosts:04}"
            claim = NewNodeClaim(template.claim, template.groups, options, hostname, self._setting.simulation)
            addition = claim.can_add(data, relaxes_min_values=relaxes)
            if isinstance(addition, Addition):
                relaxed = _lowered(claim.requirements, addition.requirements)
                claim.add(data, addition)
                self.claims.append(claim)
                for each in self.claims:
                    if each.template is template.claim:  # upstream's NodeClaims of one template share its annotations
                        each.min_values_relaxed = relaxed
                self._subtract_largest(claim)
                return None
            rejections.append((template.claim.node_pool, addition))
            if addition.awaits_reservation:
                break
        return Rejection(
            lambda: "; ".join(each.text() for _, each in rejections),
            any(each.awaits_reservation for _, each in rejections),
            of_pools=tuple(rejections),
        )

    def _within_limits(self, claim: NodeClaimTemplate) -> Mask | Rejection:
        """The template's instance types that the NodePool's limits leave."""
        name = claim.node_pool
        remaining = self._setting.remaining[name]
        nodes = remaining.get("nodes")
        if nodes is not None and nodes.is_zero:
            return Rejection(lambda: f"node limits have been exhausted for nodepool (NodePool={name})")
        if not remaining:
            return claim.options
        options = claim.options & claim.table.within(remaining)
        if not options.any():
            return Rejection(lambda: f"all available instance types exceed limits for nodepool (NodePool={name})")
        return options

    def _subtract_largest(self, claim: NewNodeClaim) -> None:
        """Count a NodeClaim against its NodePool's limits as the largest of its instance types (subtractMax)."""
        name = claim.template.node_pool
        table = claim.template.table
        self._setting.remaining[name] = {
            resource: left - table.largest(resource, claim.options)
            for resource, left in self._setting.remaining[name].items()
        }


def _lowered(before: Requirements, after: Requirements) -> bool:
    """Report whether a minValues was lowered."""
    pairs = ((each.min_values, after[key].min_values) for key, each in before.items() if key in after)
    return any(old is not None and new is not None and new < old for old, new in pairs)


class Queue:
    """Pods by CPU and memory, most first (queue.go). It ends when a round over all of them has placed none."""

    def __init__(self, pods: Iterable[PodData]) -> None:
        self._pods = deque(sorted(pods, key=_order))
        self._length_at_push: dict[str, int] = {}

    def pop(self) -> PodData | None:
        """The next pod; None if there is none or nothing has changed since it was last tried."""
        if not self._pods or self._length_at_push.get(self._pods[0].pod.key) == len(self._pods):
            return None
        return self._pods.popleft()

    def push(self, data: PodData) -> None:
        """Try the pod again after the others."""
        self._pods.append(data)
        self._length_at_push[data.pod.key] = len(self._pods)


def _order(data: PodData) -> tuple[Quantity, Quantity, str, str]:
    metadata = data.pod.metadata
    cpu, memory = data.requests.get("cpu", ZERO), data.requests.get("memory", ZERO)
    return -cpu, -memory, metadata.creation_timestamp or "", metadata.uid

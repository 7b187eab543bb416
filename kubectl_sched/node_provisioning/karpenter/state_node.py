"""A node as Karpenter knows it: the Node, its NodeClaim, or both (pkg/controllers/state/statenode.go)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import of_value, parse_resource_list
from kubectl_sched.api.core import HOSTNAME, Node
from kubectl_sched.api.meta import find_condition
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import INITIALIZED, INSTANCE_TYPE, NODE_POOL, REGISTERED
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import is_ephemeral, is_same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.karpenter import NodeClaim


class StateNode:
    """A node that is there or on its way. At least one of its two sides is set."""

    def __init__(self, node: Node | None, claim: NodeClaim | None) -> None:
        self.node = node
        self.claim = claim

    @property
    def is_registered(self) -> bool:
        """Report whether the node has joined the cluster and Karpenter has seen it."""
        return self.claim is None or self._has_label(REGISTERED)

    @property
    def is_initialized(self) -> bool:
        """Report whether the node is ready for pods, startup taints gone."""
        return self.claim is None or self._has_label(INITIALIZED)

    def _has_label(self, label: str) -> bool:
        return self.node is not None and self.node.metadata.labels.get(label) == "true"

    @property
    def _seen(self) -> Node | NodeClaim:
        """The side that names, labels and taints come from."""
        if self.claim is None or (self.node is not None and self.is_registered):
            return self.node or Node()
        return self.claim

    @property
    def name(self) -> str:
        """The node's name; the NodeClaim's while it is not registered."""
        return self._seen.name

    @property
    def identity(self) -> str:
        """The provider's ID, else the name (ProviderID)."""
        stated = self.node.spec.provider_id if self.node is not None else self.claim and self.claim.status.provider_id
        return stated or self.name

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the Node, or of its NodeClaim while it is not registered."""
        return self._seen.metadata.labels

    @property
    def hostname(self) -> str:
        """The host name label, else the name."""
        return self.labels.get(HOSTNAME) or self.name

    @property
    def node_pool(self) -> str:
        """The NodePool that it belongs to, empty if none."""
        return self.labels.get(NODE_POOL, "")

    @cached_property
    def taints(self) -> tuple[Taint, ...]:
        """The taints that stay once the node is initialized (Taints)."""
        taints = self._seen.spec.taints
        if self.is_initialized or self.claim is None:
            return taints
        startup = self.claim.spec.startup_taints
        return tuple(
            taint for taint in taints if not is_ephemeral(taint) and not any(is_same(each, taint) for each in startup)
        )

    @property
    def is_being_deleted(self) -> bool:
        """Report whether the node is on its way out (MarkedForDeletion)."""
        if self.claim is not None:
            return self.claim.is_being_deleted
        return self.node is not None and self.node.metadata.deletion_timestamp is not None

    @property
    def is_rebooting(self) -> bool:
        """Report whether its machine is being rebooted in place (RebootInProgress)."""
        rebooting = find_condition(self.claim.status.conditions, "Rebooting") if self.claim is not None else None
        return rebooting is not None and rebooting.status == "True"

    @cached_property
    def capacity(self) -> Resources:
        """Return what the node has, and that it is one node (Capacity)."""
        return {**self._resources("capacity"), "nodes": of_value(1)}

    @cached_property
    def allocatable(self) -> Resources:
        """Return what pods can have of the node (Allocatable)."""
        return self._resources("allocatable")

    def _resources(self, field: str) -> Resources:
        """The node's own amounts; until it is initialized those of the NodeClaim where the node has none."""
        own = parse_resource_list(getattr(self.node.status, field)) if self.node is not None else {}
        if self.claim is None or self.is_initialized:
            return own
        promised = parse_resource_list(getattr(self.claim.status, field))
        return own | {name: amount for name, amount in promised.items() if name not in own or own[name].is_zero}


def state_nodes(nodes: Iterable[Node], claims: Iterable[NodeClaim]) -> list[StateNode]:
    """Nodes and NodeClaims joined by their provider's ID, as Karpenter's cluster state has them."""
    by_id: dict[str, StateNode] = {}
    for claim in claims:
        if claim.status.provider_id:
            by_id[claim.status.provider_id] = StateNode(None, claim)
    for node in nodes:
        labels = node.metadata.labels
        is_managed = bool(labels.get(NODE_POOL))
        if is_managed and not node.spec.provider_id:
            continue
        if is_managed and not labels.get(INSTANCE_TYPE) and not labels.get(INITIALIZED):
            continue
        identity = node.spec.provider_id or node.name
        known = by_id.get(identity)
        by_id[identity] = StateNode(node, known.claim if known is not None else None)
    return list(by_id.values())

"""Nodes that are starting, and nodes that an autoscaler is about to remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.core import Node
from kubectl_sched.api.karpenter import NodeClaim
from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import TO_BE_DELETED
from kubectl_sched.node_provisioning.karpenter.state_node import state_nodes
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject

_NOT_STARTED = frozenset({"node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"})
_DISRUPTED = "karpenter.sh/disrupted"


class StartingNode(Record, frozen=True, kw_only=True):
    """A NodeClaim or a node that takes no pods yet.

    Its state is `not launched`, `not registered`, `not initialized` or `not ready`.
    """

    name: str
    state: str
    since: str | None
    """The time of its creation (RFC 3339)."""


def starting_nodes(objects: Sequence[KubernetesObject]) -> tuple[StartingNode, ...]:
    """Return the nodes on their way, by name: those of NodeClaims, and others that have not become ready."""
    nodes = [each for each in objects if isinstance(each, Node)]
    claims = [each for each in objects if isinstance(each, NodeClaim)]
    found = [
        StartingNode(name=each.name, state="not launched", since=each.metadata.creation_timestamp)
        for each in claims
        if not each.status.provider_id and not each.is_being_deleted
    ]
    for each in state_nodes(nodes, claims):
        if each.claim is not None and not each.is_initialized and not each.is_being_deleted:
            state = "not initialized" if each.is_registered else "not registered"
            found.append(StartingNode(name=each.name, state=state, since=each.claim.metadata.creation_timestamp))
        elif each.claim is None and each.node is not None and _has_not_started(each.node):
            found.append(StartingNode(name=each.name, state="not ready", since=each.node.metadata.creation_timestamp))
    return tuple(sorted(found, key=lambda each: each.name))


def leaving_nodes(objects: Iterable[KubernetesObject]) -> tuple[str, ...]:
    """Return the names of the nodes that are being deleted, or that an autoscaler has marked for it."""
    gone = {each.status.node_name for each in objects if isinstance(each, NodeClaim) and each.is_being_deleted}
    return tuple(
        sorted(
            each.name
            for each in objects
            if isinstance(each, Node)
            and (
                each.metadata.deletion_timestamp is not None
                or each.name in gone
                or any(taint.key in {TO_BE_DELETED, _DISRUPTED} for taint in each.spec.taints)
            )
        )
    )


def _has_not_started(node: Node) -> bool:
    """Report whether the node never was ready, as far as it shows: a kubelet that is lost says Unknown."""
    ready = next((each.status for each in node.status.conditions if each.type == "Ready"), "False")
    return ready == "False" and any(taint.key in _NOT_STARTED for taint in node.spec.taints)

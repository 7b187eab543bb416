"""Nodes grouped as people think of them: by the pool they were made in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.node_provisioning.node_place import pool_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.core import Node
    from kubectl_sched.snapshot import Snapshot

_ROLE = "node-role.kubernetes.io/"
CONDITION_TAINT = "node.kubernetes.io/"
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def pools(nodes: Snapshot, rows: Iterable[int]) -> dict[str, list[int]]:
    """The rows by pool: by a pool label, else by role and taints, in the order of first appearance."""
    grouped: dict[str, list[int]] = {}
    for row in rows:
        grouped.setdefault(pool_of(nodes.node_objects[row]), []).append(row)
    return grouped


def pool_of(node: Node) -> str:
    """`pool-label=value`, else the node's roles and taints in words."""
    pool = pool_label(node)
    if pool is not None:
        return pool
    roles = sorted(key.removeprefix(_ROLE) for key in node.metadata.labels if key.startswith(_ROLE))
    implied = {f"{_ROLE}{role}" for role in roles}
    told = (each for each in node.spec.taints if each.key not in implied and not each.key.startswith(CONDITION_TAINT))
    taints = sorted(map(str, told))
    words = [f"role {role}" for role in roles] + [f"taint {taint}" for taint in taints]
    return ", ".join(words) or "no role, no taints"


def pool_name(node: Node) -> str | None:
    """The value of the node's pool label, else its first role; None if it has neither."""
    pool = pool_label(node)
    value = pool.partition("=")[2] if pool is not None else ""
    roles = sorted(key.removeprefix(_ROLE) for key in node.metadata.labels if key.startswith(_ROLE))
    return value or next(iter(roles), None)


def zone_of(node: Node) -> str | None:
    """Return the node's zone; None if no label names it."""
    labels = node.metadata.labels
    return next((labels[key] for key in _ZONES if key in labels), None)

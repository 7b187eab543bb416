"""Hints about the label that a requirement was probably meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.framework.confusable_texts import nearest, odd_character

if TYPE_CHECKING:
    from kubectl_sched.snapshot import Snapshot

RENAMED_LABELS: Final = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "node-role.kubernetes.io/master": "node-role.kubernetes.io/control-plane",
    "kubernetes.io/role": "node-role.kubernetes.io/<role>",
}
"""Labels that Kubernetes has given a new name."""


def label_hints(key: str, values: tuple[str, ...], nodes: Snapshot, row: int) -> tuple[str, ...]:
    """Clauses on why a node may lack the label `key` with one of the values (none: with any value)."""
    odd = [clause for text in (key, *values) if (clause := odd_character(text)) is not None]
    own = nodes.node_objects[row].metadata.labels
    if key in own:
        return (*odd, *_value_hints(key, values, nodes, own[key]))
    return (*odd, *_key_hints(key, nodes, frozenset(own)))


def _value_hints(key: str, values: tuple[str, ...], nodes: Snapshot, has: str) -> list[str]:
    hints: list[str] = []
    for value in values:
        if nearest(value, (has,)) is not None:
            hints.append(f"the node has {key}={has}, not {key}={value}")
        else:
            known = frozenset(other for other in nodes.whole.label(key).values if other is not None)
            hints += _unknown_value(key, value, known)
    return hints


def _unknown_value(key: str, value: str, known: frozenset[str]) -> list[str]:
    if value in known:
        return []
    near = nearest(value, known)
    return [f"no node has {key}={value}" + (f"; {key}={near} exists" if near is not None else "")]


def _key_hints(key: str, nodes: Snapshot, own: frozenset[str]) -> list[str]:
    known = nodes.whole.table.label_keys
    near = nearest(key, own)
    if near is not None:
        return [f"the node has the label {near}, not {key}"]
    if key in known:
        return []
    hints = [f"no node has the label {key}"]
    if key in RENAMED_LABELS:
        hints.append(f"{key} is now {RENAMED_LABELS[key]}")
    elif (near := nearest(key, known)) is not None:
        hints.append(f"there is a label {near}")
    return hints

"""The pool, zone and instance type of a node, as people order another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import ZONE
from kubectl_sched.data_lines import data_lines

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node

_POOL_LABELS: Final = Path(__file__).with_name("pool_labels.txt")
_INSTANCE_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


def pool_label(node: Node) -> str | None:
    """Return the label that names the node's pool, as `pool-label=value`; None if it has none."""
    labels = node.metadata.labels
    return next((f"{label}={labels[label]}" for label in data_lines(_POOL_LABELS) if label in labels), None)


def place_in_words(node: Node, *, with_type: bool = True) -> str:
    """Return `of pool=general (m5.xlarge) in eu-west-1a`; `like n1` for a node of which nothing is known."""
    labels = node.metadata.labels
    pool = pool_label(node)
    instance_type = next((labels[each] for each in _INSTANCE_TYPES if each in labels), None) if with_type else None
    what = f"of {pool}" if pool is not None else ""
    if instance_type is not None:
        what = f"{what} ({instance_type})" if what else f"of type {instance_type}"
    zone = f" in {labels[ZONE]}" if ZONE in labels else ""
    return f"{what or f'like {node.name}'}{zone}"

"""Nodes that only a controller's taint keeps from the pod: the taint goes by itself, or once the node is repaired."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.timestamps import seconds_between
from kubectl_sched.api.component_helpers.taints import DO_NOT_SCHEDULE, UNSCHEDULABLE_TAINT
from kubectl_sched.diagnostics.taint_owners import taint_owner
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Node, Taint
    from kubectl_sched.diagnostics.taint_owners import TaintOwner
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

TIME_TO_START: Final = 15 * 60
"""Seconds that autoscalers give a node until it must be ready (Karpenter's registration, max-node-provision-time)."""

_TRIED: Final = 3


def taints_that_go(result: ScheduleResult, now: str | None) -> Iterator[Way]:
    """Yield one way for each distinct key, as that of the nodes that nothing else keeps out stands first."""
    mask = result.rejection_masks.get("TaintToleration")
    seen: set[str] = set()
    for row in np.flatnonzero(mask).tolist() if mask is not None else ():
        node = result.nodes.node_objects[row]
        owned = [(taint, owner) for taint in node.spec.taints if (owner := _owner(taint)) is not None]
        if not owned or owned[0][0].key in seen or len(result.rejections(row)) > 1:
            continue
        seen.add(owned[0][0].key)
        yield (_gone(node, owned, now),)
        if len(seen) == _TRIED:
            return


def _owner(taint: Taint) -> TaintOwner | None:
    is_cordon = taint.key == UNSCHEDULABLE_TAINT.key
    return taint_owner(taint.key) if taint.effect in DO_NOT_SCHEDULE and not is_cordon else None


def _gone(node: Node, owned: list[tuple[Taint, TaintOwner]], now: str | None) -> Change:
    taint, owner = owned[0]
    since = taint.time_added or node.metadata.creation_timestamp
    age = seconds_between(since, now)
    waits = owner.is_passing and age is not None and age <= TIME_TO_START
    set_at = f" at {since}" if taint.time_added else ""
    return Change(
        kind=Kind.WAIT if waits else Kind.REPAIR,
        text=f"once taint {taint.key} is gone from {node.name}: set{set_at} by {owner.sets}; it goes {owner.goes}",
        node_name=node.name,
        node=partial(_without, keys=frozenset(each.key for each, _ in owned)),
    )


def _without(node: Node, keys: frozenset[str]) -> Node:
    taints = tuple(taint for taint in node.spec.taints if taint.key not in keys)
    return replace(node, spec=replace(node.spec, taints=taints))

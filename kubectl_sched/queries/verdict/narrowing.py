"""The nodes that could take a pod if others made room: what is left when the rest is folded, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.framework.amounts import is_bytes
from kubectl_sched.queries.verdict.rejections import FIT, permanent_taints, rejections_of
from kubectl_sched.record import CachingRecord
from kubectl_sched.suggestions.nearest_nodes import has_room_when_empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.queries.verdict.rejections import Rejection
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask

NAMED: Final = "named"
SELECTOR: Final = "selector"
RESOURCE: Final = "resource"
TAINT: Final = "taint"
VOLUME: Final = "volume"
SIZE: Final = "size"


class Narrowing(CachingRecord, frozen=True, kw_only=True):
    """The last step that leaves any node, and the step that would leave none."""

    rows: list[int]
    """The nodes that are left; where `folds_all` is set, those that it folds."""

    folded: Mapping[str, list[int]]
    """The rows that each step before folded."""

    folds_all: str | None
    """The step that folds all nodes that are left, None if there is none."""

    rejections: list[tuple[Rejection, ...]]
    """The rejections of each node of the snapshot."""


def narrowed(result: ScheduleResult) -> Narrowing:
    """Fold the nodes that could never take the pod, in the order in which a person would leave them aside.

    These are nodes that its own selectors leave out, that lack a resource altogether, that have a lasting taint, that
    its volumes cannot reach, or that are too small when empty. A step that would leave none is the constraint.
    """
    left: Mask = ~result.feasible_mask
    folded: dict[str, list[int]] = {}
    folds_all = None
    for step, out in _steps(result):
        if not (left & ~out).any():
            folds_all = step if (left & out).any() else None
            break
        if (left & out).any():
            folded[step] = np.flatnonzero(left & out).tolist()
            left &= ~out
    return Narrowing(
        rows=np.flatnonzero(left).tolist(), folded=folded, folds_all=folds_all, rejections=rejections_of(result)
    )


def _steps(result: ScheduleResult) -> Iterator[tuple[str, Mask]]:
    masks = result.rejection_masks
    none: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
    if result.pre_filter_nodes is not None:
        inside = result.pre_filter_nodes
        yield NAMED, np.array([name not in inside for name in result.nodes.names], dtype=np.bool_)
    yield SELECTOR, masks.get("NodeName", none) | masks.get("NodeAffinity", none)
    yield RESOURCE, absent_resource(result)
    yield TAINT, permanent_taints(result)
    yield VOLUME, masks.get("VolumeBinding", none) | masks.get("VolumeZone", none)
    yield SIZE, masks.get(FIT, none) & ~has_room_when_empty(result)


def absent_resource(result: ScheduleResult) -> Mask:
    """bool[n]: the nodes that Fit rejects and that have none of a resource that only some nodes have, such as GPUs."""
    absent: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
    fit = result.rejection_masks.get(FIT)
    if fit is None:
        return absent
    for resource, amount in result.nodes.resource_of(result.pod).requested.items():
        if amount and is_rare(resource):
            absent |= result.nodes.allocatable(resource) == 0
    return absent & fit


def is_rare(resource: str) -> bool:
    """Report whether it is a resource that only some machines have."""
    return is_extended_resource_name(resource) or (is_bytes(resource) and resource.startswith("hugepages-"))

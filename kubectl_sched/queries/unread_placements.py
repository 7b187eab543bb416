"""Placements of a what-if that rest on kinds which could not be read: they are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.queries.unreadable_kinds import UnreadableKinds, kinds_in_words
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.placements import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.simulation.what_if_result import WhatIfResult
    from kubectl_sched.sources.dump.dump import Dump


def with_unread_left_open(result: WhatIfResult, dump: Dump) -> tuple[WhatIfResult, tuple[UnreadableKind, ...]]:
    """Return the result with outcome Unknown for pods whose kinds are missing, and those kinds.

    `dump` has the objects as they are after the edits. Where a list of mixed kinds cannot tell that a kind is missing,
    the placement stays and the kind alone is returned.
    """
    kinds = UnreadableKinds(dump=dump)
    placements, told = left_open_placements(result.simulated.placements, kinds)
    if not told:
        return result, ()
    first = result.simulated.first_unplaced
    if first is not None and any(kind.is_known for kind in kinds.needed_by(first.pod)):
        first = None  # what kube-scheduler would say of it is not known
    simulated = replace(result.simulated, placements=placements, first_unplaced=first)
    return replace(result, simulated=simulated), told


def left_open_placements(
    placements: Iterable[Placement], kinds: UnreadableKinds, *, rejected_by_mixed_lists: bool = False
) -> tuple[tuple[Placement, ...], tuple[UnreadableKind, ...]]:
    """Return the placements with outcome Unknown for pods whose kinds are known to be missing, and all such kinds.

    `rejected_by_mixed_lists`: also for pods without a node, of whose kinds a list of mixed kinds has not one object.
    """
    told: dict[UnreadableKind, None] = {}
    found = []
    for each in placements:
        missing = kinds.needed_by(each.pod) if each.reason is None else ()
        told.update(dict.fromkeys(missing))
        is_rejected = rejected_by_mixed_lists and each.node is None
        known = tuple(kind for kind in missing if kind.is_known or is_rejected)
        found.append(_left_open(each, known) if known else each)
    return tuple(found), tuple(told)


def _left_open(placement: Placement, missing: tuple[UnreadableKind, ...]) -> Placement:
    return Placement(
        pod=placement.pod,
        owner=placement.owner,
        outcome=Outcome.UNKNOWN,
        reason=kinds_in_words(missing),
    )

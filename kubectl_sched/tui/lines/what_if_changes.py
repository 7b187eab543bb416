"""The changes that edits make: verdicts that flipped, points that moved, and the new winner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import count, listed
from kubectl_sched.tui.listing import NO_POINTS, said_of, totals

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask


class Changes(Record, frozen=True, kw_only=True):
    """bool[n] each: nodes that fit only now, that no longer fit, that others keep out now, whose points moved."""

    gained: Mask
    lost: Mask
    otherwise: Mask
    moved: Mask
    best_before: tuple[str, ...]
    best_after: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Report whether anything is other than before."""
        rows = self.gained | self.lost | self.otherwise | self.moved
        return bool(rows.any()) or self.best_before != self.best_after


def changes(before: ScheduleResult, after: ScheduleResult) -> Changes:
    """Row by row: edits leave each node on its row."""
    old, new = totals(before), totals(after)
    fitted, fits = old != NO_POINTS, new != NO_POINTS
    out_of_both = ~fitted & ~fits
    return Changes(
        gained=~fitted & fits,
        lost=fitted & ~fits,
        otherwise=out_of_both & _said_otherwise(before, after),
        moved=fitted & fits & (old != new),
        best_before=winners(before),
        best_after=winners(after),
    )


def winners(result: ScheduleResult) -> tuple[str, ...]:
    """Return the nodes where the pod may land: the one it is nominated to, else those tied for the best."""
    if not result.fits and not result.best:
        return ()
    return (result.nominated_first,) if result.nominated_first else result.best


def _said_otherwise(before: ScheduleResult, after: ScheduleResult) -> Mask:
    """The nodes of which another verdict is reported; each pair of verdicts is compared once."""
    if before.verdict is None or after.verdict is None:
        return np.full(len(after.nodes), before.verdict is not after.verdict, dtype=np.bool_)
    pairs = before.verdict.map(said_of).combined(after.verdict.map(said_of))
    return pairs.where(lambda pair: pair[0] != pair[1])


def in_words(found: Changes) -> str:
    """One sentence; what did not change is not said."""
    if not found.any:
        return "nothing changes"
    told = []
    for mask, of_one, of_several in (
        (found.gained, "now fits", "now fit"),
        (found.lost, "no longer fits", "no longer fit"),
        (found.otherwise, "is out for another reason", "are out for another reason"),
        (found.moved, "has other points", "have other points"),
    ):
        number = int(mask.sum())
        if number:
            told.append(f"{count(number, 'node')} {of_one if number == 1 else of_several}")
    if found.best_before != found.best_after:
        told.append(f"winner {_who(found.best_before)} → {_who(found.best_after)}")
    elif found.best_after:
        told.append(f"the winner stays {_who(found.best_after)}")
    return "; ".join(told)


def _who(names: tuple[str, ...]) -> str:
    return listed(names) if names else "none"


def of_row(found: Changes, before: ScheduleResult, row: int) -> str:
    """Return the change of one node in two or three words; empty if there is none."""
    if found.gained[row]:
        return f"now fits (was out: {_out_by(before, row)})"
    if found.lost[row]:
        return "no longer fits"
    return f"was out by {_out_by(before, row)}" if found.otherwise[row] else ""


def _out_by(result: ScheduleResult, row: int) -> str:
    plugin = result.verdict[row].plugin if result.verdict is not None else None
    return plugin or "PreFilter"

"""The weights of score plugins that would change the winner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import listed
from kubectl_sched.suggestions.weight_margins import flips, weight_to_win
from kubectl_sched.tui.lines.line import Span, Tone, padded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.weight_margins import Turn
    from kubectl_sched.tui.lines.line import Line

_PLUGIN = 20
_WEIGHT = 7
_GAP = 2


class WeightLine(Record, frozen=True, kw_only=True):
    """One turn of one plugin: the line, and the weight to try; None if no weight changes the winner."""

    plugin: str
    weight: int | None
    line: Line


def heading(node: str, width: int) -> Line:
    """The columns: what wins at which weight, and at which the node looked at would win."""
    columns = _columns(width)
    told = (
        padded("Plugin", _PLUGIN),
        padded("weight", _WEIGHT, right=True),
        "  ",
        padded("the winner changes at", columns[0]),
        "  ",
        padded(f"{node} wins at", columns[1]),
    )
    return (Span("".join(told).rstrip(), Tone.STRONG),)


def _columns(width: int) -> tuple[int, int]:
    room = max(width - _PLUGIN - _WEIGHT - 2 * _GAP, 20)
    right = min(max(room // 3, 14), 30)
    return room - right, right


def weight_lines(result: ScheduleResult, row: int, width: int) -> list[WeightLine]:
    """A line for each nearest turn, those of one plugin below each other."""
    return list(_lines(result, row, width))


def _lines(result: ScheduleResult, row: int, width: int) -> Iterator[WeightLine]:
    turning, winning = _columns(width)
    for flip in flips(result):
        wins = weight_to_win(result, row, flip.plugin) if len(result.totals) else None
        own = "-" if wins is None else "now" if wins == flip.weight else f"{wins:,}"
        turns = [turn for turn in (flip.above, flip.below) if turn is not None]
        for index, turn in enumerate(turns or [None]):
            name = flip.plugin if not index else ""
            weight = f"{flip.weight:,}" if not index else ""
            yield WeightLine(
                plugin=flip.plugin,
                weight=turn.weight if turn is not None else wins,
                line=(
                    Span(padded(name, _PLUGIN)),
                    Span(padded(weight, _WEIGHT, right=True) + "  "),
                    Span(padded(_turn(turn), turning), Tone.CHANGED if turn is not None else Tone.DIM),
                    Span("  " + padded(own if not index else "", winning)),
                ),
            )


def _turn(turn: Turn | None) -> str:
    if turn is None:
        return "never"
    return f"{turn.weight:,} → {listed(turn.best, 2)}"

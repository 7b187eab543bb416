"""The details that unfold below a node: every plugin's verdict or points there, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.sentences.node_sentences import in_words, preemption_there, verdict_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.scheduler.result import ScheduleResult

EXAMINED_ALL = 500
"""Up to how many nodes the evidence of all of them is on the page; of more of them it takes too long to gather."""

_EXAMINED = 50
"""Of how many of the best, and of the closest, it is shown where there are more."""


class Rejection(Record, frozen=True, kw_only=True):
    """A filter plugin that rejects the node on its own: kube-scheduler's code and reasons, and the evidence by line."""

    plugin: str
    code: str
    reasons: str
    because: tuple[str, ...]


class Points(Record, frozen=True, kw_only=True):
    """One score plugin's points for the node: raw, brought to 0..100, and times the weight."""

    plugin: str
    raw: int
    normalized: int
    weight: int
    weighted: int
    because: tuple[str, ...]


class Details(Record, frozen=True, kw_only=True):
    """All that is known of one node."""

    verdict: str
    rejections: tuple[Rejection, ...]
    points: tuple[Points, ...]
    preemption: str | None


def details(result: ScheduleResult, row: int, position: int | None) -> Details:
    """`position` is the row's place among the feasible ones; None if it is not feasible."""
    rejections = tuple(
        Rejection(
            plugin=status.plugin or "",
            code=status.code.value,
            reasons=status.message,
            because=_lines(result.filter_evidence(status.plugin or "", row)),
        )
        for status in result.rejections(row)
    )
    points = tuple(
        Points(
            plugin=each.plugin,
            raw=int(each.raw[position]),
            normalized=int(each.normalized[position]),
            weight=each.weight,
            weighted=int(each.weighted[position]),
            because=_lines(result.score_evidence(each.plugin, row)),
        )
        for each in (result.scores if position is not None else ())
    )
    return Details(
        verdict=verdict_in_words(result, row),
        rejections=rejections,
        points=points,
        preemption=preemption_there(result, row),
    )


def _lines(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(in_words([fact]) for fact in evidence)


def examined(result: ScheduleResult, order: Sequence[int], most: int, asked_for: Iterable[str]) -> frozenset[int]:
    """Of which rows the details are shown: of all where they are not more than `most`.

    Else of the best, the closest, one for each distinct verdict, and the nodes that were asked for. `order` has all
    rows, the feasible ones first.
    """
    if len(order) <= most:
        return frozenset(order)
    some = max(1, min(_EXAMINED, most // 4))
    feasible = len(result.feasible)
    chosen = {*order[: min(some, feasible)], *order[feasible : feasible + some]}
    chosen |= {result.nodes.row_of[name] for name in asked_for if name in result.nodes.row_of}
    first_of: dict[object, int] = {}
    for row in order:
        first_of.setdefault(result.verdict[row] if result.verdict is not None else None, row)
    return frozenset(chosen | set(list(first_of.values())[:most]))

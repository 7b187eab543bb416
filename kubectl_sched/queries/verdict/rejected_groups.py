"""The nodes by what keeps a pod off them: by pool, and by zone where that tells more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.queries.nodes_by_pool import pool_name, zone_of
from kubectl_sched.queries.verdict.constraint import shared_by_all
from kubectl_sched.queries.verdict.narrowing import NAMED, RESOURCE, SELECTOR, SIZE, TAINT, VOLUME, narrowed
from kubectl_sched.queries.verdict.phrases import joined, lacks, phrase_of
from kubectl_sched.queries.verdict.rejections import VOLUME_PLUGINS, counted_sets
from kubectl_sched.queries.verdict.resource_words import missing_resource, size_of_largest
from kubectl_sched.record import Record
from kubectl_sched.safe_output import safe
from kubectl_sched.suggestions.nearest_nodes import rejections as number_and_distance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.verdict.narrowing import Narrowing
    from kubectl_sched.queries.verdict.phrases import Phrase
    from kubectl_sched.scheduler.result import ScheduleResult

_NEAR_MISSES: Final = (TAINT, VOLUME)
"""The steps whose nodes are shown by pool: somebody may tolerate a taint or move a volume."""

_MOST_ZONES: Final = 6
_REASONS_SHOWN: Final = 2

OTHERS: Final = "others"
"""The pool of the nodes that could never take the pod."""


class Closest(Record, frozen=True, kw_only=True):
    """The node of a group that it would take the least to make feasible, and what it lacks."""

    node: str
    lacks: str


class NodeGroup(Record, frozen=True, kw_only=True):
    """Nodes of one pool, or of one zone of it, and what keeps the pod off them."""

    pool: str | None
    """The pool's name; None where nodes have no pool; `others` for the nodes that could never take the pod."""

    zone: str | None
    """The zone, None where the zones of the pool do not differ."""

    nodes: int
    reason: str
    closest: Closest | None


def node_groups(result: ScheduleResult) -> tuple[NodeGroup, ...]:
    """Return the groups of a pod that fits nowhere: first those that decide, then near misses, last the others."""
    if result.verdict is None or len(result.feasible) or not result.pre_filter.is_success or not len(result.nodes):
        return ()
    found = narrowed(result)
    groups = [group for pool, rows in _by_pool(result, found.rows) for group in _of_pool(result, found, pool, rows)]
    for step in _NEAR_MISSES:
        beside = _by_pool(result, found.folded.get(step, ()))
        groups += [
            _group(result, found, pool, rows, _folded_reason(result, found, step, rows)) for pool, rows in beside
        ]
    others = [row for step, rows in found.folded.items() if step not in _NEAR_MISSES for row in rows]
    if others:
        step = max(found.folded, key=lambda each: 0 if each in _NEAR_MISSES else len(found.folded[each]))
        first = found.folded[step]
        reason, rest = safe(_folded_reason(result, found, step, first)), len(others) - len(first)
        reason = f"{len(first):,} {reason}; {rest:,} for other reasons" if rest else reason
        groups.append(NodeGroup(pool=OTHERS, zone=None, nodes=len(others), reason=reason, closest=None))
    return tuple(groups)


def _by_pool(result: ScheduleResult, rows: Sequence[int]) -> list[tuple[str | None, list[int]]]:
    pools: dict[str | None, list[int]] = {}
    for row in rows:
        pools.setdefault(pool_name(result.nodes.node_objects[row]), []).append(row)
    return sorted(pools.items(), key=lambda each: (-len(each[1]), each[0] or ""))


def _of_pool(result: ScheduleResult, found: Narrowing, pool: str | None, rows: list[int]) -> Iterator[NodeGroup]:
    """Yield the pool as one group, or each of its zones where what keeps most of their nodes out differs."""
    if found.folds_all is not None:
        yield _group(result, found, pool, rows, _folded_reason(result, found, found.folds_all, rows))
        return
    shared = shared_by_all(result, found)
    if shared:
        phrase = phrase_of(result, shared[0], rows)
        yield _group(result, found, pool, rows, phrase.sums or _in_full(phrase, len(rows)))
        return
    zones: dict[str | None, list[int]] = {}
    for row in rows:
        zones.setdefault(zone_of(result.nodes.node_objects[row]), []).append(row)
    first = {next(iter(counted_sets(found.rejections, some)), ()) for some in zones.values()}
    if not 1 < len(zones) <= _MOST_ZONES or len(first) == 1:
        yield _group(result, found, pool, rows, _reason(result, found, rows))
        return
    for zone, some in sorted(zones.items(), key=lambda each: (-len(each[1]), each[0] or "")):
        yield _group(result, found, pool, some, _reason(result, found, some), zone)


def _group(
    result: ScheduleResult, found: Narrowing, pool: str | None, rows: list[int], reason: str, zone: str | None = None
) -> NodeGroup:
    row = _closest(result, rows)
    closest = Closest(node=result.nodes.names[row], lacks=safe(lacks(result, found.rejections[row], row)))
    return NodeGroup(pool=pool, zone=zone, nodes=len(rows), reason=safe(reason), closest=closest)


def _reason(result: ScheduleResult, found: Narrowing, rows: list[int]) -> str:
    """The largest sets of rejections with their numbers; for a single one its sums or its detail."""
    sets = counted_sets(found.rejections, rows)
    if len(sets) == 1:
        phrases = [phrase_of(result, each, rows) for each in next(iter(sets))]
        return _in_full(phrases[0], len(rows)) if len(phrases) == 1 else joined(phrases, len(rows))
    shown = list(sets.items())[:_REASONS_SHOWN]
    told = [
        f"{len(some):,} {joined([phrase_of(result, each, some) for each in things], len(some))}"
        for things, some in shown
    ]
    rest = len(rows) - sum(len(some) for _, some in shown)
    return "; ".join([*told, *([f"{rest:,} for other reasons"] if rest else [])])


def _in_full(phrase: Phrase, number: int) -> str:
    told = agreeing(number, phrase.several)
    return phrase.sums or (f"{told}: {phrase.detail}" if phrase.detail else told)


def _folded_reason(result: ScheduleResult, found: Narrowing, step: str, rows: list[int]) -> str:
    """The reason of the step that folds these rows, whatever else keeps the pod off them."""
    if step == NAMED:
        return "not the node that it is for"
    if step == RESOURCE:
        return missing_resource(result, rows)
    if step == SIZE:
        return size_of_largest(result, rows)
    plugins = {
        SELECTOR: {"NodeAffinity", "NodeName"},
        TAINT: {"TaintToleration"},
        VOLUME: VOLUME_PLUGINS,
    }
    own = [tuple(each for each in found.rejections[row] if each.plugin in plugins[step]) for row in rows]
    counts = Counter(each[0] for each in own if each)
    (most, number), *others = counts.most_common()
    phrase = phrase_of(result, most, [row for row, each in zip(rows, own, strict=True) if each[:1] == (most,)])
    told = agreeing(len(rows), phrase.several) if not others else f"{number:,} {agreeing(number, phrase.several)}"
    alone = sum(
        found.rejections[row] == each and _has_one_taint_against_it(result, row)
        for row, each in zip(rows, own, strict=True)
    )
    if step != TAINT or not alone:
        return told
    who = "" if len(rows) == 1 else "all " if alone == len(rows) else f"{alone:,} "
    return f"{told}; {who}would pass without it"


def _has_one_taint_against_it(result: ScheduleResult, row: int) -> bool:
    taints, first = result.nodes.taints[row], result.tolerations.first_untolerated(result.nodes.taints[row])
    return result.tolerations.first_untolerated(tuple(each for each in taints if each != first)) is None


def _closest(result: ScheduleResult, rows: list[int]) -> int:
    """The row with the fewest rejections, then the smallest shortfall, then by name."""
    number, distance = number_and_distance(result)
    names = result.nodes.names
    return min(rows, key=lambda row: (int(number[row]), float(np.round(distance[row], 9)), names[row]))

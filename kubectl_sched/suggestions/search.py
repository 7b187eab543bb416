"""The search for changes that help. Each candidate is replayed, and only those that keep their promise are returned."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product, zip_longest
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.meta import with_spec
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.change import Kind, distinct
from kubectl_sched.suggestions.nearest_nodes import by_rejections
from kubectl_sched.suggestions.node_evictions import eviction, in_one
from kubectl_sched.suggestions.remedies import PRE_FILTER_REMEDIES, REMEDIES
from kubectl_sched.suggestions.remedies.nothing_to_do import after, waits
from kubectl_sched.suggestions.remedies.queueing import prioritize, ungate, unname, unname_chosen
from kubectl_sched.suggestions.rungs import as_ladder
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial
from kubectl_sched.suggestions.verified import verified, verified_preemption

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.diagnostics.gates.gate import Need
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way
    from kubectl_sched.suggestions.suggestion import Suggestion

_REPLAYS = 32
_REPLAYS_OF_ONE_KIND = 4
"""The most candidates that are replayed. Each takes as long as filtering and scoring do."""

_OF_ONE_KIND = 3
"""No more suggestions of one kind are made, such as tolerations for different taints."""

_ONE_IS_ENOUGH = frozenset(
    {
        *(Kind.REQUEST_LESS, Kind.RAISE_SKEW, Kind.EVICT, Kind.FREE, Kind.UNCORDON, Kind.UNTAINT, Kind.MIN_DOMAINS),
        Kind.RAISE_MAX_PODS,
    }
)
"""The kinds that differ by an amount or a node's name alone."""

_CLASSES_TRIED = 2
_COMBINATIONS = 24
"""The most combinations for one node. Most touch more than others and are never replayed."""

_ASKED = frozenset({Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE, Outcome.GATED})


def suggest(
    result: ScheduleResult,
    node_name: str | None = None,
    *,
    needs: Sequence[Need] = (),
    now: str | None = None,
) -> tuple[Suggestion, ...]:
    """The smallest changes after which the pod fits somewhere; or fits on the named node, or wins there if it fits.

    First comes what needs no change, as preemption or pods that are ending make room. Then one of each kind, those that
    touch least first, and more than one change at a time only where no single one does. Nothing is suggested for a pod
    that has ended or is being deleted, that no profile serves, or whose cycle fails. `needs` are what the controller of
    its gate has to be given first; `now` is the time of the state (RFC 3339), from which ages count. The result's
    budget bounds the search, and says what was left out.
    """
    row = None if node_name is None else result.nodes.row_of.get(node_name)
    if not isinstance(result, CycleResult) or result.outcome not in _ASKED or (row is None) != (node_name is None):
        return ()
    if result.pod.has_ended:
        return ()  # a changed copy of it would run once more
    found = () if result.explaining.is_over else _Search(result, row, now).found()
    return as_ladder(after(each, needs) for each in found)


def by_a_scheduler(result: ScheduleResult) -> tuple[Suggestion, ...]:
    """Suggest to leave the choice to a scheduler, for a pod that was bound by hand and does not run."""
    name = result.current_node
    if not isinstance(result, CycleResult) or name is None:
        return ()
    return as_ladder(_Search(result, None, None).unnamed(name, unname_chosen(name)))


class _Search:
    """The candidates for one question: what it would take on the row's node or, where that is None, on any."""

    def __init__(self, result: CycleResult, row: int | None, now: str | None) -> None:
        self._now = now
        self._budget = result.explaining
        self._result = result
        self._row = row
        self._base = Trial.of(result)
        self._left = _REPLAYS
        self._wanted = _promises(result, row)
        self._seen: set[tuple[str, ...]] = set()

    def found(self) -> tuple[Suggestion, ...]:
        """Return the suggestions, the one that touches least first."""
        result = self._result
        if result.outcome is Outcome.GATED:
            return self._ungated()
        if result.current_node is not None and result.current_node not in result.nodes.row_of:
            return self.unnamed(result.current_node, unname(result.current_node))
        if result.fits and self._row is None:
            return ()
        if self._row is not None and self._row in result.total_of:
            return self._winning(self._row)
        if not result.pre_filter.is_success:
            return self._past_pre_filter(())
        is_pending = result.current_node is None
        coming = waits(result, self._base, self._row, self._wanted, self._now) if is_pending else ()
        others = (*coming, *self._once_taints_go(), *self._on_one_more_node(), *self._preempting())
        return _fewer_first(self._among_rows(result, ()), others)

    def _once_taints_go(self) -> Iterator[Suggestion]:
        """Say of nodes that only a controller's taint keeps from the pod who takes it off, and when."""
        from kubectl_sched.suggestions.remedies.taints_that_go import taints_that_go  # most nodes have none

        for way in taints_that_go(self._result, self._now):
            suggestion = None if self._budget.is_over else verified(self._base, way, self._row, self._wanted)
            if suggestion is not None:
                yield suggestion

    def _on_one_more_node(self) -> Iterator[Suggestion]:
        """Suggest one more node like the nearest whose pods keep this one out, or a larger one."""
        if self._row is not None or self._result.pod.is_daemon:
            return
        from kubectl_sched.suggestions.remedies.more_nodes import new_nodes  # only for pods that fit nowhere

        for way in new_nodes(self._result):
            suggestion = None if self._budget.is_over else verified(self._base, way, None, self._wanted)
            if suggestion is not None:
                yield suggestion
                return

    def unnamed(self, name: str, way: Way) -> tuple[Suggestion, ...]:
        """Suggest that the pod name no node."""
        naming = with_spec(self._base.pod, node_name=name)
        once = verified(structs.replace(self._base, pod=naming), way, self._row, frozenset(Promise))
        return (once,) if once is not None else ()

    def _ungated(self) -> tuple[Suggestion, ...]:
        """Suggest to remove the pod's gates, with what else it would then need."""
        way = ungate(self._result.pod)
        if not way:
            return ()
        once = self._tried(way)
        if once is not None:
            return (once,)
        if self._row is not None and self._row in self._result.total_of:
            return self._first_of_each_kind([way + more for more in self._ways_to_win(self._row)])
        if not self._result.pre_filter.is_success:
            return self._past_pre_filter(way)
        return self._among_rows(self._result, way)

    def _winning(self, row: int) -> tuple[Suggestion, ...]:
        """Suggest what makes a feasible node the best: alone if something does, else one of the best."""
        if self._result.best == (self._result.nodes.names[row],) or self._result.nominated_first:
            return ()
        found = self._first_of_each_kind(self._ways_to_win(row))
        return tuple(sorted(found, key=lambda suggestion: suggestion.promise is not Promise.WINS))

    def _ways_to_win(self, row: int) -> list[Way]:
        from kubectl_sched.suggestions.remedies.winning import (
            ways_to_win,  # most questions are about pods that fit nowhere
        )

        return ways_to_win(self._result, row)

    def _past_pre_filter(self, before: Way) -> tuple[Suggestion, ...]:
        """Suggest what lets the pod past the plugin that rejects it as a whole, with what else is then needed."""
        remedy = PRE_FILTER_REMEDIES.get(self._result.pre_filter.plugin or "")
        ways = [before + way for way in remedy(self._result)] if remedy is not None else []
        found = self._first_of_each_kind(ways)
        if found or not ways:
            return found
        again = self._base.changed(ways[0]).run()
        return self._among_rows(again, ways[0]) if again.verdicts else ()

    def _among_rows(self, result: ScheduleResult, before: Way) -> tuple[Suggestion, ...]:
        """The ways of the rows that the fewest plugins keep out, and of others as long as none of them helps."""
        ways: list[Way] = []
        for sets in [[[self._row]]] if self._row is not None else by_rejections(result, frozenset(REMEDIES)):
            of_sets = [
                _least_first(distinct(before + way) for row in rows for way in self._ways_on(result, row))
                for rows in sets
            ]
            ways += _in_turn(of_sets)
            found = self._first_of_each_kind(ways)
            if found:
                return found
        return ()

    def _ways_on(self, result: ScheduleResult, row: int) -> Iterator[Way]:
        """For each of the plugins that keep the pod out one of its ways, in all combinations.

        Where one node was asked about, also each by itself: what helps with one may help with another.
        """
        if not self._budget.allows(len(result.nodes.existing_pods)):
            return
        if not self._budget.takes_node(result.nodes.node_objects[row]):
            return
        remedies = [REMEDIES.get(status.plugin or "") for status in result.rejections(row)]
        of_plugins = [list(remedy(result, row)) if remedy is not None else [] for remedy in remedies]
        if self._row is not None and len(of_plugins) > 1:
            yield from (way for ways in of_plugins for way in ways)
        if of_plugins:
            yield from (in_one(result, sum(ways, ())) for ways in islice(product(*of_plugins), _COMBINATIONS))

    def _first_of_each_kind(self, ways: Iterable[Way]) -> tuple[Suggestion, ...]:
        """Of the ways with the fewest changes that do it, the first of each kind, or some that name other things."""
        found: dict[tuple[str, ...], Suggestion] = {}
        tries: Counter[tuple[Kind, ...]] = Counter()
        for way in sorted(ways, key=len):
            if not self._left or self._budget.is_over or len(way) > min(map(_size, found.values()), default=len(way)):
                break
            kinds, name = _kinds(way), _name(way)
            alike = sum(_kinds(each.changes) == kinds for each in found.values())
            most = 1 if set(kinds) & _ONE_IS_ENOUGH else _OF_ONE_KIND
            if (
                self._ends_others(way)
                or alike >= most
                or name in self._seen
                or tries[kinds] >= _REPLAYS_OF_ONE_KIND + alike
            ):
                continue
            tries[kinds] += 1
            self._seen.add(name)
            suggestion = self._tried(way)
            if suggestion is not None:
                suggestion = self._with_what_is_needed(suggestion)
                found.setdefault(_name(suggestion.changes), suggestion)
        fewest = min(map(_size, found.values()), default=0)
        return tuple(suggestion for suggestion in found.values() if _size(suggestion) == fewest)

    def _ends_others(self, way: Way) -> bool:
        """Report whether other pods would have to go for one that runs, or fits elsewhere."""
        is_served = self._base.bound_to is not None or self._result.fits
        return is_served and any(change.evicts or change.frees for change in way)

    def _with_what_is_needed(self, suggestion: Suggestion) -> Suggestion:
        """Without a change, or the end of a pod, that it does without: what cures one plugin may cure another, too."""
        for way in self._lesser(suggestion.changes):
            if self._budget.is_over:
                break
            fewer = self._tried(way)
            if fewer is not None and (
                Promise.FITS in self._wanted or fewer.promise in {suggestion.promise, Promise.WINS}
            ):
                return self._with_what_is_needed(fewer)
        return suggestion

    def _lesser(self, way: Way) -> Iterator[Way]:
        """The way with one thing less."""
        for change in way:
            others = tuple(each for each in way if each is not change)
            if others:
                yield others
            for victim in change.evicts if len(change.evicts) > 1 else ():
                rest = [each for each in change.evicts if each is not victim]
                yield (*others, eviction(self._result, rest))

    def _tried(self, way: Way) -> Suggestion | None:
        self._left = max(self._left - 1, 0)
        return verified(self._base, way, self._row, self._wanted)

    def _preempting(self) -> Iterator[Suggestion]:
        """A priority class with which preemption makes room, where it makes none now."""
        post_filter = self._result.post_filter
        if post_filter is None or post_filter.nominated_node or self._base.bound_to is not None:
            return
        for change in islice(prioritize(self._result), _CLASSES_TRIED if self._row is None else 1):
            suggestion = verified_preemption(self._base, change, self._row)
            if suggestion is not None:
                yield suggestion
                return


def _fewer_first(fitting: tuple[Suggestion, ...], others: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Put what makes room at once first, unless it changes more than the others, which change one thing."""
    if others and any(len(each.changes) > 1 for each in fitting):
        return (*others, *(structs.replace(each, is_outdone=True) for each in fitting))
    return fitting + others


def _promises(result: ScheduleResult, row: int | None) -> frozenset[Promise]:
    """Return the promises worth more than what is: a feasible node is to win, a tied one to win alone."""
    if row is None or row not in result.total_of:
        return frozenset({Promise.FITS, Promise.TIES, Promise.WINS})
    if result.nodes.names[row] in result.best:
        return frozenset({Promise.WINS})
    return frozenset({Promise.TIES, Promise.WINS})


def _size(suggestion: Suggestion) -> int:
    return len(suggestion.changes)


def _in_turn(of_sets: Sequence[Sequence[Way]]) -> list[Way]:
    """Return the first way of each set, then the second of each, and so on."""
    return [way for some in zip_longest(*of_sets) for way in some if way is not None]


def _kinds(way: Way) -> tuple[Kind, ...]:
    return tuple(sorted(change.kind for change in way))


def _name(way: Way) -> tuple[str, ...]:
    return tuple(sorted(change.text for change in way))


def _least_first(ways: Iterable[Way]) -> list[Way]:
    """Each way once: fewer changes first, then what touches less, then what would help more of the nodes examined."""
    named = [(_name(way), way) for way in ways]
    support = Counter(name for name, _ in named)

    def touches(way: Way) -> tuple[object, ...]:
        name = _name(way)
        return len(way), sorted((change.kind, change.cost) for change in way), -support[name], name

    return sorted(dict(named).values(), key=touches)

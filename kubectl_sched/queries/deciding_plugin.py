"""The difference between two replays of one pod, and the plugin that makes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.queue_simulation import owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.bulk_replay import Judged
    from kubectl_sched.snapshot import Snapshot

_PLUGIN = re.compile(r'plugin "([^"]+)"')
_PLUGINS_NAMED = 2
_SEEK_NO_NODE = frozenset({Outcome.GATED, Outcome.NO_PROFILE, Outcome.DELETING})


class Cause(Record, frozen=True, kw_only=True):
    """A plugin (None if it is none's doing) and what it does otherwise, in a clause."""

    plugin: str | None
    text: str


class ReplaySummary(Record, frozen=True, kw_only=True):
    """The outcome for a pod without columns, of which tens of thousands of results would fill the memory."""

    outcome: Outcome
    best: tuple[str, ...]
    """The best nodes; none if the whole cycle fails."""

    total: int | None
    message: str | None
    error: str | None

    @classmethod
    def of(cls, result: ScheduleResult) -> ReplaySummary:
        """The result's, without what led to it."""
        best = _winners(result)
        total = int(result.totals.max()) if best else None
        return cls(outcome=result.outcome, best=best, total=total, message=result.message, error=result.error)

    def is_like(self, other: ReplaySummary) -> bool:
        """Report whether outcome and best nodes are the same; a pod that no node is sought for has none."""
        return self.outcome is other.outcome and (self.outcome in _SEEK_NO_NODE or self.best == other.best)

    @property
    def fits(self) -> bool:
        """Report whether a node was found."""
        return self.outcome is Outcome.SCHEDULABLE


class Difference(Record, frozen=True, kw_only=True):
    """One pod that differs. `change` is BecomesSchedulable, StopsBeingSchedulable, Moves or OtherOutcome."""

    namespace: str
    name: str
    before: ReplaySummary
    after: ReplaySummary
    change: str
    causes: tuple[Cause, ...]
    workload: str
    """Its topmost known owner, such as `Deployment/web`, or `Pod/NAME`."""

    is_bound: bool

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that make the difference."""
        return tuple(each.plugin for each in self.causes if each.plugin)

    @property
    def key(self) -> str:
        """`namespace/name` of the pod."""
        return f"{self.namespace}/{self.name}"


class Rejudged(Record, frozen=True, kw_only=True):
    """The outcome for a pod, from a cycle of its own or a shared one, with that cycle on demand."""

    summary: ReplaySummary
    whole: Callable[[], ScheduleResult]
    judged: Judged | None = None
    """None if the cycle was the pod's own."""

    nodes: Snapshot | None = None

    @classmethod
    def shared(cls, judged: Judged, nodes: Snapshot, whole: Callable[[], ScheduleResult]) -> Rejudged:
        """That of a pod that was judged together with its like."""
        highest = int(judged.totals.max())
        best = tuple(sorted(nodes.names[row] for row in judged.rows[judged.totals == highest].tolist()))
        return cls(
            summary=ReplaySummary(outcome=Outcome.SCHEDULABLE, best=best, total=highest, message=None, error=None),
            whole=whole,
            judged=judged,
            nodes=nodes,
        )

    def leads(self, name: str, other: str) -> dict[str, int] | None:
        """By how many points each plugin prefers one node to another; None if that takes the whole cycle."""
        if self.judged is None or self.nodes is None:
            return None
        row, below = self.nodes.row_of.get(name), self.nodes.row_of.get(other)
        if row is None or below is None or not {row, below} <= set(self.judged.rows.tolist()):
            return None
        points, points_below = self.judged.points(row), self.judged.points(below)
        return {plugin: points[plugin] - points_below[plugin] for plugin in points}


def difference_of(pod: Pod, before: Rejudged, after: Rejudged) -> Difference | None:
    """Return the difference; None if outcome and best nodes are the same."""
    first, second = before.summary, after.summary
    if first.is_like(second):
        return None
    left, taken = _first(first.best, second.best), _first(second.best, first.best)
    if left is not None and taken is not None:
        leads = before.leads(taken, left), after.leads(taken, left)
        if leads[0] is not None and leads[1] is not None:
            causes = tuple(_gains(leads[0], leads[1], left, taken))
            of = pod.metadata
            return Difference(
                namespace=of.namespace,
                name=of.name,
                before=first,
                after=second,
                change=_change(first, second),
                causes=causes,
                workload=_workload(pod),
                is_bound=bool(pod.spec.node_name),
            )
    return difference(before.whole(), after.whole(), is_bound=bool(pod.spec.node_name))


def difference(before: ScheduleResult, after: ScheduleResult, *, is_bound: bool = False) -> Difference | None:
    """Return the difference; None if outcome and best nodes are the same."""
    pod, first, second = before.pod.metadata, ReplaySummary.of(before), ReplaySummary.of(after)
    if first.is_like(second):
        return None
    return Difference(
        namespace=pod.namespace,
        name=pod.name,
        before=first,
        after=second,
        change=_change(first, second),
        causes=tuple(_causes(before, after)),
        workload=_workload(before.pod),
        is_bound=is_bound,
    )


def _workload(pod: Pod) -> str:
    return owner_of(pod) or f"Pod/{pod.metadata.name}"


def _winners(result: ScheduleResult) -> tuple[str, ...]:
    return () if result.outcome is Outcome.ERROR else result.best


def _change(before: ReplaySummary, after: ReplaySummary) -> str:
    if before.outcome is after.outcome:
        return "Moves"
    if after.fits:
        return "BecomesSchedulable"
    return "StopsBeingSchedulable" if before.fits else "OtherOutcome"


def _causes(before: ScheduleResult, after: ScheduleResult) -> Iterator[Cause]:
    for result, when in ((after, "now"), (before, "no longer")):
        stops = _stops_the_cycle(result)
        if stops is not None:
            yield Cause(plugin=stops.plugin, text=f"{when}: {stops.text}")
            return
    left = _first(_winners(before), _winners(after))
    taken = _first(_winners(after), _winners(before))
    if left is not None and (against := _against(after, left)) is not None:
        yield Cause(plugin=against.plugin, text=f"now {against.text}")
    elif taken is not None and (against := _against(before, taken)) is not None:
        yield Cause(plugin=against.plugin, text=f"no longer {against.text}")
    elif left is not None and taken is not None:
        yield from _gains(_leads(before, taken, left), _leads(after, taken, left), left, taken)


def _stops_the_cycle(result: ScheduleResult) -> Cause | None:
    """Return the reason that ends the cycle for the pod as a whole."""
    match result.outcome:
        case Outcome.ERROR:
            found = _PLUGIN.search(result.error or "")
            return Cause(plugin=found[1] if found else None, text=result.error or "the cycle fails")
        case Outcome.GATED:
            return Cause(plugin=result.pre_enqueue.plugin, text=f"gated: {result.pre_enqueue.message}")
        case Outcome.NO_PROFILE:
            return Cause(plugin=None, text=f"no profile serves {result.pod.spec.scheduler_name or 'it'}")
        case Outcome.DELETING:
            return Cause(plugin=None, text="it is being deleted")
        case Outcome.UNSCHEDULABLE if isinstance(result, MemberResult) and len(result.feasible):
            return Cause(plugin=None, text=result.event or "its group does not fit")
        case _:
            return None


def _first(names: tuple[str, ...], others: tuple[str, ...]) -> str | None:
    """The first of the names that is not among the others, else the first."""
    return next((name for name in names if name not in others), names[0] if names else None)


def _against(result: ScheduleResult, name: str) -> Cause | None:
    """Return the reason that keeps the pod off a node; None if there is none."""
    row = result.nodes.row_of.get(name)
    if row is None:
        return Cause(plugin=None, text=f"there is no node {name}")
    status = result.verdict[row] if result.verdict is not None else None
    if status is None or status.is_success:
        return None
    plugin = status.plugin or (" and ".join(result.narrowed_by) or None)
    return Cause(
        plugin=plugin, text=f"{name} is rejected: {status.message}" if status.message else f"{name} is left out"
    )


def _gains(lead_before: dict[str, int], lead_after: dict[str, int], left: str, taken: str) -> Iterator[Cause]:
    """The plugins that moved the most points from one node to the other."""
    gains = {
        plugin: lead_after.get(plugin, 0) - lead_before.get(plugin, 0)
        for plugin in dict.fromkeys((*lead_before, *lead_after))
    }
    for plugin, gain in sorted(gains.items(), key=lambda item: -item[1])[:_PLUGINS_NAMED]:
        if gain > 0:
            points = "point" if gain == 1 else "points"
            yield Cause(plugin=plugin, text=f"{taken} gains {gain} {points} on {left}")


def _leads(result: ScheduleResult, name: str, other: str) -> dict[str, int]:
    """By how many points each plugin prefers one node to another."""
    first, second = (result.position_of[result.nodes.row_of[node]] for node in (name, other))
    return {each.plugin: int(each.weighted[first] - each.weighted[second]) for each in result.scores}

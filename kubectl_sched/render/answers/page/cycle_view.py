"""The folding part of a pod's page: every number behind the words of the first screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.record import Record
from kubectl_sched.render.answers.page.node_details import EXAMINED_ALL
from kubectl_sched.render.answers.page.node_section import NodeSection, Room, node_section
from kubectl_sched.render.funnel import Step, funnel
from kubectl_sched.render.reason_counts import Bar, histogram
from kubectl_sched.render.safe_text import count
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.interface import BindingAction
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.scheduler.result import ScheduleResult

_CANDIDATES_SHOWN = 20

_ROWS = 10_000
"""The number of rows that all tables of a page have together, so that a browser opens it at once."""

_LEAST_ROWS = 20


class Stop(Record, frozen=True, kw_only=True):
    """One stop of the pipeline: the extension point, the number that leaves it, and what happened there."""

    point: str
    number: int | None
    words: str


class PreemptionCandidate(Record, frozen=True, kw_only=True):
    """A node on which preemption would make room, whom it would evict, and which budgets that violates."""

    node: str
    victims: tuple[tuple[str, int], ...]
    budgets: tuple[str, ...]
    is_chosen: bool


class CycleView(Record, frozen=True, kw_only=True):
    """The whole cycle of one pod; `asked` is the node that was asked for."""

    asked: str | None
    stops: tuple[Stop, ...]
    steps: tuple[Step, ...]
    bars: tuple[Bar, ...]
    whole: tuple[str, ...]
    nodes: int
    section: NodeSection | None
    candidates: tuple[PreemptionCandidate, ...]
    more_candidates: int
    preemption_message: str | None
    binding: tuple[BindingAction, ...]


def room_of(display: Display) -> Room:
    """Return the room of one pod: its share of what a page has."""
    parts = max(display.parts_of_page, 1)
    rows = max(_LEAST_ROWS, _ROWS // parts)
    return Room(rows=rows, details=rows if display.evidence else max(_LEAST_ROWS, EXAMINED_ALL // parts))


def cycle_view(explanation: Explanation, room: Room, *, node: str | None = None) -> CycleView:
    """`node` is the one that was asked for: its details are there, and unfolded, however many nodes there are."""
    result = explanation.shown
    bars = histogram(result)
    candidates = sorted(_candidates(result), key=lambda each: not each.is_chosen)
    return CycleView(
        asked=node,
        stops=tuple(_stops(result, explanation.result.pre_enqueue)),
        steps=funnel(result),
        bars=bars,
        whole=tuple(each.text for each in result.pre_filter_evidence),
        nodes=len(result.nodes),
        section=node_section(result, bars, room, [name for name in (node, result.current_node) if name]),
        candidates=tuple(candidates[:_CANDIDATES_SHOWN]),
        more_candidates=max(0, len(candidates) - _CANDIDATES_SHOWN),
        preemption_message=_preemption_message(result),
        binding=result.binding,
    )


def facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield facts about the replay and the pod, each with its label."""
    result, stage, place, history = explanation.result, explanation.stage, explanation.queue_place, explanation.history
    if result.kubernetes_version:
        yield "Replayed as", f"kube-scheduler {result.kubernetes_patch or result.kubernetes_version}"
    if isinstance(result, CycleResult):
        yield "Profile", result.framework.profile.scheduler_name
    else:
        yield "schedulerName", result.pod.spec.scheduler_name
    yield "Nodes", f"{len(result.nodes):,}"
    yield "Priority", str(result.pod.priority)
    if result.current_node:
        yield "Runs on", result.current_node
    if stage is not None:
        since = f" since {to_the_second(stage.since)}" if stage.since else ""
        yield "Stage", f"{stage.name}{since}"
    if place is not None:
        ahead = f", {place.higher_priority_ahead:,} of higher priority ahead" if place.higher_priority_ahead else ""
        yield "In the queue", f"{place.position:,} of {place.length:,}{ahead}"
    if history is not None and history.scheduled_by:
        yield "Scheduled by", history.scheduled_by


def _stops(result: ScheduleResult, gate: Status) -> Iterator[Stop]:
    """The extension points that the cycle went through, with how many nodes each leaves."""
    yield Stop(point="PreEnqueue", number=None, words="passes" if gate.is_success else f"{gate.plugin} holds it back")
    if result.verdict is None:
        return
    total, steps = len(result.nodes), funnel(result)
    narrowed = steps[0].after if steps and steps[0].name.startswith("PreFilter") else total
    if not result.pre_filter.is_success:
        yield Stop(
            point="PreFilter", number=0, words=f"{result.pre_filter.plugin or 'a plugin'} rejects the pod as a whole"
        )
    else:
        yield Stop(
            point="PreFilter", number=narrowed, words="of " + count(total, "node") if narrowed < total else "all nodes"
        )
        yield Stop(point="Filter", number=len(result.feasible), words=f"of {narrowed:,} can take it")
    if result.post_filter is not None:
        node = result.post_filter.nominated_node
        number = len(result.post_filter.candidates)
        candidates = "candidate" if number == 1 else "candidates"
        words = f"{candidates} for preemption, {node} chosen" if node else "preemption does not help"
        yield Stop(point="PostFilter", number=number or None, words=words)
    if len(result.totals):
        yield Stop(
            point="Score",
            number=len(result.best),
            words="is best" if len(result.best) == 1 else "are tied for the best",
        )
    if result.binding:
        yield Stop(point="Bind", number=None, words=f"on {result.nominated_first or result.best[0]}")


def _preemption_message(result: ScheduleResult) -> str | None:
    """Return PostFilter's message, unless the event holds it as well."""
    said = result.post_filter.status.message if result.post_filter is not None else ""
    return said if said and said not in (result.event or "") else None


def _candidates(result: ScheduleResult) -> Iterator[PreemptionCandidate]:
    post_filter = result.post_filter
    for each in post_filter.candidates if post_filter is not None else ():
        yield PreemptionCandidate(
            node=each.node_name,
            victims=tuple((victim.key, victim.priority) for victim in each.victims),
            budgets=each.violated_budgets,
            is_chosen=post_filter is not None and each.node_name == post_filter.nominated_node,
        )

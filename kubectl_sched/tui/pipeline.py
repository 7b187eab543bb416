"""The pipeline as steps that a list can be narrowed to: from the queue to the binding, with how many are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len

from kubectl_sched.framework.plugin_error_boundary import unknown_nodes
from kubectl_sched.record import Record
from kubectl_sched.render.funnel import END_OF_SEARCH, EXTENDERS, NOMINATED_PODS, PRE_FILTER, UNJUDGED, funnel
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.tui.lines.line import Span, Tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.interface import PostFilterResult
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.funnel import Step
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.tui.lines.line import Line

QUEUE, PRE_ENQUEUE, SCORE, BEST, POST_FILTER, BIND = "Queue", "PreEnqueue", "Score", "Best", "PostFilter", "Bind"
_ARROW = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


class Stage(Record, frozen=True, kw_only=True):
    """One step: its name, the figure shown with it, one sentence, and the nodes it is about (None: it is about all)."""

    name: str
    figure: str
    text: str
    nodes: Mask | None = None
    tone: Tone = Tone.PLAIN

    @property
    def label(self) -> str:
        """The step's name as the bar shows it."""
        return f"{self.name} {self.figure}".rstrip()


def stages(explanation: Explanation) -> tuple[Stage, ...]:
    """The steps that the pod meets, those plugins among them that keep any node out."""
    return tuple(_stages(explanation))


def _stages(explanation: Explanation) -> Iterator[Stage]:
    result = explanation.result
    yield _queue(explanation)
    yield _pre_enqueue(result)
    yield from _filters(result)
    if len(result.totals):
        yield from _scored(result)
        yield _bind(result)
    elif result.post_filter is not None:
        yield _post_filter(result, result.post_filter)


def _queue(explanation: Explanation) -> Stage:
    place, result = explanation.queue_place, explanation.result
    if place is None:
        if result.current_node:
            text = f"the pod is bound to {safe(result.current_node)}; it is replayed as if it were pending"
            return Stage(name=QUEUE, figure="bound", text=text)
        return Stage(name=QUEUE, figure="-", text="the pod does not wait in the queue")
    ahead = f", {place.higher_priority_ahead:,} of higher priority ahead" if place.higher_priority_ahead else ""
    text = f"the pod is number {place.position:,} of the {place.length:,} that wait{ahead}"
    return Stage(name=QUEUE, figure=f"{place.position:,}/{place.length:,}", text=text)


def _pre_enqueue(result: ScheduleResult) -> Stage:
    status = result.pre_enqueue
    if status.is_success:
        return Stage(name=PRE_ENQUEUE, figure="✓", text="no PreEnqueue plugin holds the pod back")
    text = f"{status.plugin} holds the pod back: {safe(status.message)}"
    return Stage(name=PRE_ENQUEUE, figure="✗", text=text, tone=Tone.BAD)


def _filters(result: ScheduleResult) -> Iterator[Stage]:
    total = len(result.nodes)
    steps = {step.name: step for step in funnel(result)}
    if not result.pre_filter.is_success:
        text = f"{result.pre_filter.plugin or PRE_FILTER} rejects the pod as a whole: {safe(result.pre_filter.message)}"
        yield Stage(name=PRE_FILTER, figure="0", text=text, tone=Tone.BAD)
        return
    narrowing = next((step for name, step in steps.items() if name.startswith(f"{PRE_FILTER} (")), None)
    if narrowing is None:
        yield Stage(
            name=PRE_FILTER, figure=f"{total:,}", text=f"PreFilter leaves all {count(total, 'node')} to be filtered"
        )
    else:
        yield Stage(
            name=PRE_FILTER,
            figure=f"{narrowing.after:,}",
            text=_text(narrowing),
            nodes=_left_out(result),
            tone=_tone(narrowing),
        )
    for name, step in steps.items():
        if step is not narrowing:
            yield Stage(
                name=name, figure=f"{step.after:,}", text=_text(step), nodes=_kept_out(result, name), tone=_tone(step)
            )


def _text(step: Step) -> str:
    here = step.before - step.after
    rest = "" if here == step.alone else f", {here:,} of them still left"
    return (
        f"{step.name} alone rejects {step.alone:,}{rest}; {step.after:,} {'remains' if step.after == 1 else 'remain'}"
    )


def _tone(step: Step) -> Tone:
    return Tone.BAD if not step.after else Tone.PLAIN


def _left_out(result: ScheduleResult) -> Mask:
    names = result.pre_filter_nodes or frozenset()
    return np.array([name not in names for name in result.nodes.names], dtype=np.bool_)


def _kept_out(result: ScheduleResult, step: str) -> Mask | None:
    """Return the nodes that a step keeps out; the last steps keep out what no filter plugin does by itself."""
    alone = result.rejection_masks.get(step)
    if alone is not None or result.verdict is None:
        return alone
    rest = ~result.feasible_mask
    for mask in result.rejection_masks.values():
        rest &= ~mask
    passing = result.verdict.where(lambda status: status.is_success)
    by_plugins = result.verdict.where(lambda status: status.plugin is not None)
    if step == UNJUDGED:
        return unknown_nodes(result.verdict)
    kinds = {END_OF_SEARCH: passing, NOMINATED_PODS: by_plugins & ~passing, EXTENDERS: ~by_plugins & ~passing}
    rest &= kinds[step]
    return rest


def _scored(result: ScheduleResult) -> Iterator[Stage]:
    skipped = sorted(result.state.skip_score_plugins) if isinstance(result, CycleResult) else []
    text = f"{count(len(result.feasible), 'node')} scored by {count(len(result.scores), 'plugin')}"
    text += f"; {listed(skipped)} had nothing to say" if skipped else ""
    yield Stage(name=SCORE, figure=f"{len(result.feasible):,}", text=text, nodes=result.feasible_mask)
    best: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
    best[result.feasible[result.totals == result.totals.max()]] = True
    tied = " are tied, and chance decides" if len(result.best) > 1 else " has the most points"
    yield Stage(
        name=BEST, figure=f"{len(result.best):,}", text=f"{listed(result.best)}{tied}", nodes=best, tone=Tone.GOOD
    )


def _bind(result: ScheduleResult) -> Stage:
    actions = [f"{each.extension_point} {each.plugin}: {safe(each.action)}" for each in result.binding]
    return Stage(name=BIND, figure="", text="; ".join(actions) or "nothing is bound")


def _post_filter(result: ScheduleResult, found: PostFilterResult) -> Stage:
    if found.nominated_node:
        text = f"preemption would take {count(len(found.victims), 'pod')} off {safe(found.nominated_node)}"
        rows: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
        for candidate in found.candidates:
            if candidate.node_name in result.nodes.row_of:
                rows[result.nodes.row_of[candidate.node_name]] = True
        return Stage(name=POST_FILTER, figure=f"{int(rows.sum()):,}", text=text, nodes=rows, tone=Tone.CHANGED)
    return Stage(
        name=POST_FILTER, figure="✗", text=f"preemption does not help: {safe(found.status.message) or 'no node'}"
    )


def stage_named(found: Sequence[Stage], name: str | None) -> Stage | None:
    """The stage of that name, None if there is none any longer."""
    return next((stage for stage in found if stage.name == name), None)


def moved_to(found: Sequence[Stage], name: str | None, step: int) -> str | None:
    """The stage so many steps away; before the first there is none, which is all nodes."""
    names: list[str | None] = [None, *(stage.name for stage in found)]
    at = names.index(name) if name in names else 0
    return names[max(0, min(at + step, len(names) - 1))]


def bar_lines(found: Sequence[Stage], chosen: str | None, width: int) -> list[Line]:
    """The steps one after the other on as many lines as they take; the chosen one stands in brackets."""
    told: list[Line] = []
    current: list[Span] = []
    used = 0
    for index, stage in enumerate(found):
        label = f"[{stage.label}]" if stage.name == chosen else stage.label
        arrow = _ARROW if index else ""
        if current and used + cell_len(arrow + label) > width:
            told.append(tuple(current))
            current, used = [Span(_ARROW.lstrip(), Tone.DIM)], len(_ARROW.lstrip())
        elif arrow:
            current.append(Span(arrow, Tone.DIM))
            used += len(arrow)
        current.append(Span(label, Tone.CHOSEN if stage.name == chosen else stage.tone))
        used += cell_len(label)
    return [*told, tuple(current)] if current else told


def stage_at(found: Sequence[Stage], chosen: str | None, width: int, x: int, y: int) -> str | None:
    """The stage that is drawn at a place of the bar; None beside all of them."""
    lines = bar_lines(found, chosen, width)
    labels = {(f"[{stage.label}]" if stage.name == chosen else stage.label): stage.name for stage in found}
    at = 0
    for span in lines[y] if 0 <= y < len(lines) else ():
        at += cell_len(span.text)
        if x < at:
            return labels.get(span.text)
    return None

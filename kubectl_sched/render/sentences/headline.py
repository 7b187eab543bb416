"""The one sentence for a pod, with node names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.framework.plugin_error_boundary import could_not_judge, not_judged, unknown_nodes
from kubectl_sched.own_error import HOW_TO_REPORT
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.sentences.reason_clauses import clauses
from kubectl_sched.render.sentences.status_sentences import stage_words
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.ungated import Ungated
    from kubectl_sched.scheduler.result import ScheduleResult


_CHOICES_SHOWN = 3
_UNAFFECTED = "every other answer is unaffected"


def headline(explanation: Explanation) -> str:
    """Return the sentence for the pod: first who placed it or its stage if no scheduler matters, then the replay."""
    stage, result = explanation.stage, explanation.result
    if stage is not None and stage.name == "NotCreated":
        told = f"{safe(result.pod.key)} was never created: {safe('; '.join(stage.evidence))}"
        return f"{told}; {_held(explanation)}" if explanation.ungated else told
    unasked = no_scheduler_asked(explanation)
    if unasked is not None:
        refused = stage_words(explanation) if stage is not None and stage.name == "RefusedByKubelet" else None
        return ". ".join(filter(None, (unasked, refused, f"If a scheduler were asked: {decision(result)}")))
    if is_held(explanation):
        return f"{safe(result.pod.key)} is gated: {_held(explanation)}"
    words = stage_words(explanation)
    return f"{words}. {decision(result)}" if words is not None else decision(result)


def no_scheduler_asked(explanation: Explanation) -> str | None:
    """Return why no scheduler placed the pod, as for a static one; None if one did or will."""
    history = explanation.history
    if history is None or history.verdict != "NotScheduled":
        return None
    return safe(f"{history.message[:1].upper()}{history.message[1:]}")


def is_held(explanation: Explanation) -> bool:
    """Report whether more is known of the pod's gates than their names."""
    return bool(explanation.ungated) and any(each.says or each.facts or each.set_by for each in explanation.gates)


def _held(explanation: Explanation) -> str:
    """Return who holds the pod back and why, in their own words, and what would become of it without gates."""
    return ". ".join(filter(None, (of_gates(explanation), ungated_words(explanation))))


def of_gates(explanation: Explanation) -> str:
    """Return who holds the pod back and why, in their own words."""
    from kubectl_sched.render.sentences.gate_sentences import first_reason, held_by, holders  # most pods have none

    found = ((held_by(each), first_reason(each.gate)) for each in holders(explanation.gates))
    return "; ".join(f"{who}: {why}" if why else who for who, why in found)


def ungated_words(explanation: Explanation) -> str:
    """`With the gate lifted and its assigned flavor spot it would land on n1, the only node there is`."""
    found, gates = explanation.ungated, sum(each.gate is not None for each in explanation.gates)
    start = f"With the {'gate' if gates == 1 else 'gates'} lifted" if gates else "With the Job started"
    shown = sorted(found, key=lambda each: not each.fits)[:_CHOICES_SHOWN]
    more = f"; and {count(len(found) - len(shown), 'more choice')} of flavors" if len(found) > len(shown) else ""
    return f"{start} {'; '.join(map(_let_go, shown))}{more}"


def _let_go(each: Ungated) -> str:
    flavors, domain, would = (
        each.injection.flavors,
        each.injection.domain,
        f"it would not start: {safe(each.problem or '')}",
    )
    if each.result is not None:
        would = f"it {_lands(each.result) if len(each.result.feasible) else _still_fits_nowhere(each.result)}"
    if domain:
        where = ", ".join(f"{key}={value}" for key, value in domain.items())
        would = f"in the topology domain {safe(where)} {would}"
    if not flavors:
        return would
    return f"and {'its assigned ' if each.injection.assigned else ''}flavor {listed(flavors)} {would}"


def _still_fits_nowhere(result: ScheduleResult) -> str:
    if result.left_open is not None:
        return f"may or may not fit: {unjudged(result)}"
    return f"would still fit nowhere: {_fits_nowhere(result) if result.error is None else safe(result.error)}"


def decision(result: ScheduleResult) -> str:
    """Return the sentence for the replay alone, whatever else is known of the pod."""
    name = safe(result.pod.key)
    if result.failure is not None:
        return f"{name} could not be explained: {safe(result.failure)}; {HOW_TO_REPORT}; {_UNAFFECTED}"
    if result.outcome is Outcome.UNKNOWN:
        return f"{name} may or may not fit: {unjudged(result)}"
    if result.outcome is Outcome.ERROR and result.unknown:
        return f"{name} is not known to fit anywhere: {safe(result.error or '')}; {_UNAFFECTED}"
    if isinstance(result, MemberResult):
        from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline

        decided = f"{name} {_in_group(result)}; its group {safe(podgroup_headline(result.podgroup))}"
    else:
        decided = _decision(result)
    return "; ".join(filter(None, (decided, unjudged(result))))


def unjudged(result: ScheduleResult) -> str:
    """Return what was not judged: how many nodes, by which plugins and why; empty if everything was."""
    if not result.unknown or result.verdict is None:
        return result.left_open or ""
    if result.left_open is not None:
        if unknown_nodes(result.verdict).any():
            return safe(not_judged(result.verdict))
        is_about_preemption = any(each.plugin is not None for each in result.unknown)
        return f"{'preemption was not tried to its end: ' if is_about_preemption else ''}{result.left_open}"
    if unknown_nodes(result.verdict).any():
        return f"{safe(could_not_judge(result.verdict))}; {_UNAFFECTED}"
    failed = "; ".join(f"{each.plugin} failed with {safe(each.error)}" for each in result.unknown)
    return f"preemption could not be tried ({failed}); {HOW_TO_REPORT}; {_UNAFFECTED}"


def _decision(result: ScheduleResult) -> str:
    name = safe(result.pod.key)
    if result.outcome is Outcome.UNSCHEDULABLE:
        return f"{_preempting(result, name)}{_fits_nowhere(result)}"
    match result.outcome:
        case Outcome.NO_PROFILE:
            decided = f"is served by no profile of this configuration: its schedulerName is {_scheduler(result)}"
        case Outcome.DELETING:
            since = to_the_second(result.pod.metadata.deletion_timestamp or "")
            decided = f"is being deleted (since {since}), so kube-scheduler leaves it alone; {_otherwise(result)}"
        case Outcome.GATED:
            decided = f"is gated by {_gate(result)}, so it is not in the queue; {_otherwise(result)}"
        case Outcome.UNKNOWN:
            decided = "may or may not fit"
        case Outcome.ERROR:
            decided = f"makes the whole scheduling cycle fail: {safe(result.error or '')}"
        case _:
            decided = _lands(result)
    return f"{name} {decided}"


def _in_group(result: ScheduleResult) -> str:
    """Return what becomes of the pod in the cycle of its group."""
    match result.outcome:
        case Outcome.SCHEDULABLE:
            return _lands(result)
        case Outcome.UNSCHEDULABLE if not len(result.feasible):
            return _fits_nowhere(result)
        case Outcome.UNSCHEDULABLE:
            return "finds a node, but goes back to the queue"
        case Outcome.ERROR:
            return f"fails with its group: {safe(result.error or '')}"
        case Outcome.DELETING:
            return "is being deleted, so kube-scheduler leaves it alone"
        case _:
            return "waits with its group" if result.pre_enqueue.is_success else f"is gated by {_gate(result)}"


def _scheduler(result: ScheduleResult) -> str:
    return safe(result.pod.spec.scheduler_name) or "empty"


def _gate(result: ScheduleResult) -> str:
    said = safe(result.pre_enqueue.message)
    return f"{result.pre_enqueue.plugin} ({said})" if said else str(result.pre_enqueue.plugin)


def _otherwise(result: ScheduleResult) -> str:
    return f"otherwise {hypothetical(result)}"


def hypothetical(result: ScheduleResult) -> str:
    """`it would land on w1, ...`: what becomes of the pod if a scheduler looks at it."""
    if result.left_open is not None:
        return f"it may or may not fit: {unjudged(result)}"
    if result.error is not None:
        return f"the cycle would fail: {safe(result.error)}"
    return f"it {_lands(result) if len(result.feasible) else _fits_nowhere(result)}"


def _lands(result: ScheduleResult) -> str:
    return " ".join(landing(result))


def landing(result: ScheduleResult) -> tuple[str, str]:
    """Return the verb, and the node with what is said of it."""
    if result.nominated_first is not None:
        return "would land on", f"{safe(result.nominated_first)}, which it is nominated to and which it fits"
    best = result.best
    fits = "is known to fit" if result.unjudged_masks else "fits"
    moves = _currently(result)
    if len(result.nodes) == 1:
        return "would land on", f"{safe(best[0])}, the only node there is{moves}"
    if len(result.feasible) == 1:
        nodes = count(len(result.nodes), "node")
        return "would land on", f"{safe(best[0])}, the only one of {nodes} that it {fits}{moves}"
    if len(best) > 1:
        points = count(int(result.totals.max()), "point")
        return "is tied between", f"{listed(best)}: each has {points}, and chance decides{moves}"
    verb = "scores highest on" if result.is_sampled or result.unjudged_masks else "would land on"
    return verb, f"{safe(best[0])}, {_lead(result)}{moves}"


def _currently(result: ScheduleResult) -> str:
    node = result.current_node
    if not node:
        return ""
    is_best = result.best == (node,)
    if result.pod.status.phase == "Running":
        return f"; it runs {'there' if is_best else f'on {safe(node)}'}"
    return f"; it {'was' if result.pod.has_ended else 'is'} bound {'there' if is_best else f'to {safe(node)}'}"


def _lead(result: ScheduleResult) -> str:
    """`12 points ahead of w2, through ImageLocality`."""
    order = np.lexsort((np.array([result.nodes.names[row] for row in result.feasible]), -result.totals))
    first, second = int(order[0]), int(order[1])
    margin = int(result.totals[first] - result.totals[second])
    leads = sorted(
        ((int(each.weighted[first] - each.weighted[second]), each.plugin) for each in result.scores), reverse=True
    )
    gained = [plugin for difference, plugin in leads if difference > 0][:2]
    through = f", through {listed(gained)}" if gained else ""
    return f"{count(margin, 'point')} ahead of {safe(result.nodes.names[result.feasible[second]])}{through}"


def _preempting(result: ScheduleResult, name: str) -> str:
    """The subject, with what preemption does for it if that succeeds."""
    node = result.post_filter.nominated_node if result.post_filter is not None else None
    return f"Preemption makes room for {name} on {safe(node)}; until then it " if node else f"{name} "


def _fits_nowhere(result: ScheduleResult) -> str:
    node_count = len(result.nodes)
    if not node_count:
        return "fits nowhere: there are no nodes"
    where = "does not fit the only node" if node_count == 1 else f"fits on none of {node_count:,} nodes"
    if not result.pre_filter.is_success:
        return f"{where}: {result.pre_filter.plugin} rejects the pod as a whole: {why_as_a_whole(result)}"
    return f"{where}: {'; '.join(clauses(result))}"


def why_as_a_whole(result: ScheduleResult) -> str:
    """The evidence where there is some, else kube-scheduler's words."""
    evidence = result.pre_filter_evidence
    return safe("; ".join(each.text for each in evidence) or result.pre_filter.message)

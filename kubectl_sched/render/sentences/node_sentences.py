"""Sentences about one node: its verdict, what preemption would do there, the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.plugin_error_boundary import error_of, is_unknown
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.own_error import HOW_TO_REPORT
from kubectl_sched.render.funnel import EXTENDERS, PRE_FILTER
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.headline import decision
from kubectl_sched.render.sentences.reason_clauses import nominated_to, of_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult


def verdict_in_words(result: ScheduleResult, row: int) -> str:
    """Return the words that follow `web-0 on w1: `."""
    name = result.nodes.names[row]
    if result.verdict is None:
        return decision(result)
    status = result.verdict[row]
    if not status.is_success:
        return _not_passing(result, row, status)
    if not result.best:
        return "feasible"
    if name in result.best:
        return "the best node" if len(result.best) == 1 else f"tied for the best with {len(result.best) - 1:,} more"
    if row not in result.total_of:
        return "not reached, as the search ends before it"
    behind = int(result.totals.max()) - result.total_of[row]
    return f"feasible, {count(behind, 'point')} behind {safe(result.best[0])}"


def _not_passing(result: ScheduleResult, row: int, status: Status) -> str:
    if is_unknown(status):
        plugins = ", ".join(result.unjudged_by(row))
        if result.left_open is not None:
            return f"not judged by {plugins}: {result.left_open}"
        return f"could not be judged by {plugins} ({safe(error_of(status))}); {HOW_TO_REPORT}"
    if not result.rejections(row) and result.pre_filter.is_success:
        return of_one(result, row)
    said = f"rejected by {rejected_by(result, row)} ({safe(', '.join(status.reasons))})"
    alone = {each.plugin: each.reasons for each in result.rejections(row)}
    if result.pre_filter.is_success and status.plugin is not None and alone.get(status.plugin) != status.reasons:
        said += f" once {nominated_to(result, row)} ran there; the evidence is of the node as it is"
    return said


def rejected_by(result: ScheduleResult, row: int) -> str:
    """Name what keeps the node out: kube-scheduler's plugin, else PreFilter's narrowing or an extender."""
    status = result.verdict[row] if result.verdict is not None else SUCCESS
    if status.plugin is not None:
        return status.plugin
    narrowed = result.pre_filter_nodes
    is_outside = narrowed is not None and result.nodes.names[row] not in narrowed
    return PRE_FILTER if is_outside or not result.pre_filter.is_success else EXTENDERS


def why_not(result: ScheduleResult, row: int) -> str:
    """Return the evidence of each plugin against a rejected node, and the first near miss."""
    told = [of_one(result, row)] if result.unjudged_by(row) else []
    for status in result.rejections(row):
        evidence = result.filter_evidence(status.plugin or "", row)
        told.append(safe("; ".join([fact.text for fact in evidence]) or status.message))
        if len(told) == 1:
            told += [safe(hint) for fact in evidence for hint in fact.hints[:1]]
    return "; ".join(told or [of_one(result, row)])


def preemption_there(result: ScheduleResult, row: int) -> str | None:
    """Return the pods that preemption would evict on the node, or why it does not help; None if it was not tried."""
    post_filter = result.post_filter
    if post_filter is None:
        return None
    name = result.nodes.names[row]
    candidate = next((each for each in post_filter.candidates if each.node_name == name), None)
    if candidate is not None:
        victims = ", ".join(f"{victim.key} (priority {victim.priority})" for victim in candidate.victims)
        budgets = f", which would violate {', '.join(candidate.violated_budgets)}" if candidate.violated_budgets else ""
        return f"preemption there would evict {safe(victims)}{safe(budgets)}"
    if post_filter.dry_run is not None and post_filter.dry_run[row].reasons:
        return f"preemption there: {safe(', '.join(post_filter.dry_run[row].reasons))}"
    return None


def in_words(evidence: Sequence[Evidence]) -> str:
    """A line for each fact, its hints behind it."""
    return "\n".join(safe("; ".join((fact.text, *fact.hints))) for fact in evidence)

"""The answer as GitHub-flavoured Markdown, for chats and issues: as short as the first screen, safe to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.pods import in_sum, pod_notes, pods_table
from kubectl_sched.render.answers.whatif import (
    about_chance,
    about_rollout,
    filled_nodes,
    filled_table,
    what_if_sentence,
    workload_table,
    zones_in_words,
)
from kubectl_sched.render.lead_waterfall import waterfall_heading, waterfall_table
from kubectl_sched.render.node_order import closest, feasible_first, rejected_rows
from kubectl_sched.render.node_tables import against_table, best_tables, funnel_table, rejected_table
from kubectl_sched.render.reason_counts import reason_table
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.gate_sentences import lines_of_jobs
from kubectl_sched.render.sentences.headline import decision, headline
from kubectl_sched.render.sentences.node_sentences import preemption_there, verdict_in_words, why_not
from kubectl_sched.render.sentences.preemption_sentence import preemption
from kubectl_sched.render.sentences.search_start_sentence import sampling_words
from kubectl_sched.render.sentences.status_sentences import status_parts
from kubectl_sched.render.writers.markdown_text import code, fenced, note_list, replayed, table, text
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.placements import Simulated
    from kubectl_sched.simulation.what_if_result import WhatIfResult

_BEST_SHOWN = 5
_CLOSEST_SHOWN = 5
_NODES_SHOWN = 20


def explanation_markdown(answer: Answer, display: Display) -> str:
    """Return one pod's answer, or a table of several; it ends with the version and profile that were replayed."""
    if not answer.is_about_one_pod:
        return _joined([*_several(answer), *_replayed(answer.explanations)])
    explanation = answer.explanations[0]
    result = explanation.shown
    notes = list(dict.fromkeys((*explanation.warnings, *answer.notes, *answer.warnings)))
    parts = [*_head(explanation), *_nodes(explanation, display), *_reasons(result), *_event(result)]
    return _joined([*parts, *note_list(notes), *_replayed(answer.explanations)])


def what_if_markdown(answer: WhatIfResult, version: str, warnings: Sequence[str]) -> str:
    """Return the numbers of placed pods, their nodes, and why the first that does not fit does not."""
    simulated = answer.simulated
    first = simulated.first_unplaced
    notes = list(dict.fromkeys((*about_chance(simulated.placements), *answer.warnings, *warnings)))
    parts = [
        f"**{text(what_if_sentence(answer))}**",
        *(text(about_rollout(rollout)) for rollout in answer.rollouts),
        *_placements(simulated),
        *([text(f"{decision(first)}."), *_event(first)] if first is not None else ()),
        *note_list(notes),
        replayed(version),
    ]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _head(explanation: Explanation) -> Iterator[str]:
    """Yield the sentence, the pod's status and what would help."""
    yield f"**{text(headline(explanation))}.**"
    for part in status_parts(explanation):
        yield from (text(str(line)) for line in part.full)
    if explanation.new_nodes is not None and explanation.new_nodes.in_full:
        from kubectl_sched.render.sentences.new_nodes_sentences import (  # rarely asked for
            assumed_sentence,
            new_nodes_tables,
        )

        yield from map(table, new_nodes_tables(explanation.new_nodes))
        yield text(assumed_sentence(explanation.new_nodes))
    wins = sampling_words(explanation)
    if wins is not None:
        yield text(f"{wins}.")
    would = preemption(explanation.result)
    if would is not None:
        yield text(would)
    contrast = explanation.contrast
    if contrast is not None and contrast.plugins:
        yield text(waterfall_heading(contrast))
        yield table(waterfall_table(contrast))
    for suggestion in explanation.suggestions:
        yield text(suggestion.text)
        yield from (fenced(str(command), "sh") for command in suggestion.commands)
        for manual in suggestion.manual:
            yield text(f"{manual.instruction}{':' if manual.document else '.'}")
            yield from (fenced(document) for document in (manual.document,) if document)


def _nodes(explanation: Explanation, display: Display) -> Iterator[str]:
    """The best by points, the closest of the others; all with --all-nodes, the one that was asked for with --node."""
    result = explanation.shown
    if result.verdict is None:
        return
    if display.node is not None:
        yield from _one_node(explanation, result.nodes.row_of[display.node])
        return
    steps = funnel_table(result)
    if steps.rows and len(result.nodes) > 1:
        yield table(steps)
    if len(result.totals):
        order = feasible_first(result)
        shown = order if display.all_nodes else order[:_BEST_SHOWN]
        yield table(next(best_tables(result, shown)))
        if len(order) > len(shown):
            yield f"… and {count(len(order) - len(shown), 'more feasible node')}"
    elif result.pre_filter.is_success:
        rows = rejected_rows(result) if display.all_nodes else closest(result, _CLOSEST_SHOWN)
        yield table(rejected_table(result, rows))
        if len(rows) < len(result.nodes):
            yield f"… and {count(len(result.nodes) - len(rows), 'more node')}"


def _one_node(explanation: Explanation, row: int) -> Iterator[str]:
    result = explanation.shown
    yield f"{code(result.nodes.names[row])}: {text(verdict_in_words(result, row))}."
    if row not in result.total_of:
        yield text(f"{why_not(result, row)}.")
    elif result.scores:
        yield table(against_table(result, row, explanation.contrast))
    there = preemption_there(result, row)
    if there is not None:
        yield text(f"{there}.")


def _reasons(result: ScheduleResult) -> Iterator[str]:
    """Yield a table of the reasons with their numbers of nodes, in kube-scheduler's words and in plain ones."""
    reasons = reason_table(result)
    if reasons.rows:
        yield table(reasons)


def _event(result: ScheduleResult) -> Iterator[str]:
    if result.event is not None and result.outcome is not Outcome.ERROR:
        yield "kube-scheduler's own message:"
        yield fenced(result.event, "text")


def _several(answer: Answer) -> Iterator[str]:
    explanations = answer.explanations
    if not explanations:
        yield f"{answer.nothing.capitalize()}."
        return
    yield f"**{text(in_sum(explanations, answer.together))}**"
    yield table(pods_table(explanations))
    yield from map(text, lines_of_jobs(explanations))
    yield from note_list([*pod_notes(explanations), *dict.fromkeys((*answer.notes, *answer.warnings))])


def _placements(simulated: Simulated) -> Iterator[str]:
    owners = workload_table(simulated.placements)
    if not owners.rows:
        return
    yield table(owners)
    changed = filled_nodes(simulated)
    if changed:
        yield table(filled_table(simulated, changed[:_NODES_SHOWN]))
    if len(changed) > _NODES_SHOWN:
        yield f"… and {count(len(changed) - _NODES_SHOWN, 'more node')}"
    zones = zones_in_words(simulated)
    if zones is not None:
        yield text(zones)


def _replayed(explanations: Sequence[Explanation]) -> Iterator[str]:
    """Yield the version of kube-scheduler, the profiles and the number of nodes."""
    if not explanations:
        return
    results = [each.result for each in explanations]
    names = dict.fromkeys(result.framework.profile.scheduler_name for result in results if result.framework is not None)
    profiles = f", profile {', '.join(map(code, names))}" if names else ""
    yield f"{replayed(results[0].kubernetes_version)}{profiles}, {count(len(results[0].nodes), 'node')}"

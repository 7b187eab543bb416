"""The answer as GitHub-flavoured Markdown, for chats and issues: as short as the first screen, safe to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.closest_nodes import closest
from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.headline import decision, headline
from kubectl_sched.render.histogram import histogram
from kubectl_sched.render.markdown.markdown_text import bullets, code, fenced, table, text
from kubectl_sched.render.node_order import feasible_first, rejected_rows
from kubectl_sched.render.node_sentences import preemption_there, verdict_in_words, why_not
from kubectl_sched.render.preemption_sentence import preemption
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sampling_sentence import sampling_words
from kubectl_sched.render.status_sentences import status_parts
from kubectl_sched.render.text.pod_list import group_name, grouped, in_sum, pod_notes, why
from kubectl_sched.render.text.what_if_text import (
    about_chance,
    about_rollout,
    filled,
    filled_nodes,
    what_if_sentence,
    workloads,
    zones_in_words,
)
from kubectl_sched.render.waterfall import waterfall, waterfall_heading
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.placement import Simulated
    from kubectl_sched.simulation.what_if_result import WhatIfResult

_BEST_SHOWN = 5
_CLOSEST_SHOWN = 5
_NODES_SHOWN = 20


def explanation_markdown(answer: Answer, display: Display) -> str:
    """Return one pod's answer, or a table of several; it ends with the version and profile that were replayed."""
    if not answer.is_about_one_pod:
        return _joined([*_several(answer), *_replayed(answer.explanations)])
    explanation = answer.explanations[0]
    result = explanation.result
    notes = list(dict.fromkeys((*explanation.warnings, *answer.notes, *answer.warnings)))
    parts = [*_head(explanation), *_nodes(result, display), *_reasons(result), *_event(result)]
    return _joined([*parts, *_notes(notes), *_replayed(answer.explanations)])


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
        *_notes(notes),
        _what(version),
    ]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _head(explanation: Explanation) -> Iterator[str]:
    """Yield the sentence, the pod's status and what would help."""
    yield f"**{text(headline(explanation))}.**"
    for part in status_parts(explanation):
        yield from (text(str(line)) for line in part.full)
    wins = sampling_words(explanation)
    if wins is not None:
        yield text(f"{wins}.")
    would = preemption(explanation.result)
    if would is not None:
        yield text(would)
    contrast = explanation.contrast
    if contrast is not None and contrast.plugins:
        rows = [(each.points, text(each.plugin), text(each.because)) for each in waterfall(contrast)]
        yield text(waterfall_heading(contrast))
        yield table(("Points", "Plugin", "because"), rows, frozenset({0}))
    for suggestion in explanation.suggestions:
        yield text(suggestion.text)
        yield from (fenced(str(command), "sh") for command in suggestion.commands_below)
        for manual in suggestion.manual:
            yield text(f"{manual.instruction}{':' if manual.document else '.'}")
            yield from (fenced(document) for document in (manual.document,) if document)


def _nodes(result: ScheduleResult, display: Display) -> Iterator[str]:
    """The best by points, the closest of the others; all with --all-nodes, the one that was asked for with --node."""
    if result.verdict is None:
        return
    if display.node is not None:
        yield from _one_node(result, result.nodes.row_of[display.node])
        return
    steps = funnel(result)
    if steps and len(result.nodes) > 1:
        rows = [(f"{step.after:,}", text(step.name), f"{step.alone:,}") for step in steps]
        yield table(
            (f"Nodes left (of {len(result.nodes):,})", "After filter", "Rejected by it alone"), rows, frozenset({0, 2})
        )
    if len(result.totals):
        yield from _best(result, display)
    elif result.pre_filter.is_success:
        yield from _closest(result, display)


def _one_node(result: ScheduleResult, row: int) -> Iterator[str]:
    name = result.nodes.names[row]
    yield f"{code(name)}: {text(verdict_in_words(result, row))}."
    if row not in result.total_of:
        yield text(f"{why_not(result, row)}.")
    elif result.scores:
        position = result.feasible.tolist().index(row)
        numbers = (
            (each, each.raw[position], each.normalized[position], each.weighted[position]) for each in result.scores
        )
        rows = [
            (text(each.plugin), str(raw), str(normalized), str(each.weight), str(weighted))
            for each, raw, normalized, weighted in numbers
        ]
        total = ("Total", "", "", "", str(result.total_of[row]))
        yield table(("Score", "raw", "0..100", "weight", "points"), [*rows, total], frozenset({1, 2, 3, 4}))
    there = preemption_there(result, row)
    if there is not None:
        yield text(f"{there}.")


def _best(result: ScheduleResult, display: Display) -> Iterator[str]:
    """The nodes of most points, with the plugins whose points differ between them."""
    order = feasible_first(result)
    shown = order if display.all_nodes else order[:_BEST_SHOWN]
    position = {row: index for index, row in enumerate(result.feasible.tolist())}
    places = [position[row] for row in shown]
    columns = [each for each in result.scores if len(set(each.weighted[places].tolist())) > 1]
    rows = [
        (
            code(result.nodes.names[row]),
            str(result.total_of[row]),
            *(str(each.weighted[position[row]]) for each in columns),
        )
        for row in shown
    ]
    headings = ("Node", "Points", *(text(each.plugin) for each in columns))
    yield table(headings, rows, frozenset(range(1, len(headings))))
    if len(order) > len(shown):
        yield f"… and {count(len(order) - len(shown), 'more feasible node')}"


def _closest(result: ScheduleResult, display: Display) -> Iterator[str]:
    """The rejected nodes that came closest, with the evidence."""
    rows = rejected_rows(result) if display.all_nodes else closest(result, _CLOSEST_SHOWN)
    more = len(result.nodes) - len(rows)
    headings = ("Closest" if more else "Node", "why not")
    yield table(headings, [(code(result.nodes.names[row]), text(why_not(result, row))) for row in rows])
    if more:
        yield f"… and {count(more, 'more node')}"


def _reasons(result: ScheduleResult) -> Iterator[str]:
    """Yield a table of the reasons with their numbers of nodes, in kube-scheduler's words and in plain ones."""
    bars = histogram(result)
    if bars:
        rows = [(f"{bar.nodes:,}", text(bar.plugin), text(bar.reason), text(bar.says)) for bar in bars]
        yield table(("Nodes", "Plugin", "Reason", "in plain words"), rows, frozenset({0}))


def _event(result: ScheduleResult) -> Iterator[str]:
    if result.event is not None and result.outcome is not Outcome.ERROR:
        yield "kube-scheduler's own message:"
        yield fenced(result.event, "text")


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield bullets([f"note: {note}" for note in notes])


def _several(answer: Answer) -> Iterator[str]:
    explanations = answer.explanations
    if not explanations:
        yield "No pods match."
        return
    yield f"**{text(in_sum(explanations, answer.together))}**"
    rows = [
        (code(group_name(group)), group[0].result.outcome.value, text(why(group[0]))) for group in grouped(explanations)
    ]
    yield table(("Pod", "Outcome", "Why"), rows)
    yield from _notes([*pod_notes(explanations), *dict.fromkeys((*answer.notes, *answer.warnings))])


def _placements(simulated: Simulated) -> Iterator[str]:
    owners = [
        (code(owner), f"{placed:,}", f"{unplaced:,}", text(told))
        for owner, placed, unplaced, told in workloads(simulated.placements)
    ]
    if not owners:
        return
    yield table(("Workload", "Placed", "Not placed", "Why"), owners, frozenset({1, 2}))
    changed = [(name, pods) for name, pods in filled_nodes(simulated) if name in simulated.after.row_of]
    rows = [
        (code(name), f"+{pods:,}", *(text(filled(simulated, name, each)[0]) for each in ("cpu", "memory", "pods")))
        for name, pods in changed[:_NODES_SHOWN]
    ]
    if rows:
        yield table(("Node", "Pods", "CPU requested", "Memory requested", "Pods of"), rows, frozenset({1}))
    if len(changed) > len(rows):
        yield f"… and {count(len(changed) - len(rows), 'more node')}"
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
    yield f"{_what(results[0].kubernetes_version)}{profiles}, {count(len(results[0].nodes), 'node')}"


def _what(version: str) -> str:
    return text(f"replayed by kubectl-sched as kube-scheduler {version}")

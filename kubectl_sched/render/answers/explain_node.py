"""One node in full: every plugin's verdict or points, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.unreadable_kinds import is_decided_on, kinds_in_words
from kubectl_sched.render.answers.explain import ladder
from kubectl_sched.render.document import Document, Listing, Said, Sentence, Verdict, Waterfall
from kubectl_sched.render.node_tables import against_table, rejection_table
from kubectl_sched.render.sentences.headline import no_scheduler_asked
from kubectl_sched.render.sentences.node_sentences import preemption_there, verdict_in_words
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult

_ASKED = frozenset({Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE, Outcome.GATED})


def node_document(explanation: Explanation, node: str, *, one: bool) -> Document:
    """Filters first, then scores where the node is feasible, what preemption would do there, and what it would take.

    `one`: this pod alone was asked about, and so what it would take.
    """
    result = explanation.result
    row = result.nodes.row_of[node]
    unasked = no_scheduler_asked(explanation) if one else None
    parts = tuple(_parts(explanation, row, asked=one and result.extended is None and unasked is None))
    verdict = f"{result.pod.key} on {node}: {_verdict(explanation, row)}."
    if result.verdict is None:
        parts = ()
    if unasked is not None:
        parts = (Sentence(text=verdict, tone="strong"), *parts)
    return Document(
        verdict=Verdict(text=verdict if unasked is None else f"{unasked}. If a scheduler were asked:"),
        parts=parts,
        nodes=result.nodes.whole.names,
        heading=result.pod.key,
    )


def _verdict(explanation: Explanation, row: int) -> str:
    """Return the verdict on the node; what decides may be of kinds that a list of mixed kinds has not one object of."""
    result, missing = explanation.result, explanation.missing
    if missing and result.unread is None and result.verdict is not None and not is_decided_on(result, row, missing):
        return f"not known here: {kinds_in_words(missing)}"
    return verdict_in_words(result, row)


def _parts(explanation: Explanation, row: int, *, asked: bool) -> Iterator[Said]:
    result, contrast = explanation.result, explanation.contrast
    if contrast is not None and contrast.plugins:
        yield Waterfall(contrast=contrast, among=result.nodes.names, in_full=False)
    yield from _filters(result, row)
    unjudged = result.unjudged_by(row)
    if unjudged:
        why = "by a bug in kubectl-sched" if result.left_open is None else f"as {result.left_open}"
        yield Sentence(text=f"not judged, {why}: {', '.join(unjudged)}", tone="bad", gap=True)
    if row in result.total_of and result.scores:
        yield from _scores(explanation, row)
    there = preemption_there(result, row)
    if there is not None:
        yield Sentence(text=there, gap=True)
    yield from _what_it_would_take(explanation, row, asked=asked)


def _filters(result: ScheduleResult, row: int) -> Iterator[Said]:
    rejections = result.rejections(row)
    rejecting = {status.plugin for status in rejections}
    passing: list[str] = []
    skipped: list[str] = []
    never_run: list[str] = []
    for plugin in _judging(result, row):
        if plugin.name in rejecting:
            continue
        if plugin.name in result.verdicts:
            passing.append(plugin.name)
        elif isinstance(result, CycleResult) and plugin.name in result.state.skip_filter_plugins:
            skipped.append(plugin.name)
        else:
            never_run.append(plugin.name)
    if rejections:
        yield Listing(tables=(rejection_table(result, row),), caption="Filters that reject the node", gap=True)
    if passing:
        yield Sentence(text=f"pass: {', '.join(passing)}", gap=True)
    if skipped:
        yield Sentence(text=f"skipped at Filter (not relevant to this pod): {', '.join(skipped)}", tone="dim")
    if never_run:
        yield Sentence(text=f"not run, as PreFilter ends the cycle: {', '.join(never_run)}", tone="dim")


def _judging(result: ScheduleResult, row: int) -> list[FilterPlugin]:
    unjudged = result.unjudged_by(row)
    plugins = result.framework.filter_plugins if isinstance(result, CycleResult) else ()
    return [plugin for plugin in plugins if plugin.name not in unjudged]


def _scores(explanation: Explanation, row: int) -> Iterator[Said]:
    """Yield each plugin's points, beside those of the winner."""
    result, contrast = explanation.result, explanation.contrast
    tables = (against_table(result, row, contrast), against_table(result, row, contrast, is_narrow=True))
    yield Listing(tables=tables, caption="Points by plugin", gap=True)
    skipped = sorted(result.state.skip_score_plugins) if isinstance(result, CycleResult) else []
    if skipped:
        yield Sentence(text=f"skipped at Score (not relevant to this pod): {', '.join(skipped)}", tone="dim")


def _what_it_would_take(explanation: Explanation, row: int, *, asked: bool) -> Iterator[Said]:
    """Every suggestion, least harm first; a sentence where there is none and one was wanted."""
    result = explanation.result
    name = result.nodes.names[row]
    if explanation.suggestions:
        yield ladder(explanation.suggestions)
    elif asked and result.outcome in _ASKED and name not in result.best:
        does = "the best node" if row in result.total_of else "take it"
        yield Sentence(text=f"No change that was tried makes {name} {does}.", gap=True)

"""One node in full: every plugin's verdict or points, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.node_tables import against_table, rejection_table
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.headline import no_scheduler_asked
from kubectl_sched.render.sentences.node_sentences import preemption_there, verdict_in_words
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.suggestion_text import lines_of
from kubectl_sched.render.writers.table_lines import fits, table_lines
from kubectl_sched.render.writers.waterfall_lines import waterfall_lines
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult

_ASKED = frozenset({Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE, Outcome.GATED})


def node_report(explanation: Explanation, row: int, width: int, *, one: bool) -> Iterator[Text]:
    """Filters first, then scores where the node is feasible, what preemption would do there, and what it would take.

    `one`: this pod alone was asked about, and so what it would take.
    """
    result = explanation.result
    name = safe(result.nodes.names[row])
    unasked = no_scheduler_asked(explanation) if one else None
    if unasked is not None:
        yield Text(f"{unasked}. If a scheduler were asked:")
    yield Text(f"{safe(result.pod.key)} on {name}: {verdict_in_words(result, row)}.", style="bold")
    if result.verdict is None:
        return
    if explanation.contrast is not None and explanation.contrast.plugins:
        yield from waterfall_lines(result, explanation.contrast, width, in_full=False)
    yield from _filters(result, row, width)
    unjudged = result.unjudged_by(row)
    if unjudged:
        why = "by a bug in kubectl-sched" if result.left_open is None else f"as {result.left_open}"
        yield Text(f"\nnot judged, {why}: {', '.join(unjudged)}", style="red")
    if row in result.total_of and result.scores:
        yield from _scores(explanation, row, width)
    there = preemption_there(result, row)
    if there is not None:
        yield Text(f"\n{there}")
    asked = one and result.extended is None and unasked is None
    yield from _what_it_would_take(explanation, row, width, asked=asked)


def _filters(result: ScheduleResult, row: int, width: int) -> Iterator[Text]:
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
        elif result.state is not None and plugin.name in result.state.skip_filter_plugins:
            skipped.append(plugin.name)
        else:
            never_run.append(plugin.name)
    if rejections:
        yield Text()
        yield from table_lines(rejection_table(result, row), width)
    if passing:
        yield Text(f"\npass: {', '.join(passing)}")
    if skipped:
        yield Text(f"skipped at Filter (not relevant to this pod): {', '.join(skipped)}", style="dim")
    if never_run:
        yield Text(f"not run, as PreFilter ends the cycle: {', '.join(never_run)}", style="dim")


def _judging(result: ScheduleResult, row: int) -> list[FilterPlugin]:
    unjudged = result.unjudged_by(row)
    plugins = result.framework.filter_plugins if result.framework is not None else ()
    return [plugin for plugin in plugins if plugin.name not in unjudged]


def _scores(explanation: Explanation, row: int, width: int) -> Iterator[Text]:
    """Yield each plugin's points, beside those of the winner."""
    result = explanation.result
    yield Text()
    table = against_table(result, row, explanation.contrast)
    if not fits(table, width):
        table = against_table(result, row, explanation.contrast, is_narrow=True)
    yield from table_lines(table, width)
    skipped = sorted(result.state.skip_score_plugins) if result.state else []
    if skipped:
        yield Text(f"skipped at Score (not relevant to this pod): {', '.join(skipped)}", style="dim")


def _what_it_would_take(explanation: Explanation, row: int, width: int, *, asked: bool) -> Iterator[Text]:
    """Every suggestion, numbered by how little it touches; a sentence where there is none and one was wanted."""
    result = explanation.result
    name = safe(result.nodes.names[row])
    if not explanation.suggestions:
        if asked and result.outcome in _ASKED and name not in result.best:
            does = "the best node" if row in result.total_of else "take it"
            yield Text(f"\nNo change that was tried makes {name} {does}.")
        return
    yield Text("\nWhat it would take, each replayed:", style="bold")
    for number, suggestion in enumerate(explanation.suggestions, start=1):
        sentence, *commands = lines_of(suggestion, width)
        yield Text(f"{number}. {sentence.plain}")
        yield from commands

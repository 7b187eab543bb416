"""One node in full: every plugin's verdict or points, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from kubectl_sched.render.node_sentences import in_words, preemption_there, verdict_in_words
from kubectl_sched.render.safe_text import count, safe, shortened
from kubectl_sched.render.text.suggestion_text import lines_of
from kubectl_sched.render.text.tables import plain_table
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.weight_margins import points_lost, positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult

_NAME_LENGTH = 24
_ASKED = frozenset({Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE, Outcome.GATED})


def node_report(explanation: Explanation, row: int, width: int, *, one: bool) -> Iterator[RenderableType]:
    """Filters first, then scores where the node is feasible, what preemption would do there, and what it would take.

    `one`: this pod alone was asked about, and so what it would take.
    """
    result = explanation.result
    name = safe(result.nodes.names[row])
    yield Text(f"{safe(result.pod.key)} on {name}: {verdict_in_words(result, row)}.", style="bold")
    if result.verdict is None:
        return
    yield from _filters(result, row)
    unjudged = result.unjudged_by(row)
    if unjudged:
        yield Text(f"\nnot judged, by a bug in kubectl-sched: {', '.join(unjudged)}", style="red")
    if row in result.total_of and result.scores:
        yield from _scores(result, row)
        yield from _against_the_winner(result, row)
    there = preemption_there(result, row)
    if there is not None:
        yield Text(f"\n{there}")
    yield from _what_it_would_take(explanation, row, width, asked=one and result.extended is None)


def _filters(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    table = plain_table()
    table.add_column("Filter", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    rejected = {status.plugin: status for status in result.rejections(row)}
    passing: list[str] = []
    skipped: list[str] = []
    never_run: list[str] = []
    for plugin in _judging(result, row):
        status = rejected.get(plugin.name)
        if status is not None:
            evidence = result.filter_evidence(plugin.name, row)
            table.add_row(plugin.name, Text(in_words(evidence) or safe(status.message), "red"))
            table.add_row("", Text(status.code.value, "dim"))
        elif plugin.name in result.verdicts:
            passing.append(plugin.name)
        elif result.state is not None and plugin.name in result.state.skip_filter_plugins:
            skipped.append(plugin.name)
        else:
            never_run.append(plugin.name)
    if rejected:
        yield Text()
        yield table
    if passing:
        yield Text(f"\npass: {', '.join(passing)}")
    if skipped:
        yield Text(f"skipped (not relevant to this pod): {', '.join(skipped)}", style="dim")
    if never_run:
        yield Text(f"not run, as PreFilter ends the cycle: {', '.join(never_run)}", style="dim")


def _judging(result: ScheduleResult, row: int) -> list[FilterPlugin]:
    unjudged = result.unjudged_by(row)
    plugins = result.framework.filter_plugins if result.framework is not None else ()
    return [plugin for plugin in plugins if plugin.name not in unjudged]


def _scores(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    position = int(np.flatnonzero(result.feasible == row)[0])
    table = plain_table()
    table.add_column("Score", no_wrap=True)
    for heading in ("raw", "0..100", "weight", "points"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("because", overflow="fold")
    for each in result.scores:
        numbers = (each.raw[position], each.normalized[position], each.weight, each.weighted[position])
        evidence = in_words(result.score_evidence(each.plugin, row))
        table.add_row(each.plugin.removeprefix("NodeResources"), *map(str, numbers), evidence)
    table.add_row("Total", "", "", "", str(result.total_of[row]), "")
    yield Text()
    yield table
    skipped = sorted(result.state.skip_score_plugins) if result.state else []
    if skipped:
        yield Text(f"skipped (not relevant to this pod): {', '.join(skipped)}", style="dim")


def _against_the_winner(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    """Its points, the winner's and the difference, the plugin by which it loses the most first."""
    if not result.best or result.nodes.names[row] in result.best:
        return
    mine, winner = positions(result, row)
    points_of = {each.plugin: each.weighted for each in result.scores}
    table = plain_table()
    table.add_column("Points", no_wrap=True)
    for heading in (result.nodes.names[row], result.best[0]):
        table.add_column(shortened(safe(heading), _NAME_LENGTH), justify="right", no_wrap=True)
    table.add_column("difference", justify="right", no_wrap=True)
    differing = [(plugin, points) for plugin, points in points_lost(result, row) if points]
    for plugin, difference in differing:
        points = points_of[plugin]
        style = "red" if difference < 0 else "green"
        table.add_row(plugin, str(points[mine]), str(points[winner]), Text(f"{difference:+d}", style))
    totals = result.totals[mine], result.totals[winner]
    table.add_row("Total", *map(str, totals), f"{totals[0] - totals[1]:+d}")
    yield Text()
    yield table
    equal = len(points_of) - len(differing)
    if equal:
        yield Text(f"and {count(equal, 'plugin')} giving both the same", style="dim")


def _what_it_would_take(explanation: Explanation, row: int, width: int, *, asked: bool) -> Iterator[RenderableType]:
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
        yield Text(f"{number}. ") + sentence
        yield from commands

"""One node in full: every plugin's verdict or points, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from kubectl_sched.render.reasons import of_one
from kubectl_sched.render.summary import summary
from kubectl_sched.render.tables import plain_table
from kubectl_sched.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.scheduler.result import ScheduleResult


def node_page(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    """Filters first, then scores where the node is feasible, then what preemption would do there."""
    name = safe(result.nodes.names[row])
    yield Text(f"{safe(result.pod.key)} on {name}: {_verdict_in_words(result, row)}.", style="bold")
    if result.verdict is None:
        return
    yield from _filters(result, row)
    if row in result.total_of and result.scores:
        yield from _scores(result, row)
    yield from _preemption(result, row)
    yield from (Text(f"note: {safe(note)}", style="dim") for note in result.warnings)


def _verdict_in_words(result: ScheduleResult, row: int) -> str:
    name = result.nodes.names[row]
    if result.verdict is None:
        return summary(result)
    status = result.verdict[row]
    if not status.is_success:
        if not result.rejections(row) and result.pre_filter.is_success:
            return of_one(result, row)
        return f"rejected by {status.plugin or 'PreFilter'} ({safe(', '.join(status.reasons))})"
    if not result.best:
        return "feasible"
    if name in result.best:
        return "the best node" if len(result.best) == 1 else f"tied for the best with {len(result.best) - 1:,} more"
    behind = int(result.totals.max()) - result.total_of[row]
    return f"feasible, {behind} points behind {safe(result.best[0])}"


def _filters(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    table = plain_table()
    table.add_column("Filter", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    rejected = {status.plugin: status for status in result.rejections(row)}
    passing: list[str] = []
    skipped: list[str] = []
    for plugin in result.framework.filter_plugins if result.framework else ():
        status = rejected.get(plugin.name)
        if status is not None:
            evidence = result.filter_evidence(plugin.name, row)
            table.add_row(plugin.name, Text(_in_words(evidence) or safe(status.message), "red"))
            table.add_row("", Text(status.code.value, "dim"))
        elif plugin.name in result.verdicts:
            passing.append(plugin.name)
        else:
            skipped.append(plugin.name)
    if rejected:
        yield Text()
        yield table
    if passing:
        yield Text(f"\npass: {', '.join(passing)}")
    if skipped:
        yield Text(f"skipped, as nothing of the pod concerns them: {', '.join(skipped)}", style="dim")


def _scores(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    position = int(np.flatnonzero(result.feasible == row)[0])
    table = plain_table()
    table.add_column("Score", no_wrap=True)
    for heading in ("raw", "0..100", "weight", "points"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("because", overflow="fold")
    for each in result.scores:
        numbers = (each.raw[position], each.normalized[position], each.weight, each.weighted[position])
        evidence = _in_words(result.score_evidence(each.plugin, row))
        table.add_row(each.plugin.removeprefix("NodeResources"), *map(str, numbers), evidence)
    table.add_row("Total", "", "", "", str(result.total_of[row]), "")
    yield Text()
    yield table
    skipped = sorted(result.state.skip_score_plugins) if result.state else []
    if skipped:
        yield Text(f"skipped, as nothing of the pod concerns them: {', '.join(skipped)}", style="dim")


def _preemption(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    post_filter = result.post_filter
    if post_filter is None:
        return
    name = result.nodes.names[row]
    candidate = next((each for each in post_filter.candidates if each.node_name == name), None)
    if candidate is not None:
        victims = ", ".join(f"{victim.key} (priority {victim.priority})" for victim in candidate.victims)
        budgets = f", which would violate {', '.join(candidate.violated_budgets)}" if candidate.violated_budgets else ""
        yield Text(f"\npreemption there would evict {safe(victims)}{safe(budgets)}")
    elif post_filter.dry_run is not None and post_filter.dry_run[row].reasons:
        yield Text(f"\npreemption there: {safe(', '.join(post_filter.dry_run[row].reasons))}")


def _in_words(evidence: Sequence[Evidence]) -> str:
    return "\n".join(safe("; ".join((fact.text, *fact.hints))) for fact in evidence)

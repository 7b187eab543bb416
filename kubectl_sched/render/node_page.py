"""One node in full: every plugin's verdict or points, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from kubectl_sched.render.node_words import in_words, preemption_there, verdict_in_words
from kubectl_sched.render.tables import plain_table
from kubectl_sched.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from kubectl_sched.scheduler.result import ScheduleResult


def node_page(result: ScheduleResult, row: int) -> Iterator[RenderableType]:
    """Filters first, then scores where the node is feasible, then what preemption would do there."""
    name = safe(result.nodes.names[row])
    yield Text(f"{safe(result.pod.key)} on {name}: {verdict_in_words(result, row)}.", style="bold")
    if result.verdict is None:
        return
    yield from _filters(result, row)
    if row in result.total_of and result.scores:
        yield from _scores(result, row)
    there = preemption_there(result, row)
    if there is not None:
        yield Text(f"\n{there}")
    yield from (Text(f"note: {safe(note)}", style="dim") for note in result.warnings)


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
            table.add_row(plugin.name, Text(in_words(evidence) or safe(status.message), "red"))
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
        evidence = in_words(result.score_evidence(each.plugin, row))
        table.add_row(each.plugin.removeprefix("NodeResources"), *map(str, numbers), evidence)
    table.add_row("Total", "", "", "", str(result.total_of[row]), "")
    yield Text()
    yield table
    skipped = sorted(result.state.skip_score_plugins) if result.state else []
    if skipped:
        yield Text(f"skipped, as nothing of the pod concerns them: {', '.join(skipped)}", style="dim")

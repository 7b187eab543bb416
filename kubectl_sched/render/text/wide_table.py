"""The whole table, a row a node and a column a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.headline import headline
from kubectl_sched.render.node_sentences import rejected_by
from kubectl_sched.render.preemption_sentence import preemption
from kubectl_sched.render.safe_text import count, safe, shortened
from kubectl_sched.render.sampling_sentence import sampling_words
from kubectl_sched.render.status_sentences import status_parts
from kubectl_sched.render.text.suggestion_text import lines_of
from kubectl_sched.render.text.tables import aligned, plain_table
from kubectl_sched.render.waterfall import waterfall, waterfall_heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from kubectl_sched.framework.runtime import PluginScores
    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult

_NAME_LENGTH = 60


def wide(explanation: Explanation, notes: Sequence[str], width: int) -> Iterator[RenderableType]:
    """Yield feasible nodes first, by total; then the rejected ones by reason. Columns that do not fit go below."""
    result = explanation.result
    yield Text(f"{headline(explanation)}.", style="bold")
    for part in status_parts(explanation):
        yield from part.full
    yield from _waterfall(explanation.contrast)
    wins = sampling_words(explanation)
    if wins is not None:
        yield Text(f"{wins}.")
    would = preemption(result)
    if would is not None:
        yield Text(safe(would))
    for suggestion in explanation.suggestions:
        yield from lines_of(suggestion, width)
    if len(result.totals):
        yield from _score_tables(result, width)
        yield Text("each cell: raw > normalized to 0..100 = points (normalized x weight)", style="dim")
    yield from _funnel(result)
    yield from _rejections(result)
    for action in result.binding:
        yield Text(f"{action.extension_point} {action.plugin}: {safe(action.action)}")
    yield from (Text(f"note: {safe(note)}", style="dim") for note in dict.fromkeys((*explanation.warnings, *notes)))
    if result.event is not None:
        yield Text("\nkube-scheduler's own message:", style="bold")
        yield Text(safe(result.event))


def _waterfall(contrast: Contrast | None) -> Iterator[RenderableType]:
    """Yield the difference between the winner and another node, a bar a plugin."""
    if contrast is None or not contrast.plugins:
        return
    yield Text(f"\n{waterfall_heading(contrast)}", style="bold")
    table = plain_table()
    table.add_column("Points", justify="right")
    for heading in ("", "Plugin"):
        table.add_column(heading, no_wrap=True)
    table.add_column("because", overflow="fold")
    for each in waterfall(contrast):
        table.add_row(each.points, each.bar, each.plugin, each.because)
    yield table


def _score_tables(result: ScheduleResult, width: int) -> Iterator[RenderableType]:
    """One table where it fits; else as many as it takes, each with the nodes' names."""
    names = np.array([result.nodes.names[row] for row in result.feasible])
    order = np.lexsort((names, -result.totals)).tolist()
    labels = [shortened(safe(str(names[position])), _NAME_LENGTH) for position in order]
    cells = [(f"{each.plugin} x{each.weight}", _cells(each, order)) for each in result.scores]
    room = width - max(map(len, labels)) - 2
    columns = [("Total", [str(result.totals[position]) for position in order]), *cells]
    while columns:
        taken = _that_fit(columns, room)
        rows = zip(labels, *(texts for _, texts in columns[:taken]), strict=True)
        headings = ("Node", *(heading for heading, _ in columns[:taken]))
        heading, *lines = aligned([headings, *rows], numbers=frozenset(range(1, taken + 1)))
        yield Text(f"\n{heading}", style="bold")
        yield Text("\n".join(lines))
        columns = columns[taken:]


def _cells(scores: PluginScores, order: list[int]) -> list[str]:
    raw, normalized, weighted = scores.raw.tolist(), scores.normalized.tolist(), scores.weighted.tolist()
    return [f"{raw[position]} > {normalized[position]} = {weighted[position]}" for position in order]


def _that_fit(columns: list[tuple[str, list[str]]], room: int) -> int:
    """Count the first columns that fit side by side, at least one."""
    taken = 0
    for heading, texts in columns:
        room -= max(len(heading), *map(len, texts)) + 2
        if room < 0 and taken:
            break
        taken += 1
    return taken


def _funnel(result: ScheduleResult) -> Iterator[RenderableType]:
    steps = funnel(result)
    if not steps:
        return
    table = plain_table()
    table.add_column("Nodes left", justify="right")
    table.add_column("After filter")
    table.add_column("Rejected by it alone", justify="right")
    table.add_row(f"{len(result.nodes):,}", "", "")
    for step in steps:
        table.add_row(f"{step.after:,}", step.name, f"{step.alone:,}")
    yield Text()
    yield table


def _rejections(result: ScheduleResult) -> Iterator[RenderableType]:
    """The nodes that are out under the reason that kube-scheduler gives, the most frequent reason first."""
    if result.verdict is None or len(result.feasible) == len(result.nodes):
        return
    feasible = set(result.feasible.tolist())
    by_reason: dict[tuple[str, str], list[int]] = {}
    for row in range(len(result.nodes)):
        if row not in feasible:
            status = result.verdict[row]
            by_reason.setdefault((rejected_by(result, row), ", ".join(status.reasons)), []).append(row)
    for (plugin, reason), rows in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        verb = "not judged" if any(plugin in result.unjudged_by(row) for row in rows) else "rejected"
        yield Text(f"\n{count(len(rows), 'node')} {verb} by {plugin}: {safe(reason)}", style="bold")
        named = sorted(rows, key=result.nodes.names.__getitem__)
        yield Text("\n".join(aligned([_rejected(result, plugin, row) for row in named])))


def _rejected(result: ScheduleResult, plugin: str, row: int) -> tuple[str, str]:
    """The node, and the plugins that reject it as well."""
    others = [str(each.plugin) for each in result.rejections(row) if each.plugin != plugin]
    name = shortened(safe(result.nodes.names[row]), _NAME_LENGTH)
    return f"  {name}", f"also {', '.join(others)}" if others else ""

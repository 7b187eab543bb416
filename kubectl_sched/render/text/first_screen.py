"""The first screen: what happened, what would change it, and the numbers behind it. Fits 80 columns and 24 lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.headline import headline
from kubectl_sched.render.preemption_sentence import preemption
from kubectl_sched.render.reason_clauses import clauses, main_reason
from kubectl_sched.render.safe_text import clipped, count, safe, shortened
from kubectl_sched.render.sampling_sentence import sampling_words
from kubectl_sched.render.status_sentences import status_parts
from kubectl_sched.render.text.screen_fitting import BLANK, Part
from kubectl_sched.render.text.tables import one_line_each, plain_table
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.runtime import PluginScores
    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.funnel import Step
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.arrays import Rows
    from kubectl_sched.suggestions.change import Suggestion

_BEST_SHOWN = 5
_CLOSEST_SHOWN = 3
_POOLS_SHOWN = 4
_STEPS_SHOWN = 5
_NAME_LENGTH = 40
_BEST_EXAMINED = 2
_HINTS_SHOWN = 2


def first_screen(explanation: Explanation, notes: Sequence[str], width: int) -> Iterator[Part]:
    """Yield the screen part by part; `width` is the number of columns."""
    result = explanation.result
    yield Part((Text(f"{headline(explanation)}.", style="bold green" if result.fits else "bold red"),), rank=8, keep=3)
    yield from status_parts(explanation)
    yield from _waterfall(explanation.contrast, width)
    wins = sampling_words(explanation)
    if wins is not None:
        yield Part((Text(f"{wins}."),), rank=7, keep=2)
    would = preemption(result)
    if would is not None:
        yield Part((Text(safe(would)),), rank=7, keep=2)
    yield from _suggestion(explanation.suggestions, width)
    if len(result.nodes) > 1 and not result.fits:
        yield from _funnel(result)
    if len(result.totals):
        yield from _best(result, width)
    elif result.verdict is not None and result.pre_filter.is_success and not len(result.feasible):
        yield from _rejected(result, width)
    yield from _notes((*explanation.warnings, *notes))
    if result.event is not None and result.outcome is not Outcome.ERROR:
        heading, event = Text("kube-scheduler's own message:", style="bold"), safe(result.event)
        tight = "\n".join(event[start : start + width] for start in range(0, len(event), width))
        yield BLANK
        yield Part((heading, Text(event)), rank=10, lean=(heading, Text(tight)), keep=15)


def _waterfall(contrast: Contrast | None, width: int) -> Iterator[Part]:
    """Yield the difference between the first two nodes as bars that add up to the lead."""
    if contrast is None or not contrast.plugins:
        return

    from kubectl_sched.render.waterfall import waterfall, waterfall_heading

    lines = [Text(waterfall_heading(contrast))]
    bars = waterfall(contrast)
    points, longest = max(len(bar.points) for bar in bars), max(len(bar.bar) for bar in bars)
    for bar, each in zip(bars, contrast.plugins, strict=True):
        style = "green" if each.difference > 0 else "red"
        line = Text(f"  {bar.points:>{points}} ")
        line.append(f"{bar.bar:<{longest}}", style)
        line.append(f" {_short(bar.plugin)}")
        because = f": {bar.because}" if bar.because else ""
        line.append(clipped(because, max(width - line.cell_len, 1)))
        lines.append(line)
    yield Part(lines, rank=6, keep=2)


def _suggestion(suggestions: Sequence[Suggestion], width: int) -> Iterator[Part]:
    """Yield the first of the changes that a replay showed to help, and the next one if the first has no command."""
    from kubectl_sched.render.text.suggestion_text import lines_of

    shown = 0
    for suggestion in suggestions[:2]:
        whole = lines_of(suggestion, width)
        yield Part(whole, rank=6, lean=whole[:1], keep=1)
        shown += 1
        if len(whole) > 1:
            break
    more = len(suggestions) - shown
    if more > 0:
        yield Part((Text(f"and {count(more, 'other way')} (-o wide)", style="dim"),), rank=2)


def _funnel(result: ScheduleResult) -> Iterator[Part]:
    steps = funnel(result)
    if not steps:
        return
    table = plain_table()
    table.add_column(f"Nodes left (of {len(result.nodes):,})", justify="right")
    table.add_column("After filter")
    table.add_column("Rejected by it alone", justify="right")
    shown = steps if len(steps) <= _STEPS_SHOWN else sorted(steps, key=lambda step: -step.alone)[:_STEPS_SHOWN]
    for step in (step for step in steps if step in shown):
        table.add_row(f"{step.after:,}", step.name, f"{step.alone:,}")
    more = len(steps) - len(shown)
    rest = (Text(f"and {count(more, 'plugin')} more (-o wide)", style="dim"),) if more else ()
    yield BLANK
    yield Part((table, *rest), rank=5, lean=(Text(_in_one_line(len(result.nodes), steps)),), keep=1)


def _in_one_line(total: int, steps: tuple[Step, ...]) -> str:
    """`300 > 12 after NodeAffinity > 0 after NodeResourcesFit`, and how many each keeps out alone."""
    narrowing = (step for step in steps if step.after < step.before)
    left = " > ".join([f"{total:,}", *(f"{step.after:,} after {step.name}" for step in narrowing)])
    return f"{left} (alone: {', '.join(f'{step.name} {step.alone:,}' for step in steps)})"


def _best(result: ScheduleResult, width: int) -> Iterator[Part]:
    """The best nodes by total, with the plugins whose points differ between them, and why others are not among them."""
    names = np.array([result.nodes.names[row] for row in result.feasible])
    order = np.lexsort((names, -result.totals))
    shown = order[:_BEST_SHOWN]
    yield BLANK
    yield from _best_table(result, [str(names[position]) for position in shown.tolist()], shown, width)
    hints = _missed(result, result.feasible[shown[:_BEST_EXAMINED]])
    if hints:
        yield Part((Text("\n".join(safe(hint) for hint in hints[:_HINTS_SHOWN])),), rank=4, keep=1)
    if len(result.nodes) > len(result.feasible):
        yield BLANK
        yield from _out(result)
    actions = [action.action for action in result.binding if action.plugin != "DefaultBinder"]
    if actions:
        yield Part((Text(f"Then: {safe('; '.join(actions))}"),), rank=3, keep=1)


def _best_table(result: ScheduleResult, names: list[str], shown: Rows, width: int) -> Iterator[Part]:
    """A line a node, and a line on the nodes and plugins that have no place in it; `shown` are places in `feasible`."""
    shown_names = [shortened(safe(name), _NAME_LENGTH) for name in names]
    differing = [each for each in result.scores if len(set(each.weighted[shown].tolist())) > 1]
    columns = _columns_that_fit(differing, shown, width - max(map(len, shown_names)) - len("  Points  "))
    table = plain_table()
    table.add_column("Node", no_wrap=True)
    table.add_column("Points", justify="right")
    for each in columns:
        table.add_column(_short(each.plugin), justify="right", no_wrap=True)
    for name, position in zip(shown_names, shown.tolist(), strict=True):
        table.add_row(name, str(result.totals[position]), *(str(each.weighted[position]) for each in columns))
    yield Part((table,), rank=7, least=2)
    hidden, equal = len(result.feasible) - len(shown), len(result.scores) - len(differing)
    without_room = len(differing) - len(columns)
    rest = [
        *([count(hidden, "more feasible node")] if hidden else []),
        *([f"{count(without_room, 'more plugin')} that differ"] if without_room else []),
        *([f"{count(equal, 'plugin')} giving all the same"] if equal else []),
    ]
    if rest and len(result.feasible) > 1:
        yield Part((Text(f"and {', '.join(rest)} (-o wide)", style="dim"),), rank=3)


def _missed(result: ScheduleResult, rows: Rows) -> list[str]:
    """Near misses behind the plugins that give none of these nodes a point."""
    without_points = [each.plugin for each in result.scores if not each.weighted.any()]
    evidence = (each for name in without_points for row in rows for each in result.score_evidence(name, int(row)))
    return list(dict.fromkeys(hint for each in evidence for hint in each.hints))


def _columns_that_fit(differing: list[PluginScores], shown: Rows, room: int) -> list[PluginScores]:
    """As many of the plugins as there is room for, those that decide between the first two before all."""
    chosen: list[str] = []
    first, second = shown[0], shown[min(1, len(shown) - 1)]

    def matters(each: PluginScores) -> tuple[int, int]:
        lead = abs(int(each.weighted[first] - each.weighted[second]))
        return lead, int(np.ptp(each.weighted[shown]))

    for each in sorted(differing, key=matters, reverse=True):
        needed = max(len(_short(each.plugin)), len(str(each.weighted[shown].max()))) + 2
        if needed <= room:
            room -= needed
            chosen.append(each.plugin)
    return [each for each in differing if each.plugin in chosen]


def _short(plugin: str) -> str:
    return plugin.removeprefix("NodeResources")


def _out(result: ScheduleResult) -> Iterator[Part]:
    """Yield the closest of the rejected nodes with their reasons, and their pools."""
    total = len(result.nodes)
    rejected = total - len(result.feasible)
    told = f"{count(rejected, 'node')} {'is' if rejected == 1 else 'are'} out: {'; '.join(clauses(result))}"
    yield Part((Text(told),), rank=5, keep=1)
    yield Part((Text(_in_one_line(total, funnel(result)), style="dim"),), rank=4, keep=1)


def _rejected(result: ScheduleResult, width: int) -> Iterator[Part]:
    """All nodes by pool, and those that came closest with their numbers."""
    from kubectl_sched.render.closest_nodes import closest
    from kubectl_sched.render.node_sentences import why_not

    rows = np.arange(len(result.nodes), dtype=np.intp)
    nearest = closest(result, _CLOSEST_SHOWN)
    if len(rows) > _CLOSEST_SHOWN:
        yield from _pools(result, rows, width)
    table = plain_table()
    headings = ("Closest" if len(rows) > len(nearest) else "Node", "why not")
    table.add_column(headings[0], no_wrap=True)
    table.add_column(headings[1], overflow="fold")
    cells = [(shortened(safe(result.nodes.names[row]), _NAME_LENGTH), why_not(result, row)) for row in nearest]
    for each in cells:
        table.add_row(*each)
    yield BLANK
    yield Part((table,), rank=2, lean=one_line_each(headings, cells, width), least=2)


def _pools(result: ScheduleResult, rows: Rows, width: int) -> Iterator[Part]:
    from kubectl_sched.queries.node_pools import pools

    grouped = pools(result.nodes, rows.tolist())
    if len(grouped) < 2:
        return
    by_size = sorted(grouped, key=lambda name: (-len(grouped[name]), name))
    cells = [
        (
            shortened(safe(name), _NAME_LENGTH),
            f"{len(grouped[name]):,}",
            main_reason(result, np.array(grouped[name], dtype=np.intp)),
        )
        for name in by_size[:_POOLS_SHOWN]
    ]
    table = one_line_each(("Pool", "nodes", "why not"), cells, width, numbers=frozenset({1}))
    rest = by_size[_POOLS_SHOWN:]
    more = f"and {count(sum(len(grouped[name]) for name in rest), 'node')} of {count(len(rest), 'more pool')} (-o wide)"
    yield BLANK
    yield Part((*table, *((Text(more, style="dim"),) if rest else ())), rank=1, least=3)


def _notes(notes: Sequence[str]) -> Iterator[Part]:
    distinct = list(dict.fromkeys(notes))
    if not distinct:
        return
    lines = [Text(f"note: {safe(note)}", style="dim") for note in distinct]
    more = f" ({count(len(distinct) - 1, 'more note')}: -o wide)" if len(distinct) > 1 else ""
    first = Text(f"note: {safe(distinct[0])}{more}", style="dim", no_wrap=True, overflow="ellipsis")
    yield BLANK
    yield Part(lines, rank=0, lean=(first,), keep=1)

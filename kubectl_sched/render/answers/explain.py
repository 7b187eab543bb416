"""One pod's answer: what happened, what would change it, and the numbers behind it.

As a table it fits 80 columns and 24 lines; in full it has all of that, and every node, suggestion and note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.diagnostics.warnings import without_topology_key
from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.node_order import closest, feasible_first, rejected_rows
from kubectl_sched.render.node_tables import best_tables, funnel_table, pool_table, rejected_table, wide_scores
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.preemption_sentence import preemption
from kubectl_sched.render.sentences.reason_clauses import clauses
from kubectl_sched.render.sentences.search_start_sentence import sampling_words
from kubectl_sched.render.sentences.status_sentences import status_parts
from kubectl_sched.render.writers.first_screen import BLANK, LAST, Part
from kubectl_sched.render.writers.note_lines import note_parts
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import first_that_fits, side_by_side, table_lines
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.funnel import Step
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Suggestion

_BEST_SHOWN = 5
_CLOSEST_SHOWN = 3
_POOLS_SHOWN = 4
_STEPS_SHOWN = 5
_BEST_EXAMINED = 2
_HINTS_SHOWN = 2


def answer_parts(explanation: Explanation, notes: Sequence[str], width: int, display: Display) -> Iterator[Part]:
    """Yield the answer part by part; `width` is the number of columns."""
    result, in_full = explanation.shown, display.is_wide
    style = "bold green" if explanation.result.fits else "bold red"
    yield Part(full=(Text(f"{headline(explanation)}.", style=style),), rank=8, keep=3)
    yield from status_parts(explanation)
    if explanation.new_nodes is not None and explanation.new_nodes.in_full:
        yield from _new_nodes(explanation.new_nodes, width)
    yield from _waterfall(result, explanation.contrast, width, in_full=in_full)
    wins = sampling_words(explanation)
    if wins is not None:
        yield Part(full=(Text(f"{wins}."),), rank=7, keep=2)
    would = preemption(result)
    if would is not None:
        yield Part(full=(Text(safe(would)),), rank=7, keep=2)
    yield from _suggestions(explanation.suggestions, width, in_full=in_full)
    if len(result.nodes) > 1 and not result.fits:
        yield from _funnel(result, width, in_full=in_full)
    if len(result.totals):
        yield from _best(result, width, in_full=in_full)
    elif result.verdict is not None and result.pre_filter.is_success and not len(result.feasible):
        yield from _pools(result, width, in_full=in_full)
    if result.verdict is not None and (in_full or not len(result.totals)) and result.pre_filter.is_success:
        yield from _rejected(result, width, in_full=in_full)
    if in_full and result.binding:
        yield BLANK
        actions = (f"{each.extension_point} {each.plugin}: {each.action}" for each in result.binding)
        yield Part(full=[Text(safe(action)) for action in actions], rank=0)
    if result.event is not None and result.outcome is not Outcome.ERROR:
        heading, event = Text("kube-scheduler's own message:", style="bold"), safe(result.event)
        tight = "\n".join(event[start : start + width] for start in range(0, len(event), width))
        yield BLANK
        yield Part(full=(heading, Text(event)), rank=LAST, lean=(heading, Text(tight)), keep=15)
    told = set(without_topology_key(result)) if len(result.totals) else ()
    yield from note_parts([each for each in (*explanation.warnings, *notes) if each not in told], width, display)


def _new_nodes(found: NewNodes, width: int) -> Iterator[Part]:
    """Yield the verdict of each NodePool and node group, and what was assumed."""
    from kubectl_sched.render.sentences.new_nodes_sentences import (  # rarely asked for
        assumed_sentence,
        new_nodes_tables,
    )

    for table in new_nodes_tables(found):
        yield BLANK
        yield Part(full=table_lines(table, width), rank=8)
    yield Part(full=(Text(safe(assumed_sentence(found)), style="dim"),), rank=3)
    yield BLANK


def _waterfall(result: ScheduleResult, contrast: Contrast | None, width: int, *, in_full: bool) -> Iterator[Part]:
    if contrast is None or not contrast.plugins:
        return
    from kubectl_sched.render.writers.waterfall_lines import waterfall_lines

    yield Part(full=waterfall_lines(result, contrast, width, in_full=in_full), rank=6, keep=2)


def _suggestions(suggestions: Sequence[Suggestion], width: int, *, in_full: bool) -> Iterator[Part]:
    """Yield the first of the changes that a replay showed to help, and the next one if the first has no command."""
    if not suggestions:
        return
    from kubectl_sched.render.writers.suggestion_text import lines_of

    shown = 0
    for suggestion in suggestions if in_full else suggestions[:2]:
        whole = lines_of(suggestion, width)
        yield Part(full=whole, rank=6, lean=whole[:1], keep=1)
        shown += 1
        if suggestion.commands and not in_full:
            break
    more = len(suggestions) - shown
    if more > 0:
        yield Part(full=(Text(f"and {count(more, 'other way')} (-o wide)", style="dim"),), rank=2)


def _funnel(result: ScheduleResult, width: int, *, in_full: bool) -> Iterator[Part]:
    table = funnel_table(result)
    steps = table.rows
    if not steps:
        return
    most = len(steps) if in_full else _STEPS_SHOWN
    largest = sorted(steps, key=lambda step: -step.alone)[:most]
    shown = replace(table, rows=[step for step in steps if step in largest])
    more = len(steps) - len(largest)
    rest = (Text(f"and {count(more, 'plugin')} more (-o wide)", style="dim"),) if more else ()
    yield BLANK
    yield Part(
        full=(*table_lines(shown, width), *rest), rank=5, lean=(Text(_in_one_line(len(result.nodes), steps)),), keep=1
    )


def _in_one_line(total: int, steps: Sequence[Step]) -> str:
    """`300 > 12 after NodeAffinity > 0 after NodeResourcesFit`, and how many each keeps out alone."""
    narrowing = (step for step in steps if step.after < step.before)
    left = " > ".join([f"{total:,}", *(f"{step.after:,} after {step.name}" for step in narrowing)])
    return f"{left} (alone: {', '.join(f'{step.name} {step.alone:,}' for step in steps)})"


def _best(result: ScheduleResult, width: int, *, in_full: bool) -> Iterator[Part]:
    """The best nodes by total, with the plugins whose points differ between them, and why others are not among them."""
    order = feasible_first(result)
    shown = order if in_full else order[:_BEST_SHOWN]
    table = first_that_fits(list(best_tables(result, shown)), width)
    yield BLANK
    yield Part(full=table_lines(table, width), rank=7, least=2)
    hidden = len(order) - len(shown)
    if hidden:
        yield Part(full=(Text(f"and {count(hidden, 'more feasible node')} (-o wide)", style="dim"),), rank=3)
    if in_full and result.scores:
        for part in side_by_side(wide_scores(result, shown), width):
            yield Part(full=(Text(), *table_lines(part, width)), rank=7)
    hints = _missed(result, shown[:_BEST_EXAMINED])
    told = [*(hints if in_full else hints[:_HINTS_SHOWN]), *without_topology_key(result)]
    if told:
        yield Part(full=(Text("\n".join(map(safe, told))),), rank=4, keep=1)
    if len(result.feasible) < len(result.nodes):
        yield BLANK
        yield from _out(result)


def _missed(result: ScheduleResult, rows: Sequence[int]) -> list[str]:
    """Near misses behind the plugins that give none of these nodes a point."""
    without_points = [each.plugin for each in result.scores if not each.weighted.any()]
    evidence = (each for name in without_points for row in rows for each in result.score_evidence(name, row))
    return list(dict.fromkeys(hint for each in evidence for hint in each.hints))


def _out(result: ScheduleResult) -> Iterator[Part]:
    """Yield the reasons against the rejected nodes, and where they drop out."""
    total = len(result.nodes)
    rejected = total - len(result.feasible)
    told = f"{count(rejected, 'node')} {'is' if rejected == 1 else 'are'} out: {'; '.join(clauses(result))}"
    yield Part(full=(Text(told),), rank=5, keep=1)
    yield Part(full=(Text(_in_one_line(total, funnel(result)), style="dim"),), rank=4, keep=1)


def _rejected(result: ScheduleResult, width: int, *, in_full: bool) -> Iterator[Part]:
    """The nodes that came closest with the evidence against them; all rejected ones in full."""
    rows = rejected_rows(result) if in_full else closest(result, _CLOSEST_SHOWN)
    if rows:
        yield BLANK
        table = rejected_table(result, rows, in_full=in_full)
        lean = table_lines(replace(table, rows=rows[:1]), width)
        yield Part(full=table_lines(table, width), rank=3, lean=lean, least=len(lean))


def _pools(result: ScheduleResult, width: int, *, in_full: bool) -> Iterator[Part]:
    table = pool_table(result)
    if len(table.rows) < 2 or len(result.nodes) <= _CLOSEST_SHOWN:
        return
    shown = len(table.rows) if in_full else _POOLS_SHOWN
    rest = table.rows[shown:]
    more = f"and {count(sum(len(rows) for _, rows in rest), 'node')} of {count(len(rest), 'more pool')} (-o wide)"
    yield BLANK
    lines = table_lines(replace(table, rows=table.rows[:shown]), width)
    lines += [Text(more, style="dim")] if rest else []
    yield Part(full=lines, rank=1, least=len(lines))

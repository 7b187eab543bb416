"""One node in lines: its verdict, every plugin with a bar or a rejection, and the evidence behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.record import Record
from kubectl_sched.render.document import Waterfall
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.node_sentences import preemption_there, verdict_in_words
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.suggestions.weight_margins import positions
from kubectl_sched.tui.lines.document_lines import part_lines
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, bar, line, padded, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.plugin_scores import PluginScores
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Integers
    from kubectl_sched.tui.lines.line import Line

_NAME = 22
_LEAST_BAR = 8
_FIGURES = 24
_INDENT = "    "
_TIMES = "\N{MULTIPLICATION SIGN}"


class Finding(Record, frozen=True, kw_only=True):
    """One plugin's finding about one node: the line in the list, and what unfolds below it."""

    plugin: str
    line: Line
    evidence: tuple[Line, ...]


def title(result: ScheduleResult, row: int) -> tuple[str, Tone]:
    """The node and its verdict."""
    fits = result.verdict is not None and result.verdict[row].is_success
    return f"{result.nodes.names[row]}: {verdict_in_words(result, row)}", Tone.GOOD if fits else Tone.BAD


def about(result: ScheduleResult, row: int) -> str:
    """Return the node's facts in one line: free resources, pods, taints, and whether it is cordoned."""
    node = result.nodes.node(row)
    free = [
        f"{amount_texts(resource, node.allocatable(resource) - node.requested(resource))[0]} {resource}"
        for resource in ("cpu", "memory")
    ]
    told = [f"free: {', '.join(free)}", f"{len(node.pods):,} of {node.allocatable('pods'):,} pods"]
    taints = ", ".join(str(taint) for taint in node.node.spec.taints)
    told += [f"taints: {taints}"] if taints else []
    told += ["cordoned"] if node.node.spec.unschedulable else []
    return "; ".join(told)


def details(result: ScheduleResult, row: int, width: int) -> list[Line]:
    """The whole node below the list: rejections with their evidence, then scores as bars."""
    text, tone = title(result, row)
    lines = wrapped(text, width, tone)
    lines += wrapped(about(result, row), width, Tone.DIM)
    rejecting = list(rejections(result, row, width))
    for each in rejecting:
        lines += (each.line, *each.evidence)
    there = preemption_there(result, row)
    lines += wrapped(there, width) if there is not None else []
    if row in result.total_of:
        contrast = contrast_of(result, result.nodes.names[row])
        if contrast is not None and contrast.plugins:
            lines += part_lines([Waterfall(contrast=contrast, among=result.nodes.names, in_full=False)], width)
        lines += _score_lines(result, row, width)
    elif not rejecting:
        lines += (BLANK, *wrapped(_otherwise(result), width))
    return lines


def _otherwise(result: ScheduleResult) -> str:
    if not result.pre_filter.is_success:
        return "; ".join(fact.text for fact in result.pre_filter_evidence) or result.pre_filter.message
    return ""


def rejections(result: ScheduleResult, row: int, width: int) -> Iterator[Finding]:
    """Each filter plugin that keeps the node out, in run order."""
    for status in result.rejections(row):
        plugin = status.plugin or ""
        evidence = _facts(result.filter_evidence(plugin, row), width) or wrapped(status.message, width, indent=_INDENT)
        yield Finding(plugin=plugin, line=_rejection(status), evidence=tuple(evidence))


def findings(result: ScheduleResult, row: int, width: int) -> list[Finding]:
    """Every plugin that has a say about the node: rejections, then scores, then filters that pass or are skipped."""
    found = [*_pre_filter_rejection(result, width), *rejections(result, row, width)]
    rejecting = {each.plugin for each in found}
    if row in result.total_of:
        found += (_scored(result, each, row, width) for each in result.scores)
    scoring = {each.plugin for each in result.scores} if row in result.total_of else set()
    unjudged = result.unjudged_by(row)
    for plugin in result.framework.filter_plugins if isinstance(result, CycleResult) else ():
        if plugin.name in unjudged:
            why = result.left_open or "the plugin failed here, by a bug in kubectl-sched"
            found.append(_silent(plugin.name, "?", "not judged", why))
        elif plugin.name in result.verdicts and plugin.name not in rejecting:
            found.append(_silent(plugin.name, "✓", "passes", "nothing of it stands against the pod here"))
        elif plugin.name not in {*result.verdicts, *scoring, *rejecting}:
            found.append(_left_out(result, plugin.name))
    if row in result.total_of and isinstance(result, CycleResult):
        found += (
            _silent(name, "·", "gives no points", "nothing of the pod concerns this score")
            for name in sorted(result.state.skip_score_plugins)
        )
    return found


def _pre_filter_rejection(result: ScheduleResult, width: int) -> Iterator[Finding]:
    """The plugin whose PreFilter rejects the pod as a whole, where one does by itself."""
    status = result.pre_filter
    if status.plugin is not None and not status.is_success:
        evidence = _facts(result.pre_filter_evidence, width) or wrapped(status.message, width, indent=_INDENT)
        yield Finding(plugin=status.plugin, line=_rejection(status), evidence=tuple(evidence))


def _rejection(status: Status) -> Line:
    reason = next(iter(status.reasons), "")
    return (Span(f"✗ {status.plugin}", Tone.BAD, reason=reason), Span(f"  {status.code.value}", Tone.DIM))


def _left_out(result: ScheduleResult, plugin: str) -> Finding:
    """A filter that has no verdict on any node."""
    if isinstance(result, CycleResult) and plugin in result.state.skip_filter_plugins:
        return _silent(plugin, "·", "skipped", "nothing of the pod concerns this filter")
    return _silent(plugin, "·", "not run", "PreFilter ends the cycle before it")


def _silent(plugin: str, symbol: str, word: str, why: str) -> Finding:
    heading = (Span(f"{symbol} {padded(plugin, 32)}"), Span(f" {word}", Tone.DIM))
    return Finding(plugin=plugin, line=heading, evidence=(line(f"{_INDENT}{why}", Tone.DIM),))


def _scored(result: ScheduleResult, each: PluginScores, row: int, width: int) -> Finding:
    evidence = _facts(result.score_evidence(each.plugin, row), width)
    return Finding(plugin=each.plugin, line=_score_line(result, each, row, width), evidence=tuple(evidence))


def _score_lines(result: ScheduleResult, row: int, width: int) -> list[Line]:
    """A bar for each plugin that scored, and the total; the row must be feasible."""
    lines = [_score_line(result, each, row, width) for each in result.scores]
    total = padded(f"{result.total_of[row]:,}", _FIGURES - 2, right=True)
    room = _bar_room(width)
    against = _against_best(result, result.totals, row)
    return [*lines, (Span(f"  {padded('Total', _NAME)}{' ' * room}{total}", Tone.STRONG), against)]


def _bar_room(width: int) -> int:
    return max(_LEAST_BAR, min(width - _NAME - _FIGURES - 9, 60))


def _score_line(result: ScheduleResult, each: PluginScores, row: int, width: int) -> Line:
    """`TaintToleration  ######   100 x 3 =  300   -12`: the last against the best node."""
    position = result.position_of[row]
    normalized, points = int(each.normalized[position]), int(each.weighted[position])
    figures = padded(f"{normalized:>4} {_TIMES} {each.weight} = {points:>5,}", _FIGURES - 2, right=True)
    return (
        Span(f"  {padded(each.plugin, _NAME)}"),
        Span(bar(normalized, MAX_NODE_SCORE, _bar_room(width)), Tone.BAR),
        Span(figures),
        _against_best(result, each.weighted, row),
    )


def _against_best(result: ScheduleResult, points: Integers, row: int) -> Span:
    """Return the row's points against those of the best node; empty if they are equal."""
    mine, best = positions(result, row)
    difference = int(points[mine] - points[best])
    if not difference:
        return Span("")
    return Span(f"{difference:>+6,}", Tone.BAD if difference < 0 else Tone.GOOD)


def _facts(evidence: Sequence[Evidence], width: int) -> list[Line]:
    """Facts, and below each the near misses that it hints at."""
    lines: list[Line] = []
    for fact in evidence:
        lines += wrapped(fact.text, max(width, 20), indent=_INDENT)
        for hint in fact.hints:
            lines += wrapped(f"→ {safe(hint)}", max(width, 20), Tone.CHANGED, indent=_INDENT)
    return lines

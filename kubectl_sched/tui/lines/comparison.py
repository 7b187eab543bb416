"""Two nodes side by side: every plugin's points or verdict, and what would turn it round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.render.sentences.node_sentences import verdict_in_words
from kubectl_sched.suggestions.weight_margins import weight_to_tie, weight_to_win
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, bar, bar_to_the_left, name_in, padded, wrapped
from kubectl_sched.tui.lines.node_lines import about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.lines.line import Line

_NAME = 18
_POINTS = 6
_DIFFERENCE = 8


def comparison(result: ScheduleResult, left: int, right: int, width: int) -> list[Line]:
    """The left node's bars grow to the left, the right one's to the right, so that who leads is seen at once."""
    side = max((width - _NAME - 2 * _POINTS - _DIFFERENCE - 6) // 2, 4)
    lines = [_names(result, left, right, side)]
    for row in (left, right):
        lines += wrapped(f"{result.nodes.names[row]}: {verdict_in_words(result, row)}", width)
        lines += wrapped(about(result, row), width, Tone.DIM, indent="  ")
    lines.append(BLANK)
    lines += _verdicts(result, left, right, side)
    lines += _scores(result, left, right, side)
    lines += _turning(result, left, right, width)
    return lines


def _names(result: ScheduleResult, left: int, right: int, side: int) -> Line:
    names = result.nodes.names
    return (
        Span(" " * _NAME),
        Span(padded(name_in(names[left], side + _POINTS).rstrip(), side + _POINTS, right=True), Tone.STRONG),
        Span(" │ ", Tone.DIM),
        Span(name_in(names[right], side + _POINTS), Tone.STRONG),
        Span(padded("lead", _DIFFERENCE, right=True), Tone.DIM),
    )


def _verdicts(result: ScheduleResult, left: int, right: int, side: int) -> Iterator[Line]:
    """The filters that keep out one of the two, or both."""
    for plugin, mask in result.rejection_masks.items():
        if mask[left] or mask[right]:
            words = ["✗ rejects" if mask[row] else "✓ passes" for row in (left, right)]
            tones = [Tone.BAD if mask[row] else Tone.GOOD for row in (left, right)]
            yield (
                Span(padded(plugin, _NAME)),
                Span(padded(words[0], side + _POINTS, right=True), tones[0]),
                Span(" │ ", Tone.DIM),
                Span(padded(words[1], side + _POINTS), tones[1]),
            )


def _scores(result: ScheduleResult, left: int, right: int, side: int) -> Iterator[Line]:
    if left not in result.total_of or right not in result.total_of:
        return
    first, second = result.position_of[left], result.position_of[right]
    for each in result.scores:
        points = int(each.weighted[first]), int(each.weighted[second])
        most = MAX_NODE_SCORE * each.weight
        yield _row(each.plugin, points, most, side)
    yield _row("Total", (result.total_of[left], result.total_of[right]), 0, side)


def _row(name: str, points: tuple[int, int], most: int, side: int) -> Line:
    left, right = points
    difference = left - right
    lead = f"◀ {difference:,}" if difference > 0 else f"{-difference:,} ▶" if difference else "="
    return (
        Span(padded(name, _NAME), Tone.PLAIN if most else Tone.STRONG),
        Span(bar_to_the_left(left, most, side), Tone.BAR),
        Span(padded(f"{left:,}", _POINTS, right=True)),
        Span(" │ ", Tone.DIM),
        Span(padded(f"{right:,}", _POINTS)),
        Span(bar(right, most, side), Tone.OTHER_BAR),
        Span(padded(lead, _DIFFERENCE, right=True), Tone.GOOD if difference else Tone.DIM),
    )


def _turning(result: ScheduleResult, left: int, right: int, width: int) -> Iterator[Line]:
    """Return the weight that would make the other of the two the only best node."""
    for row in (left, right):
        name = result.nodes.names[row]
        if row not in result.total_of:
            yield from wrapped(f"{name} does not fit, so no weight would make it win", width)
        elif result.best != (name,):
            yield BLANK
            yield from wrapped(f"{name}: {_ways(result, row)}", width)


def _ways(result: ScheduleResult, row: int) -> str:
    for would, weight_of in (("win", weight_to_win), ("tie for the best", weight_to_tie)):
        found = [(each, weight_of(result, row, each.plugin)) for each in result.scores]
        ways = [
            f"{each.plugin} {each.weight} → {weight:,}"
            for each, weight in found
            if weight is not None and weight != each.weight
        ]
        if ways:
            return f"by itself, each of these weights would make it {would}: {'; '.join(ways)}"
    return "no other weight of one plugin would make it win"

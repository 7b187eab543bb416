"""Several pods as lines: what becomes of each, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.summary import summary
from kubectl_sched.render.text import count, safe
from kubectl_sched.tui.lines import Span, Tone, name_in, padded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.lines import Line

_LONGEST_NAME = 44
_OUTCOME = 13


def told(results: Sequence[ScheduleResult]) -> str:
    """How many would land."""
    fitting = sum(result.fits for result in results)
    return f"{count(len(results), 'pod')}, each on its own against the same state: {fitting:,} would land."


def _name_width(width: int) -> int:
    return min(_LONGEST_NAME, width // 3)


def heading(width: int) -> Line:
    """The columns."""
    name = padded("Pod", _name_width(width))
    return (Span(f"  {name}  {padded('Outcome', _OUTCOME)}  Why", Tone.STRONG),)


def pod_line(result: ScheduleResult, width: int) -> Line:
    """One pod: a mark, its name, its outcome and the sentence without the name."""
    name = _name_width(width)
    why = summary(result).removeprefix(safe(result.pod.key)).strip()
    tone = Tone.GOOD if result.fits else Tone.BAD
    return (
        Span("✓ " if result.fits else "✗ ", tone),
        Span(name_in(result.pod.key, name) + "  "),
        Span(padded(result.outcome.value, _OUTCOME) + "  ", tone),
        Span(padded(why, max(width - name - _OUTCOME - 6, 0)).rstrip()),
    )


def matching(results: Sequence[ScheduleResult], text: str) -> list[int]:
    """The pods that every word of the text matches, by name, outcome or sentence."""
    words = text.lower().split()
    if not words:
        return list(range(len(results)))
    haystacks = [f"{result.pod.key} {result.outcome.value} {summary(result)}".lower() for result in results]
    return [index for index, haystack in enumerate(haystacks) if all(word in haystack for word in words)]

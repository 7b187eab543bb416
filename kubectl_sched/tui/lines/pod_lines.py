"""Several pods as lines: what becomes of each, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.headline import headline
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.tui.lines.line import Span, Tone, name_in, padded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.tui.lines.line import Line

_LONGEST_NAME = 44
_OUTCOME = 15
_ROOMY = 100


def told(explanations: Sequence[Explanation]) -> str:
    """Count the pods that would land."""
    fitting = sum(each.result.fits for each in explanations)
    return f"{count(len(explanations), 'pod')}, each on its own against the same state: {fitting:,} would land."


class PodLines:
    """Writes the lines of a list of pods for one width: a mark, the name, and the sentence without the name.

    The outcome has a column where there is room for it; the mark and the sentence say it, too.
    """

    def __init__(self, explanations: Sequence[Explanation], width: int) -> None:
        longest = max((len(safe(each.pod.key)) for each in explanations), default=0)
        self._width = width
        self._outcome = _OUTCOME if width >= _ROOMY else 0
        self._name = max(min(longest, _LONGEST_NAME, width * 9 // 20), len("Pod"))

    @property
    def heading(self) -> Line:
        """The columns' names."""
        return (Span(f"  {padded('Pod', self._name)}  {padded('Outcome', self._outcome)}Why", Tone.STRONG),)

    def __call__(self, explanation: Explanation) -> Line:
        """Return one pod's line."""
        result = explanation.result
        why = headline(explanation).removeprefix(safe(result.pod.key)).strip()
        room = max(self._width - self._name - self._outcome - 4, 0)
        tone = Tone.GOOD if result.fits else Tone.BAD
        return (
            Span("✓ " if result.fits else "✗ ", tone),
            Span(name_in(result.pod.key, self._name) + "  "),
            Span(padded(result.outcome.value, self._outcome), tone),
            Span(padded(why, room).rstrip()),
        )


def matching(explanations: Sequence[Explanation], text: str) -> list[int]:
    """The pods that every word of the text matches, by name, outcome or sentence."""
    words = text.lower().split()
    if not words:
        return list(range(len(explanations)))
    haystacks = [f"{each.pod.key} {each.result.outcome.value} {headline(each)}".lower() for each in explanations]
    return [index for index, haystack in enumerate(haystacks) if all(word in haystack for word in words)]

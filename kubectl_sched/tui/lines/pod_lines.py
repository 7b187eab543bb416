"""Several pods as lines: what becomes of each, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.document import Document
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.verdict_line import verdict_line, verdict_of_pod
from kubectl_sched.render.table import without_common_prefix
from kubectl_sched.tui.lines.document_lines import document_lines
from kubectl_sched.tui.lines.line import Span, Tone, name_in, padded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.tui.lines.line import Line

_LONGEST_NAME = 44
_OUTCOME = 15
_ROOMY = 100
_MARK = 2


class PodLines:
    """Writes the lines of a list of pods for one width: a mark, the name, and the sentence without the name.

    The outcome has a column where there is room for it; the mark and the sentence say it, too. Long names go without
    what all of them begin with. The sentence ends where the line does: `whole` has all of it.
    """

    def __init__(self, explanations: Sequence[Explanation], width: int) -> None:
        self._width = width
        self._outcome = _OUTCOME if width >= _ROOMY else 0
        keys = [each.pod.key for each in explanations]
        if _longest(keys) > min(_LONGEST_NAME, width * 9 // 20):
            keys = without_common_prefix(keys)
        self._names = dict(zip((each.pod.key for each in explanations), keys, strict=True))
        self._name = max(min(_longest(keys), width - _MARK - self._outcome - 2), len("Pod"))

    @property
    def heading(self) -> Line:
        """The columns' names."""
        return (Span(f"  {padded('Pod', self._name)}  {padded('Outcome', self._outcome)}Why", Tone.STRONG),)

    def __call__(self, explanation: Explanation) -> Line:
        """Return one pod's line."""
        result = explanation.result
        why = verdict_of_pod(explanation).text
        room = max(self._width - self._name - self._outcome - _MARK - 2, 0)
        tone = Tone.GOOD if result.fits else Tone.BAD
        return (
            Span("✓ " if result.fits else "✗ ", tone),
            Span(name_in(self._names[result.pod.key], self._name) + "  "),
            Span(padded(result.outcome.value, self._outcome), tone),
            Span(padded(why, room).rstrip()),
        )


def _longest(keys: Sequence[str]) -> int:
    return max((len(safe(key)) for key in keys), default=0)


def whole(explanation: Explanation, width: int) -> list[Line]:
    """The sentence about a pod."""
    return document_lines(Document(verdict=verdict_of_pod(explanation)), width)


def matching(explanations: Sequence[Explanation], text: str) -> list[int]:
    """The pods that every word of the text matches, by name, outcome or sentence."""
    words = text.lower().split()
    if not words:
        return list(range(len(explanations)))
    haystacks = [f"{each.pod.key} {each.result.outcome.value} {verdict_line(each)}".lower() for each in explanations]
    return [index for index, haystack in enumerate(haystacks) if all(word in haystack for word in words)]

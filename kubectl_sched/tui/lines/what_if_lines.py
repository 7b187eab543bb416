"""The lines of the what-if pane below its entry: errors, changes, the edits and a suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import safe
from kubectl_sched.tui.decision import why_untriable
from kubectl_sched.tui.lines.line import Span, Tone, first_lines, wrapped
from kubectl_sched.tui.lines.what_if_changes import changes, in_words
from kubectl_sched.tui.typed_edits import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.suggestions.suggestion import Suggestion
    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.lines.line import Line

_SUGGESTION_LINES = 3


def hint(entry: str, problem: str, width: int) -> list[Line]:
    """Return the error of the last entry, else the form of the one that is begun."""
    if problem:
        return wrapped(f"✗ {problem}", width, Tone.BAD)
    words = entry.split()
    verb = words[0] if words else ""
    if verb in FORMS:
        return wrapped(FORMS[verb], width, Tone.DIM)
    meant = [each for each in FORMS if each.startswith(verb)] or list(FORMS)
    return wrapped(", ".join(meant), width, Tone.DIM)


def pane_lines(view: View, suggestions: Sequence[Suggestion], chosen: int, width: int) -> list[Line]:
    """Return the changes, the edits with the newest first, and the suggestion that `a` applies."""
    lines: list[Line] = []
    if view.edits:
        lines += wrapped(in_words(changes(view.base.result, view.result)), width, Tone.CHANGED)
    for number, edit in reversed(list(enumerate(view.edits, 1))):
        lines += wrapped(f"{number}. {edit.text}", width)
    return [*lines, *suggestion_lines(suggestions, chosen, width)]


def suggestion_lines(suggestions: Sequence[Suggestion], chosen: int, width: int) -> list[Line]:
    """Return one suggestion as its rung of the ladder says it, and how many there are; the report has all of it."""
    if not suggestions:
        return []
    number = chosen % len(suggestions)
    suggestion = suggestions[number]
    others = f" ({number + 1} of {len(suggestions)}, A: next)" if len(suggestions) > 1 else ""
    key = "i" if why_untriable(suggestion) else "a"
    told = wrapped(f"{key}: {suggestion.rung}{others}: {safe(suggestion.advice)}", width)
    first, *rest = first_lines(told, _SUGGESTION_LINES, width)
    return [(Span(first[0].text[:2], Tone.STRONG), Span(first[0].text[2:])), *rest]

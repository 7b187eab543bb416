"""The whole answer about the decision, with the edits that it is looked at with; the nodes have a list of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.render.answers.explain import pod_document
from kubectl_sched.render.display import Display
from kubectl_sched.render.document import Said, Sentence
from kubectl_sched.tui.keys import REPORT
from kubectl_sched.tui.lines.document_lines import document_lines
from kubectl_sched.tui.lines.line import Tone, line
from kubectl_sched.tui.lines.what_if_changes import changes, in_words
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.suggestions.suggestion import Suggestion
    from kubectl_sched.tui.explorer_input import Exploration
    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.lines.line import Line


class ReportScreen(Page[None]):
    """Paragraphs to scroll through."""

    def __init__(self, view: View, suggestions: Sequence[Suggestion], about: Exploration) -> None:
        super().__init__(REPORT, cursor=True)
        self._view = view
        self._suggestions = suggestions
        self._about = about

    def draw(self) -> None:
        """All of it, at the present width."""
        self.head([line(f"All that is said of {self._view.result.pod.key}", Tone.STRONG)])
        lines = _report(self._view, self._suggestions, self._about, self.size.width - 1)
        self.lines.show_lines(lines, cursor=self.lines.cursor)


def _report(view: View, suggestions: Sequence[Suggestion], about: Exploration, width: int) -> list[Line]:
    """Return the lines of the answer that `explain -o wide` gives, without the nodes."""
    found = view.explanation.new_nodes
    new_nodes = replace(found, in_full=True) if found is not None else None
    explanation = replace(view.explanation, suggestions=tuple(suggestions), new_nodes=new_nodes)
    document = pod_document(explanation, Display(output="wide"), about.notes, about.changing, with_nodes=False)
    return document_lines(replace(document, parts=(*_edits(view), *document.parts)), width)


def _edits(view: View) -> Iterator[Said]:
    if view.edits:
        yield Sentence(text="What if", tone="strong")
        yield from (Sentence(text=each.text, indent=2) for each in view.edits)
        yield Sentence(text=in_words(changes(view.base.result, view.result)), tone="changed", indent=2)

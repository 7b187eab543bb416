"""The line above the list: what it shows of how many nodes, in which order, and what a step of the pipeline did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.render.document import Document
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.verdict_line import verdict_of_pod
from kubectl_sched.tui.explorer_state import RANK
from kubectl_sched.tui.lines.document_lines import document_lines
from kubectl_sched.tui.lines.line import Span, Tone, first_lines, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.lines.line import Line
    from kubectl_sched.tui.pipeline import Stage

_SENTENCE_LINES = 3
_NEW_NODES_LINES = 2
_CHANGING_SHOWN = 2
_ORDER = {
    RANK: "best first",
    "node": "by name",
    "why": "by reason",
    "moved": "by how far points moved",
    "cpu": "by free cpu",
    "memory": "by free memory",
}


def sentence(view: View, changing: Sequence[str], width: int) -> list[Line]:
    """Return the verdict, what changes it and the verdicts on new nodes, each on few lines.

    With edits it begins with WHAT IF.
    """
    verdict = verdict_of_pod(view.explanation)
    if view.edits:
        verdict = replace(verdict, subject=f"WHAT IF ({len(view.edits)}): {verdict.subject}")
    lines = first_lines(document_lines(Document(verdict=verdict), width), _SENTENCE_LINES, width)
    for note in dict.fromkeys((*changing, *view.explanation.changing)[:_CHANGING_SHOWN]):
        lines += first_lines(wrapped(note, width, Tone.STRONG), 1, width)
    found = view.explanation.new_nodes
    if found is not None:
        from kubectl_sched.render.sentences.new_nodes_sentences import verdict_sentences  # most clusters need none

        for said in verdict_sentences(found):
            lines += first_lines(wrapped(said, width), _NEW_NODES_LINES, width)
    return lines


def status(view: View, listed: int, stage: Stage | None, message: str) -> Line:
    """A message while there is one; else how many nodes are listed, and why these."""
    if message:
        return (Span(safe(message), Tone.CHANGED),)
    total = len(view.result.nodes)
    if stage is not None:
        return (Span(f"{listed:,} of {total:,} · ", Tone.DIM), Span(stage.text))
    shown = count(total, "node") if listed == total else f"{listed:,} of {count(total, 'node')}"
    order = _ORDER.get(view.sort.key, f"by {view.sort.key}")
    told = f"{shown}, {order}{', reversed' if view.sort.reverse else ''}"
    return (Span(f"{told}, matching “{safe(view.filter_text)}”" if view.filter_text else told, Tone.DIM),)

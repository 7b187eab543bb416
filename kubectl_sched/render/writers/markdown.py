"""A Document as GitHub-flavoured Markdown, for chats and issues: safe to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.document import (
    Commands,
    Ladder,
    Listing,
    Quote,
    Sentence,
    Snippet,
    Waterfall,
)
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.writers.markdown_text import bullets, code, fenced, indented, table, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.render.document import Document, Said

_NAMES = frozenset({"Profile"})
_WIDTH = 100
"""The columns of a line of a file with its mark."""


def markdown(document: Document) -> str:
    """Return the whole answer; it ends with the version and profile that were replayed."""
    facts = (f"{label}: {code(value) if label in _NAMES else text(value)}" for label, value in document.facts)
    last = ", ".join(facts)
    return "\n\n".join([*_answer(document), *([last] if last else [])]) + "\n"


def _answer(document: Document) -> Iterator[str]:
    if document.verdict.text:
        yield f"**{text(document.verdict.line)}**"
    if document.notes.changing:
        yield bullets(document.notes.changing, mark="**")
    for said in document.parts:
        yield from draw(said)
    for each in document.details:
        yield from _answer(each)
    if document.notes.premises:
        yield bullets([f"note: {note}" for note in document.notes.premises])


def draw(said: Said) -> Iterator[str]:
    """Yield the blocks of one part of a Document; none of what only a page has."""
    match said:
        case Sentence():
            yield from _sentence(said)
        case Listing():
            yield from _listing(said)
        case Commands():
            yield from _commands(said)
        case Ladder():
            yield from _ladder(said)
        case Quote():
            yield from _quote(said)
        case Snippet():
            from kubectl_sched.render.writers.snippet_lines import snippet_lines  # only a manifest has one

            yield fenced("\n".join(snippet_lines(said, _WIDTH)), "text")
        case Waterfall():
            yield from _waterfall(said)


def _sentence(said: Sentence) -> Iterator[str]:
    yield f"**{text(said.text)}**" if said.tone == "strong" else text(said.text)


def _listing(said: Listing) -> Iterator[str]:
    yield table(said.tables[0])
    if said.more:
        yield text(said.more)


def _commands(said: Commands) -> Iterator[str]:
    yield fenced("\n".join(said.commands), "sh")


def _ladder(said: Ladder) -> Iterator[str]:
    yield f"**{text(said.heading)}**"
    for place, rung in enumerate(said.rungs, 1):
        number = f"{place}. "
        blocks = [f"{f'**{text(rung.label)}** ' if rung.label else ''}{text(rung.text)}"]
        blocks += [fenced(command, "sh") for command in rung.commands]
        for instruction, document in rung.by_hand:
            blocks.append(text(f"{instruction}{':' if document else '.'}"))
            blocks += [fenced(document)] if document else []
        yield f"{number}{indented(blocks, len(number))}"
    if said.more:
        yield f"and {count(said.more, 'other way')}"


def _quote(said: Quote) -> Iterator[str]:
    yield f"{text(said.heading)}:"
    yield fenced(said.text, "text")


def _waterfall(said: Waterfall) -> Iterator[str]:
    yield text(said.heading)
    yield table(said.table)

"""A line of a file with a mark under a part of it, as compilers draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.writers.first_screen import folded, length
from kubectl_sched.safe_output import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.render.document import Snippet

_LEAST_ROOM = 20


def snippet_lines(said: Snippet, width: int) -> Iterator[str]:
    """Yield the file and the line's number, the line, the mark with its label below or behind it, and the help."""
    yield from marked_lines(said, width)
    if said.help:
        start = f"{' ' * len(str(said.line))} = help: "
        first, *rest = folded(safe(said.help), max(width - len(start), _LEAST_ROOM))
        yield f"{start}{first}"
        yield from (f"{' ' * len(start)}{line}" for line in rest)


def marked_lines(said: Snippet, width: int) -> Iterator[str]:
    """Yield the lines without the help, which a ladder may say as well."""
    margin = len(str(said.line))
    bar = f"{' ' * margin} | "
    before, marked = safe(said.text[: said.start]), safe(said.text[said.start : said.start + said.width])
    after = safe(said.text[said.start + said.width :])
    yield f"{' ' * margin}--> {safe(said.file)}:{said.line}"
    yield f"{said.line} | {before}{marked}{after}"
    mark = f"{bar}{' ' * length(before)}{'^' * max(length(marked), 1)}"
    label = safe(said.label)
    if len(mark) + 1 + length(label) <= width:
        yield f"{mark} {label}"
    else:
        yield mark
        yield from (f"{bar}{line}" for line in folded(label, max(width - len(bar), _LEAST_ROOM)))

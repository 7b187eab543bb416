r"""Escapes text for GitHub Markdown, so that it is shown literally and mentions or links nobody.

A backslash keeps punctuation from being markup. It does not keep GitHub from linking @names, mail addresses, #numbers
and :emoji:, which it looks for in the finished text; an invisible WORD JOINER does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.render.table import Row, Table

JOINER = "\u2060"

_MARKUP = re.compile(r"[\\`*\[\]<|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"\A(?:[#+\-=>]|\d+(?=[.)](?: |\Z)))")
_CALL = re.compile(r"@|#(?=\d)|(?<=\bGH)-(?=\d)|:(?=[a-z+\-][\w+-]*:)", re.IGNORECASE)
_BACKTICKS = re.compile(r"`+")
_FENCE = 3


def text(words: str) -> str:
    """The words in running text, at the beginning of a line or in a table's cell."""
    shown = _CALL.sub(lambda found: f"{found[0]}{JOINER}", safe(words).strip(" "))
    shown = _LINK.sub(lambda found: f"\\{found[0]}", _MARKUP.sub(lambda found: f"\\{found[0]}", shown))
    return _BLOCK.sub(_kept_in_line, shown)


def _kept_in_line(start: re.Match[str]) -> str:
    """Nothing at the beginning of a line may make it a heading, a list, a rule or a quotation."""
    return f"{start[0]}{JOINER}" if start[0].isdecimal() else f"\\{start[0]}"


def code(name: str) -> str:
    """A name as it is, where nothing is markup and nobody is called; bars would end a table's cell even there."""
    shown = safe(name)
    if not shown.strip() or "|" in shown:
        return text(shown)
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fenced(block: str, language: str = "") -> str:
    """A block of code, its lines kept, whose fence is longer than any that it holds."""
    shown = "\n".join(map(safe, block.split("\n")))
    ticks = "`" * max(_FENCE, 1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    return f"{ticks}{language}\n{shown}\n{ticks}"


def table(shown: Table[Row]) -> str:
    """A table with names as code, numbers to the right, and the line below it."""
    rule = ["---:" if column.kind == "number" else "---" for column in shown.columns]
    marked = [code if column.kind == "name" else text for column in shown.columns]
    cells = ([mark(cell) for mark, cell in zip(marked, row, strict=True)] for row in shown.texts)
    drawn = "\n".join(f"| {' | '.join(each)} |" for each in (map(text, shown.headings), rule, *cells))
    return f"{drawn}\n\n{text(shown.below)}" if shown.below else drawn


def bullets(items: Sequence[str], mark: str = "") -> str:
    """A list of texts, each between two of the `mark`."""
    return "\n".join(f"- {mark}{text(item)}{mark}" for item in items)


def indented(blocks: Sequence[str], columns: int) -> str:
    """Blocks below each other, all lines but the first after so many blanks: the content of an item of a list."""
    lines = "\n\n".join(blocks).split("\n")
    return "\n".join([lines[0], *(f"{' ' * columns}{line}" if line else line for line in lines[1:])])

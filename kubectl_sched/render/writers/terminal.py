"""Everything that goes to a terminal, or to a pipe as plain text."""

from __future__ import annotations

import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

from kubectl_sched.output import can_draw, write_lines
from kubectl_sched.render.writers.first_screen import BLANK, LINES, Part, fitted, lines_of
from kubectl_sched.render.writers.note_lines import note_parts
from kubectl_sched.render.writers.styled_text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.writers.first_screen import Lines

_PIPED_WIDTH = 100_000
"""A pipe has no width: nothing is wrapped or cut for it."""

_UNKNOWN_WIDTH = 80


def console_for(color: str) -> Console | None:
    """The terminal, or a pipe that wants colours; another pipe needs no console, which takes long to import."""
    is_terminal = sys.stdout.isatty()
    colored = color == "always" or (color == "auto" and can_draw(sys.stdout) and not os.environ.get("NO_COLOR"))
    if not (is_terminal or colored):
        return None
    from rich.console import Console

    console = Console(
        file=sys.stdout,
        force_terminal=colored or None,
        color_system="standard" if colored else None,
        no_color=not colored,  # else NO_COLOR would count for more than --color always
        width=None if is_terminal else _PIPED_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )
    if not console.width:  # COLUMNS=0, which says that it is not known
        console.width = _UNKNOWN_WIDTH
    return console


def print_answer(answer: Answer, display: Display, notes: Sequence[str]) -> None:
    """Print one pod as a screen, several as a table."""
    console = console_for(display.color)
    lines = max(LINES, console.height - 1) if console is not None and sys.stdout.isatty() else None
    write_lines(rendered(answer, display, notes, console, lines), console, _in_pager)


def _in_pager(text: str) -> bool:
    from kubectl_sched.render.writers.pager import in_pager  # rarely needed

    return in_pager(text)


def print_parts(parts: Callable[[int], Iterable[Text]], color: str) -> None:
    """Print what the function makes for the number of columns, without the blanks at the ends of lines."""
    console = console_for(color)
    write_lines(lines_of(parts(_width(console)), console), console, _in_pager)


def rendered(
    answer: Answer, display: Display, notes: Sequence[str], console: Console | None, lines: int | None
) -> Lines:
    """Return the lines to print; the answer about one pod takes at most so many (None: no limit)."""
    explanations, width = answer.explanations, _width(console)
    if not explanations:
        return fitted((Part(full=(Text(answer.nothing),), rank=9), *note_parts(notes, width, display)), console, None)
    if display.node is not None:
        return fitted(tuple(_node_reports(answer, display, notes, width)), console, None)
    from kubectl_sched.render.answers.explain import answer_parts

    if answer.is_about_one_pod:
        limit = None if display.is_wide or display.notes else lines
        return fitted(tuple(answer_parts(explanations[0], notes, width, display)), console, limit)

    from kubectl_sched.render.answers.pods import in_sum, pods_parts

    if not display.is_wide:
        return fitted(tuple(pods_parts(answer, notes, width, display)), console, None)
    each_in_full = ((*answer_parts(each, (), width, display), BLANK) for each in explanations)
    total = Part(full=(Text(in_sum(explanations, answer.together)),), rank=9)
    return fitted((*chain.from_iterable(each_in_full), total, *note_parts(notes, width, display)), console, None)


def _width(console: Console | None) -> int:
    return console.width if console is not None else _PIPED_WIDTH


def _node_reports(answer: Answer, display: Display, notes: Sequence[str], width: int) -> Iterator[Part]:
    """Yield the reports of one node, for each pod."""
    from kubectl_sched.render.answers.explain_node import node_report

    for position, each in enumerate(answer.explanations):
        if position:
            yield BLANK
        row = each.result.nodes.row_of[display.node or ""]
        yield Part(full=tuple(node_report(each, row, width, one=answer.is_about_one_pod)), rank=9)
    warnings = chain.from_iterable(each.warnings for each in answer.explanations)
    yield from note_parts((*warnings, *notes), width, display)

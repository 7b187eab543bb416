"""Everything that goes to a terminal, or to a pipe as plain text."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from kubectl_sched.queries.verdict.wording import shared_domain
from kubectl_sched.render.writers.first_screen import LINES, fitted
from kubectl_sched.render.writers.text import document_parts
from kubectl_sched.safe_output import can_draw, write_lines

if TYPE_CHECKING:
    from rich.console import Console

    from kubectl_sched.render.display import Display
    from kubectl_sched.render.document import Document
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


def print_document(document: Document, display: Display) -> None:
    """Print the answer; that about one pod takes no more lines than a terminal has."""
    console = console_for(display.color)
    lines = max(LINES, console.height - 1) if console is not None and sys.stdout.isatty() else None
    write_lines(rendered(document, display, console, lines), console, _in_pager)


def _in_pager(text: str) -> bool:
    from kubectl_sched.render.writers.pager import in_pager  # rarely needed

    return in_pager(text)


def rendered(document: Document, display: Display, console: Console | None, lines: int | None) -> Lines:
    """Return the lines to print; an answer that `fits_screen` takes at most so many unless all is wanted."""
    if not display.in_full and shared_domain(tuple(document.nodes)):
        from kubectl_sched.render.short_names import with_short_names  # few small clusters have a domain

        document = with_short_names(document)
    limit = lines if document.fits_screen and not (display.is_wide or display.notes) else None
    return fitted(tuple(document_parts(document, _width(console), display)), console, limit)


def _width(console: Console | None) -> int:
    return console.width if console is not None else _PIPED_WIDTH

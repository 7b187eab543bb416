"""Everything that goes to a terminal, or to a pipe as plain text."""

from __future__ import annotations

import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from kubectl_sched.output import write_segments
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.text.first_screen import first_screen
from kubectl_sched.render.text.screen_fitting import LINES, fitted, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.text.screen_fitting import Lines

_PIPED_WIDTH = 100_000
"""A pipe has no width: nothing is wrapped or cut for it."""


def console_for(color: str) -> Console:
    """A console that writes no colour and no width of its own into a pipe."""
    is_terminal = sys.stdout.isatty()
    colored = color == "always" or (color == "auto" and is_terminal and not os.environ.get("NO_COLOR"))
    return Console(
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


def print_answer(answer: Answer, display: Display, notes: Sequence[str]) -> None:
    """Print one pod as a screen, several as a table."""
    console = console_for(display.color)
    lines = max(LINES, console.height - 1) if sys.stdout.isatty() else None
    write_segments(rendered(answer, display, notes, console, lines), console)
    found = [each.new_nodes for each in answer.explanations if each.new_nodes is not None]
    if found:
        from kubectl_sched.render.text.new_nodes_text import new_nodes_text  # rarely asked for

        write_segments(lines_of(chain.from_iterable(map(new_nodes_text, found)), console), console)


def print_parts(parts: Iterable[RenderableType], color: str) -> None:
    """Anything else, without the blanks at the ends of lines."""
    console = console_for(color)
    write_segments(lines_of(parts, console), console)


def rendered(answer: Answer, display: Display, notes: Sequence[str], console: Console, lines: int | None) -> Lines:
    """Return the lines to print; the answer about one pod takes at most so many (None: no limit)."""
    if answer.is_about_one_pod and display.node is None and not display.all_nodes and display.output != "wide":
        return fitted(list(first_screen(answer.explanations[0], notes, console.width)), console, lines)
    return lines_of(_in_full(answer, display, notes, console.width), console)


def _in_full(answer: Answer, display: Display, notes: Sequence[str], width: int) -> Iterable[RenderableType]:
    explanations, one = answer.explanations, answer.is_about_one_pod
    if not explanations:
        return (Text("no pods match"), *_noted(notes))
    if display.node is not None:
        from kubectl_sched.render.text.node_report import node_report

        name = display.node
        pages = (node_report(each, each.result.nodes.row_of[name], width, one=one) for each in explanations)
        _, *apart = chain.from_iterable((Text(), *page) for page in pages)
        warnings = (warning for each in explanations for warning in each.warnings)
        return (*apart, *_noted((*warnings, *notes)))

    from kubectl_sched.render.text.pod_list import in_sum, pods_table

    if not display.all_nodes and display.output != "wide":
        return pods_table(explanations, notes, width, answer.together)

    from kubectl_sched.render.text.wide_table import wide

    if one:
        return wide(explanations[0], notes, width)
    each_in_full = ((*wide(each, (), width), Text()) for each in explanations)
    return (*chain.from_iterable(each_in_full), Text(in_sum(explanations, answer.together)), *_noted(notes))


def _noted(notes: Iterable[str]) -> Iterable[RenderableType]:
    """Each once, below an empty line."""
    lines = [Text(f"note: {safe(note)}", style="dim") for note in dict.fromkeys(notes)]
    return (Text(), *lines) if lines else ()

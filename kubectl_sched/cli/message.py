"""`message` and `explain message`: a text of an event, or one reason, in plain words, without any cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.render.display import Display


def message(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What kube-scheduler or another component said, or - for stdin."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="NAME", help="Say all about one reason, such as TooManyPods.")
    ] = None,
    *,
    display: options.PageableOutput,
) -> None:
    """Say what a pasted message of kube-scheduler or another component means, or one reason of such a message."""
    if (reason is None) == (not text):
        raise SchedError("paste the text of a message (- for standard input), or name a reason with --reason NAME")
    if reason is not None:
        _explain_reason(reason, display)
        return
    explain_message(text or (), display)


def _explain_reason(name: str, display: options.PageableOutput) -> None:
    """Print the entry of one reason."""
    from kubectl_sched.diagnostics.messages.other_components import entry_named
    from kubectl_sched.render.answers.reason import shown_reason
    from kubectl_sched.render.show import show

    show(shown_reason(entry_named(name)), _display_of(display))


def _display_of(display: options.PageableOutput) -> Display:
    if display.output is options.PageOutput.name:
        raise SchedError("there is no -o name of a message: it is table, wide, json, yaml, html or markdown")
    return display.shown


def explain_message(words: Sequence[str], display: options.PageableOutput) -> None:
    """Print what each clause of the text means; `-` reads it from standard input."""
    from kubectl_sched.diagnostics.messages.other_components import entries_of_event
    from kubectl_sched.diagnostics.messages.pasted_text import pasted_text
    from kubectl_sched.render.answers.message import shown_message
    from kubectl_sched.render.show import show

    if len(words) == 1 and words[0].isalnum() and entries_of_event(words[0]):
        _explain_reason(words[0], display)
        return
    shown = _display_of(display)
    pasted = pasted_text(_standard_input() if list(words) == ["-"] else " ".join(words))
    show(shown_message(pasted), shown)


def _standard_input() -> str:
    """Standard input, no further than shows that it is too long."""
    from kubectl_sched.diagnostics.messages.pasted_text import LONGEST

    return sys.stdin.buffer.read(4 * LONGEST + 4).decode(errors="replace")

"""`message` and `explain message`: a FailedScheduling text, or one reason, in plain words, without any cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.render.display import Display

_LONGEST = 16_384
"""An event holds 1,024 bytes; what was copied around the message may be some more."""


def message(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="What kube-scheduler said, or - for stdin.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="NAME", help="Say all about one reason, such as TooManyPods.")
    ] = None,
    *,
    display: options.PageableOutput,
) -> None:
    """Say what a pasted FailedScheduling message means, or one reason of such a message."""
    if (reason is None) == (not text):
        raise SchedError("paste the text of a message (- for standard input), or name a reason with --reason NAME")
    if reason is not None:
        _explain_reason(reason, display)
        return
    explain_message(text or (), display)


def _explain_reason(name: str, display: options.PageableOutput) -> None:
    """Print the entry of one reason."""
    from kubectl_sched.diagnostics.messages.reasons import named
    from kubectl_sched.render.answers.message import shown_reason
    from kubectl_sched.render.show import show

    shown = _display_of(display)
    show(shown_reason(named(name)), shown)


def _display_of(display: options.PageableOutput) -> Display:
    from kubectl_sched.render.display import Display

    if display.output is options.PageOutput.name:
        raise SchedError("there is no -o name of a message: it is table, wide, json, yaml, html or markdown")
    return Display(output=display.output.value, color=display.color.value)


def explain_message(words: Sequence[str], display: options.PageableOutput) -> None:
    """Print what each clause of the text means; `-` reads it from standard input."""
    from kubectl_sched.diagnostics.messages.decoder import parse
    from kubectl_sched.render.answers.message import shown_message
    from kubectl_sched.render.show import show

    shown = _display_of(display)
    text = _standard_input() if list(words) == ["-"] else " ".join(words)
    if len(text) > _LONGEST:
        raise SchedError(
            f"the text is longer than {_LONGEST:,} characters; paste one message, of which an event holds 1,024 bytes"
        )
    understood = parse(text)
    if not understood.understood:
        raise SchedError(
            "that is no text of kube-scheduler; paste one as `kubectl describe pod` shows it, such as '0/3 nodes are "
            "available: 3 Insufficient cpu.'"
        )
    show(shown_message(understood), shown)


def _standard_input() -> str:
    """Standard input, no further than shows that it is too long."""
    return sys.stdin.buffer.read(4 * _LONGEST + 4).decode(errors="replace")

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

_LONGEST = 16_384
"""An event holds 1,024 bytes; what was copied around the message may be some more."""


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
    from kubectl_sched.diagnostics.messages.other_components import component_reason_named
    from kubectl_sched.diagnostics.messages.reason_catalogue import all_reasons, reason_named
    from kubectl_sched.render.answers.component_message import shown_component_reason
    from kubectl_sched.render.answers.message import shown_reason
    from kubectl_sched.render.show import show

    shown = _display_of(display)
    own = reason_named(name)
    if own is not None:
        show(shown_reason(own), shown)
    else:
        show(shown_component_reason(component_reason_named(name, (each.name for each in all_reasons()))), shown)


def _display_of(display: options.PageableOutput) -> Display:
    if display.output is options.PageOutput.name:
        raise SchedError("there is no -o name of a message: it is table, wide, json, yaml, html or markdown")
    return display.shown


def explain_message(words: Sequence[str], display: options.PageableOutput) -> None:
    """Print what each clause of the text means; `-` reads it from standard input."""
    from kubectl_sched.diagnostics.messages.component_statements import statements_in
    from kubectl_sched.diagnostics.messages.decoder import parse
    from kubectl_sched.render.answers.message import shown_message
    from kubectl_sched.render.show import show

    shown = _display_of(display)
    text = _standard_input() if list(words) == ["-"] else " ".join(words)
    if len(text) > _LONGEST:
        raise SchedError(
            f"the text is longer than {_LONGEST:,} characters; paste one message, of which an event holds 1,024 bytes"
        )
    understood, others = parse(text), statements_in(text)
    if not (understood.understood or others):
        raise SchedError(
            "that is no text of kube-scheduler, the kubelet, an autoscaler, Kueue, a controller or the API server that "
            "is known here; paste one as `kubectl describe pod` shows it, such as '0/3 nodes are available: 3 "
            "Insufficient cpu.'"
        )
    show(shown_message(understood, others), shown)


def _standard_input() -> str:
    """Standard input, no further than shows that it is too long."""
    return sys.stdin.buffer.read(4 * _LONGEST + 4).decode(errors="replace")

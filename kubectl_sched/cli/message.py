"""`message` and `explain message`: a FailedScheduling text, or one reason, in plain words, without any cluster."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 16_384
"""An event holds 1,024 bytes; what was copied around the message may be some more."""


def message(
    display: options.ColoredOutput,
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="What kube-scheduler said, or - for stdin.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="NAME", help="Say all about one reason, such as TooManyPods.")
    ] = None,
) -> None:
    """Say what a pasted FailedScheduling message means, or one reason of such a message."""
    if (reason is None) == (not text):
        raise SchedError("paste the text of a message (- for standard input), or name a reason with --reason NAME")
    if reason is not None:
        _explain_reason(reason, display)
        return
    explain_message(text or (), display)


def _explain_reason(name: str, display: options.ColoredOutput) -> None:
    """Print the entry of one reason."""
    from kubectl_sched.diagnostics.messages.reasons import named
    from kubectl_sched.render.answers.message import reason_data, reason_lines
    from kubectl_sched.render.writers.data import write_data
    from kubectl_sched.render.writers.terminal import print_parts

    output = _output_of(display)
    if output == "table":
        print_parts(partial(reason_lines, named(name)), display.color.value)
    else:
        write_data(reason_data(named(name)), output)


def _output_of(display: options.ColoredOutput | options.PageableOutput) -> str:
    output = display.output.value
    if output not in {"table", "json", "yaml"}:
        raise SchedError(f"there is no -o {output} of a message: it is table, json or yaml")
    return output


def explain_message(words: Sequence[str], display: options.ColoredOutput | options.PageableOutput) -> None:
    """Print what each clause of the text means; `-` reads it from standard input."""
    from kubectl_sched.diagnostics.messages.decoder import parse
    from kubectl_sched.render.answers.message import message_data, message_lines
    from kubectl_sched.render.writers.data import write_data

    output = _output_of(display)
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
    if output in {"json", "yaml"}:
        write_data(message_data(understood), output)
        return
    from kubectl_sched.render.writers.terminal import print_parts

    print_parts(partial(message_lines, understood), display.color.value)


def _standard_input() -> str:
    """Standard input, no further than shows that it is too long."""
    return sys.stdin.buffer.read(4 * _LONGEST + 4).decode(errors="replace")

"""`message` and `explain message`: a FailedScheduling text in plain words, without any cluster."""

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
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What kube-scheduler said, or - for stdin.")],
    display: options.ColoredOutput,
) -> None:
    """Say what a pasted FailedScheduling message means."""
    explain_message(text, display)


def explain_message(words: Sequence[str], display: options.ColoredOutput | options.PageableOutput) -> None:
    """Print what each clause of the text means; `-` reads it from standard input."""
    from kubectl_sched.diagnostics.messages.decoder import parse
    from kubectl_sched.render.answers.message import message_data, message_lines
    from kubectl_sched.render.writers.data import write_data

    output = display.output.value
    if output not in {"table", "json", "yaml"}:
        raise SchedError(f"there is no -o {output} of a message: it is table, json or yaml")
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

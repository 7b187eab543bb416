"""A pasted text, with the statements of all components in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.component_statements import statements_in
from kubectl_sched.diagnostics.messages.decoder import parse
from kubectl_sched.diagnostics.messages.early_texts import without_nodes
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.diagnostics.messages.component_statements import Statement
    from kubectl_sched.diagnostics.messages.decoder import FitErrorText

LONGEST = 16_384
"""An event holds 1,024 bytes; what was copied around the message may be some more."""


class PastedText(Record, frozen=True, kw_only=True):
    """The text of kube-scheduler, and the statements of other components."""

    text: FitErrorText
    others: tuple[Statement, ...]


def pasted_text(text: str) -> PastedText:
    """Read a text. Raises SchedError if it is too long, or if nothing in it is known."""
    if len(text) > LONGEST:
        raise SchedError(
            f"the text is longer than {LONGEST:,} characters; paste one message, of which an event holds 1,024 bytes"
        )
    understood, others = parse(text), statements_in(without_nodes(text))
    if not (understood.understood or others):
        raise SchedError(
            "that is no text of kube-scheduler, the kubelet, an autoscaler, Kueue, a controller or the API server that "
            "is known here; paste one as `kubectl describe pod` shows it, such as '0/3 nodes are available: 3 "
            "Insufficient cpu.'"
        )
    return PastedText(text=understood, others=others)

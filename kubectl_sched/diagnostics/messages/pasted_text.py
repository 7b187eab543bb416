"""A pasted text, with the statements of all components in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.messages.component_statements import statements_in
from kubectl_sched.diagnostics.messages.decoder import FitErrorText, parse
from kubectl_sched.diagnostics.messages.early_texts import without_nodes
from kubectl_sched.diagnostics.messages.event_lines import event_lines
from kubectl_sched.diagnostics.messages.reason_catalogue import is_told_by_its_beginning
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.diagnostics.messages.component_statements import Statement

LONGEST: Final = 16_384
"""An event holds 1,024 bytes; what was copied around the message may be some more."""


_FAILED: Final = "FailedScheduling"
_BOUND: Final = "Scheduled"
_NOTHING: Final = FitErrorText(None, None, ())


class PastedText(Record, frozen=True, kw_only=True):
    """The text of kube-scheduler, and the statements of other components."""

    text: FitErrorText
    others: tuple[Statement, ...]
    is_table: bool = False
    """It is a table of events, of which kubectl shows the newest last."""

    is_bound_since: bool = False
    """It is a table of events in which the pod is bound after the last one that no node could take it."""

    @property
    def weightiest(self) -> Statement | None:
        """Return the statement of another component that says most: the newest of a table, else the first."""
        known = [each for each in self.others if each.meaning is not None] or self.others
        telling = [each for each in known if not each.repeats] or known
        return telling[-1 if self.is_table else 0] if telling else None


def pasted_text(text: str) -> PastedText:
    """Read a text. Raises SchedError if it is too long, or if nothing in it is known."""
    if len(text) > LONGEST:
        raise SchedError(
            f"the text is longer than {LONGEST:,} characters; paste one message, of which an event holds 1,024 bytes"
        )
    others = statements_in(without_nodes(text))
    understood = _own(parse(text), others)
    if not (understood.understood or others):
        raise SchedError(
            "that is no text of kube-scheduler, the kubelet, an autoscaler, Kueue, a controller or the API server that "
            "is known here; paste one as `kubectl describe pod` shows it, such as '0/3 nodes are available: 3 "
            "Insufficient cpu.'"
        )
    events = [event.reason for event in event_lines(text)]
    since = events[_last(events, _FAILED) + 1 :]
    return PastedText(text=understood, others=others, is_table=bool(events), is_bound_since=_BOUND in since)


def _own(text: FitErrorText, others: tuple[Statement, ...]) -> FitErrorText:
    """Return kube-scheduler's text: nothing where words in the middle of another component's text are all it has."""
    if not others or text.available is not None or any(is_told_by_its_beginning(each.text) for each in text.clauses):
        return text
    return _NOTHING


def _last(events: list[str], reason: str) -> int:
    """Return the place of the last event with a reason; -1 if there is none."""
    return max((place for place, each in enumerate(events) if each == reason), default=-1)

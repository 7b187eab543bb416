"""Pods whose scheduling cannot be replayed: what schedulers said of them, and what a replay would need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.output import API_VERSION
from kubectl_sched.render.answers.explanation_data import stage_data
from kubectl_sched.render.answers.message import message_data, message_lines
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.status_sentences import said_of
from kubectl_sched.render.writers.styled_text import Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kubectl_sched.diagnostics.scheduler_statements import PodStatements, Statement

_UNKNOWN = (
    "which nodes these are, by how much they miss, and whether it has changed since",
    "which node the pod would get, and what change would let it in",
)
_OTHER_EVENTS = 3


class Limits(NamedTuple):
    """The kinds that could not be read: as sentences, as RBAC rules, and the command for somebody who may."""

    sentences: Sequence[str]
    rules: Sequence[str]
    command: str


def decoded_data(told: Sequence[PodStatements], limits: Limits, *, one: bool) -> dict[str, Any]:
    """Return a `Decoded`, or a `DecodedList` of several. The schema is stable: fields are only ever added."""
    items = [
        {
            "apiVersion": API_VERSION,
            "kind": "Decoded",
            "pod": {"namespace": each.pod.metadata.namespace, "name": each.pod.metadata.name},
            "schedulerName": each.pod.spec.scheduler_name,
            "currentNode": each.pod.spec.node_name or None,
            "stage": stage_data(each.stage),
            "condition": _said_data(each.condition) if each.condition else None,
            "events": [_said_data(event) for event in each.events],
            "unknown": list(_UNKNOWN),
            "missingRules": list(limits.rules),
            "command": limits.command,
            "warnings": list(limits.sentences),
        }
        for each in told
    ]
    return items[0] if one else {"apiVersion": API_VERSION, "kind": "DecodedList", "items": items}


def _said_data(said: Statement) -> dict[str, Any]:
    return {
        "by": said.by,
        "reason": said.reason,
        "lastSeen": said.last_seen or None,
        "text": said.words,
        "message": message_data(said.text) if said.text else None,
    }


def decoded_lines(told: Sequence[PodStatements], limits: Limits, width: int) -> Iterator[Text]:
    """Each pod with what was said of it, equal ones once, then what is missing for all of them."""
    for each, *others_like_it in _equal(told):
        yield Text(f"{safe(each.pod.key)} {_state(each)}.", style="bold")
        if words := _stage_words(each):
            yield Text(f"{words}.")
        if each.newest is not None:
            yield from _said_lines(each.newest, width)
        if others_like_it:
            names = first_few([other.pod.key for other in others_like_it])
            other = "other pod" if len(others_like_it) == 1 else "other pods"
            yield Text(safe(f"The same holds for {len(others_like_it):,} {other}: {names}."))
        for event in _other_events(each):
            yield Text(safe(f"{to_the_second(event.last_seen)} {event.reason} ({event.by}): {event.words}"))
        yield Text()
    yield Text("This is what was said, not a replay. It does not tell:", style="bold")
    yield from (Text(f"  {unknown}") for unknown in _UNKNOWN)
    for sentence in limits.sentences:
        yield Text(f"note: {safe(sentence)}", style="dim")
    yield Text("With the missing rules it can be replayed; or by --from with the file that an administrator makes by:")
    yield Text(f"  {limits.command}")


def _equal(told: Sequence[PodStatements]) -> Iterable[list[PodStatements]]:
    """The pods in their order, with those of which the same was said, whenever that was."""
    found: dict[Hashable, list[PodStatements]] = {}
    for each in told:
        said = [(event.by, event.reason, event.words) for event in (each.newest, *_other_events(each)) if event]
        found.setdefault((each.pod.namespace, _state(each), _stage_words(each), *said), []).append(each)
    return found.values()


def _stage_words(told: PodStatements) -> str | None:
    return said_of(told.stage) if told.stage is not None and told.stage.name != "Unschedulable" else None


def _other_events(told: PodStatements) -> list[Statement]:
    return [event for event in told.events if event.text is None][:_OTHER_EVENTS]


def _state(told: PodStatements) -> str:
    pod = told.pod
    if pod.has_ended:
        return f"has ended ({safe(pod.status.phase)}) on {safe(pod.spec.node_name) or 'no node'}"
    if pod.spec.node_name:
        return f"is bound to {safe(pod.spec.node_name)}"
    if pod.spec.scheduling_gates:
        return (
            f"is gated by {safe(', '.join(gate.name for gate in pod.spec.scheduling_gates))}, so it is not in the queue"
        )
    if told.newest is None:
        return f"waits, and no scheduler has said a word of it; its schedulerName is {safe(pod.spec.scheduler_name)}"
    return "waits for a node"


def _said_lines(said: Statement, width: int) -> Iterator[Text]:
    when = f" at {safe(to_the_second(said.last_seen))}" if said.last_seen else ""
    yield Text(f"{safe(said.by or 'a scheduler')} said{when}:")
    if said.text is None:
        yield Text(f"  {safe(said.words)}")
        return
    yield from message_lines(said.text, width)

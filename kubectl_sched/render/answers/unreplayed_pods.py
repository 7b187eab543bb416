"""Pods whose scheduling cannot be replayed: what schedulers said of them, and what a replay would need."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.render.ages import at_moment
from kubectl_sched.render.answers.explanation_data import stage_data
from kubectl_sched.render.answers.message import message_data, message_parts, message_verdict
from kubectl_sched.render.document import Commands, Document, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.status_sentences import said_of
from kubectl_sched.render.show import Shown
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kubectl_sched.diagnostics.scheduler_statements import PodStatements, Statement
    from kubectl_sched.render.schemas import message as schema

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


def decoded_data(told: Sequence[PodStatements], limits: Limits, *, one: bool) -> schema.Decoded | schema.DecodedList:
    """Return a `Decoded`, or a `DecodedList` of several. The schema is stable: fields are only ever added."""
    items: list[schema.Decoded] = [
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


def _said_data(said: Statement) -> schema.Statement:
    return {
        "by": said.by,
        "reason": said.reason,
        "lastSeen": said.last_seen or None,
        "text": said.words,
        "message": message_data(said.text) if said.text else None,
    }


def shown_decoded(told: Sequence[PodStatements], limits: Limits, *, one: bool) -> Shown:
    """Return what was said of the pods in each form."""
    return Shown(
        document=lambda _: decoded_document(told, limits),
        data=lambda: decoded_data(told, limits, one=one),
        names=tuple,
    )


def decoded_document(told: Sequence[PodStatements], limits: Limits) -> Document:
    """Return each pod with what was said of it, equal ones once, then what is missing for all of them."""
    return Document(
        verdict=Verdict(text=""),
        parts=(*chain.from_iterable(map(_about, _equal(told))), *_what_is_missing(limits)),
        notes=notes_of(limits.sentences, ()),
        heading="What schedulers said",
    )


def _about(alike: Sequence[PodStatements]) -> Iterator[Said]:
    each, *others_like_it = alike
    yield Sentence(text=f"{each.pod.key} {_state(each)}.", tone="strong", gap=True)
    if words := _stage_words(each):
        yield Sentence(text=f"{words}.")
    if each.newest is not None:
        yield from _said(each.newest, each.read_at)
    if others_like_it:
        names = first_few([other.pod.key for other in others_like_it])
        other = "other pod" if len(others_like_it) == 1 else "other pods"
        yield Sentence(text=f"It is so for {len(others_like_it):,} {other}: {names}.")
    for event in _other_events(each):
        yield Sentence(text=f"{to_the_second(event.last_seen)} {event.reason} ({event.by}): {event.words}")


def _what_is_missing(limits: Limits) -> Iterator[Said]:
    yield Sentence(text="This is what was said, not a replay. It does not tell:", tone="strong", gap=True)
    yield from (Sentence(text=each, indent=2) for each in _UNKNOWN)
    yield Sentence(
        text="With the missing rules it can be replayed; or by --from with the file that an administrator makes by:"
    )
    yield Commands(commands=(limits.command,))


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


def _said(said: Statement, read_at: str | None) -> Iterator[Said]:
    yield Sentence(text=f"{said.by or 'a scheduler'} said{at_moment(said.last_seen, read_at)}:")
    if said.text is None:
        yield Sentence(text=said.words, indent=2)
        return
    verdict = message_verdict(said.text)
    yield from (Sentence(text=verdict, tone="strong"),) if verdict else ()
    yield from message_parts(said.text)

"""The answer of `message`: the text of an event in plain words, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import SCHEDULER
from kubectl_sched.render.answers.component_message import component_parts, statement_data, verdict_of
from kubectl_sched.render.answers.reason import meaning_data, more_about
from kubectl_sched.render.document import Document, Listing, Said, Sentence, Verdict
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.component_statements import Statement
    from kubectl_sched.diagnostics.messages.decoder import Clause, FitErrorText
    from kubectl_sched.diagnostics.messages.pasted_text import PastedText
    from kubectl_sched.render.schemas import message as schema

_FOREIGN = "no text of kube-scheduler's own plugins: of an extender, or of a plugin that was added"
_BOUND_SINCE = "The pod has been bound to a node since."
_BEFORE = "Before it was bound, kube-scheduler said:"
_CUT_OFF = "the text was cut off here"
_NO_REASONS = "the reasons are missing; paste the whole message, which goes on after this"
_NONE_AVAILABLE = "No node can take the pod."


def message_data(text: FitErrorText, others: tuple[Statement, ...] = ()) -> schema.Message:
    """The text as data. The schema is stable: fields are added, never renamed or dropped."""
    own = text.clauses if text.understood else ()
    return {
        "apiVersion": API_VERSION,
        "kind": "Message",
        "available": text.available,
        "nodes": text.total,
        "clauses": [*map(_clause_data, own), *map(statement_data, others)],
        "cut": text.cut,
    }


def _clause_data(clause: Clause) -> schema.Clause:
    return {
        "text": clause.text,
        "nodes": clause.nodes,
        "nodeGroups": None,
        "nodePool": None,
        "component": SCHEDULER,
        "about": "preemption" if clause.about_preemption else "pod" if clause.nodes is None else "nodes",
        **meaning_data(clause.meaning),
    }


def shown_message(pasted: PastedText) -> Shown:
    """Return the meaning of a text in each form."""
    own = pasted.text.clauses if pasted.text.understood else ()
    meanings = (*(clause.meaning for clause in own), *(each.meaning for each in pasted.others))
    return Shown(
        document=lambda _: message_document(pasted),
        data=lambda: message_data(pasted.text, pasted.others),
        names=lambda: dict.fromkeys(each.anchor for each in meanings if each),
    )


def message_document(pasted: PastedText) -> Document:
    """Return the text clause by clause, in plain words: kube-scheduler's, then those of other components."""
    others = tuple(component_parts(pasted))
    if not pasted.text.understood:
        verdict = Verdict(text=verdict_of(pasted))
        return Document(verdict=verdict, parts=others, heading="What was said", command="message")
    own = tuple(message_parts(pasted.text))
    is_past = pasted.is_bound_since
    return Document(
        verdict=Verdict(text=(verdict_of(pasted) or _BOUND_SINCE) if is_past else message_verdict(pasted.text)),
        parts=(*others, Sentence(text=_BEFORE, tone="strong", gap=True), *own) if is_past else (*own, *others),
        heading="What was said" if is_past else "What kube-scheduler said",
        command="message",
    )


def message_verdict(text: FitErrorText) -> str:
    """Return how many nodes can take the pod; empty where the text does not say."""
    if text.total is None:
        return _NONE_AVAILABLE if text.available == 0 else ""
    return f"{text.available} of {count(text.total, 'node')} can take the pod."


def message_parts(text: FitErrorText) -> Iterator[Said]:
    """Yield the clauses about nodes, those about preemption, what is missing, and where to read more."""
    for heading, about_preemption in (("", False), ("Could other pods make room?", True)):
        clauses = [clause for clause in text.clauses if clause.about_preemption is about_preemption]
        if clauses and heading:
            yield Sentence(text=heading, tone="strong", gap=True)
        if clauses:
            yield Listing(tables=(_table(clauses),), caption=heading or "Reasons")
    if all(clause.about_preemption for clause in text.clauses):
        yield Sentence(text=f"note: {_NO_REASONS}", tone="dim")
    yield from more_about(clause.meaning for clause in text.clauses)
    if text.cut:
        told = f"note: {_CUT_OFF}; events hold 1024 bytes, the pod's condition has the whole of it"
        yield Sentence(text=told, tone="dim")


def _table(clauses: list[Clause]) -> Table[Clause]:
    nodes: Column[Clause] = Column(
        heading="Nodes", cell=lambda of: "all" if of.nodes is None else f"{of.nodes:,}", kind="number"
    )
    return Table(
        columns=(
            *((nodes,) if any(clause.nodes is not None for clause in clauses) else ()),
            Column(heading="Plugin", cell=lambda each: each.meaning.plugin if each.meaning else ""),
            Column(heading="In plain words", cell=_in_plain_words, kind="words"),
        ),
        rows=clauses,
    )


def _in_plain_words(clause: Clause) -> str:
    if clause.meaning is None:
        return f"{clause.text}... ({_CUT_OFF})" if clause.cut else f"{clause.text}: {_FOREIGN}"
    return "; ".join(filter(None, (clause.meaning.says, clause.meaning.helps)))

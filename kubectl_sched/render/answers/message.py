"""The answer of `message`: the text of an event in plain words, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import PAGE, as_spelt
from kubectl_sched.render.answers.component_message import component_parts, first_of, statement_data
from kubectl_sched.render.document import Commands, Document, Listing, Said, Sentence, Verdict
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.shell_commands import message_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.component_statements import Statement
    from kubectl_sched.diagnostics.messages.decoder import Clause, FitErrorText
    from kubectl_sched.diagnostics.messages.reason_catalogue import Reason
    from kubectl_sched.render.schemas import message as schema

_FOREIGN = "no text of kube-scheduler's own plugins: of an extender, or of a plugin that was added"
_CUT_OFF = "the text was cut off here"
_NO_REASONS = "the reasons are missing; paste the whole message, which goes on after `nodes are available:`"


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
    known = clause.meaning
    return {
        "text": clause.text,
        "nodes": clause.nodes,
        "component": "kube-scheduler",
        "about": "preemption" if clause.about_preemption else "pod" if clause.nodes is None else "nodes",
        "plugin": (known.plugin or None) if known else None,
        "meaning": known.says if known else None,
        "help": (known.helps or None) if known else None,
        "anchor": f"{PAGE}#{known.anchor}" if known else None,
        "reason": known.name if known else None,
    }


def shown_message(text: FitErrorText, others: tuple[Statement, ...] = ()) -> Shown:
    """Return the meaning of a text in each form; `others` is what other components say in it."""
    own = text.clauses if text.understood else ()
    meanings = (*(clause.meaning for clause in own), *(each.meaning for each in others))
    return Shown(
        document=lambda _: message_document(text, others),
        data=lambda: message_data(text, others),
        names=lambda: dict.fromkeys(each.anchor for each in meanings if each),
    )


def message_document(text: FitErrorText, others: tuple[Statement, ...] = ()) -> Document:
    """Return the text clause by clause, in plain words: kube-scheduler's, then those of other components."""
    if not text.understood:
        return Document(
            verdict=Verdict(text=first_of(others)),
            parts=tuple(component_parts(others)),
            heading="What was said",
            command="message",
        )
    told = f"{text.available} of {count(text.total, 'node')} can take the pod." if text.total is not None else ""
    return Document(
        verdict=Verdict(text=told),
        parts=(*message_parts(text), *component_parts(others)),
        heading="What kube-scheduler said",
        command="message",
    )


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
    names = list(dict.fromkeys(clause.meaning.name for clause in text.clauses if clause.meaning))
    if names:
        yield Sentence(text="More about each reason:", tone="dim", gap=True)
        yield Commands(commands=tuple(str(command) for command in map(message_reason, names) if command is not None))
    if text.cut:
        told = f"note: {_CUT_OFF}; events hold 1024 bytes, the pod's condition has the whole of it"
        yield Sentence(text=told, tone="dim")


def reason_data(reason: Reason) -> schema.Reason:
    """Return one reason as data: its texts by the minors that use them (none named: all), and its explanation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Reason",
        "name": reason.name,
        "title": reason.title,
        "plugin": reason.plugin or None,
        "texts": [{"text": text, "versions": minors or None} for text, minors in reason.spellings.items()],
        "meaning": as_spelt(reason.says),
        "how": reason.how,
        "help": as_spelt(reason.helps) or None,
        "upstream": reason.upstream,
    }


def shown_reason(reason: Reason) -> Shown:
    """Return the entry of one reason in each form."""
    return Shown(
        document=lambda _: reason_document(reason), data=lambda: reason_data(reason), names=lambda: (reason.name,)
    )


def reason_document(reason: Reason) -> Document:
    """Return the entry of one reason: its texts, what it means, how it comes about, what helps."""
    named = "" if not reason.plugin or reason.plugin.startswith("{") else f" ({reason.plugin})"
    texts = (f"{text}{f'   (Kubernetes {minors})' if minors else ''}" for text, minors in reason.spellings.items())
    helps = (Sentence(text=f"It usually helps: {as_spelt(reason.helps)}."),) if reason.helps else ()
    return Document(
        verdict=Verdict(text=f"{reason.title}{named}"),
        parts=(
            *(Sentence(text=each, indent=2) for each in texts),
            Sentence(text=f"It means: {as_spelt(reason.says)}.", gap=True),
            Sentence(text=f"It comes about: {reason.how}"),
            *helps,
            Sentence(text=f"Upstream: {reason.upstream}", tone="dim"),
        ),
        heading=reason.title,
        command="message --reason",
    )


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

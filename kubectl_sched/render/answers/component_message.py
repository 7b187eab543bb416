"""Statements of components other than kube-scheduler in a pasted text, in plain words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import PAGE, as_spelt
from kubectl_sched.render.document import Commands, Document, Listing, Said, Sentence, Verdict
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.shell_commands import message_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.component_statements import Statement
    from kubectl_sched.diagnostics.messages.other_components import ComponentReason
    from kubectl_sched.render.schemas import message as schema

_UNKNOWN = "no text of this component that is known here"


def statement_data(statement: Statement) -> schema.Clause:
    """Return one statement as a clause of the message's data."""
    known = statement.meaning
    return {
        "text": statement.text,
        "nodes": None,
        "nodeGroups": statement.groups,
        "component": statement.component,
        "about": "nodeGroups" if statement.groups is not None else "pod",
        "plugin": (known.plugin or None) if known else None,
        "meaning": known.says if known else None,
        "help": (known.helps or None) if known else None,
        "anchor": f"{PAGE}#{known.anchor}" if known else None,
        "reason": known.name if known else None,
    }


def first_of(statements: tuple[Statement, ...]) -> str:
    """Return the first thing said that is understood, after the component that says it."""
    first = next((each for each in statements if each.meaning), statements[0])
    if first.groups is not None:
        return f"{first.component}: it makes no node for the pod; the reasons are those of its node groups."
    return f"{first.component}: {first.meaning.says if first.meaning else first.text}."


def component_parts(statements: tuple[Statement, ...]) -> Iterator[Said]:
    """Yield a table of what each component says, and where to read more."""
    ordered = sorted(statements, key=lambda each: each.component)
    for component, group in groupby(ordered, key=lambda each: each.component):
        yield Sentence(text=f"{component} says, not kube-scheduler:", tone="strong", gap=True)
        yield Listing(tables=(_table(list(group)),), caption=component)
    names = dict.fromkeys(each.meaning.name for each in statements if each.meaning)
    if names:
        yield Sentence(text="More about each reason:", tone="dim", gap=True)
        yield Commands(commands=tuple(str(command) for command in map(message_reason, names) if command is not None))


def _table(statements: list[Statement]) -> Table[Statement]:
    groups: Column[Statement] = Column(
        heading="Node groups", cell=lambda of: "all" if of.groups is None else f"{of.groups:,}", kind="number"
    )
    return Table(
        columns=(
            *((groups,) if any(each.groups is not None for each in statements) else ()),
            Column(heading="Text", cell=lambda each: each.text, kind="words"),
            Column(heading="In plain words", cell=_in_plain_words, kind="words"),
        ),
        rows=statements,
    )


def _in_plain_words(statement: Statement) -> str:
    known = statement.meaning
    if known is None:
        return _UNKNOWN
    where = " on a new node of the group" if statement.groups is not None and known.plugin else ""
    helps = "" if where else known.helps
    return "; ".join(filter(None, (f"{known.says}{where}", helps)))


def component_reason_data(reason: ComponentReason) -> schema.Reason:
    """Return one reason as data, shaped as one of kube-scheduler's."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Reason",
        "name": reason.name,
        "title": reason.title,
        "plugin": None,
        "component": reason.component,
        "events": list(reason.events),
        "texts": [{"text": text, "versions": None} for text in reason.spellings],
        "meaning": as_spelt(reason.says),
        "how": reason.how,
        "help": as_spelt(reason.helps) or None,
        "upstream": reason.upstream,
    }


def shown_component_reason(reason: ComponentReason) -> Shown:
    """Return the entry of one reason in each form."""
    return Shown(
        document=lambda _: component_reason_document(reason),
        data=lambda: component_reason_data(reason),
        names=lambda: (reason.name,),
    )


def component_reason_document(reason: ComponentReason) -> Document:
    """Return the entry of one reason: its texts, what it means, how it comes about, what helps."""
    helps = (Sentence(text=f"It usually helps: {as_spelt(reason.helps)}."),) if reason.helps else ()
    return Document(
        verdict=Verdict(text=f"{reason.title} ({reason.component})"),
        parts=(
            *(Sentence(text=each, indent=2) for each in reason.spellings),
            Sentence(text=f"It means: {as_spelt(reason.says)}.", gap=True),
            Sentence(text=f"It comes about: {reason.how}"),
            *helps,
            Sentence(text=f"Upstream: {reason.upstream}", tone="dim"),
        ),
        heading=reason.title,
        command="message --reason",
    )

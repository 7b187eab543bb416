"""Statements of components other than kube-scheduler in a pasted text, in plain words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kubectl_sched.render.answers.reason import meaning_data, more_about
from kubectl_sched.render.document import Listing, Said, Sentence
from kubectl_sched.render.table import Column, Table
from kubectl_sched.sources.discovery.scheduler_flags import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.component_statements import Statement
    from kubectl_sched.diagnostics.messages.pasted_text import PastedText
    from kubectl_sched.render.schemas import message as schema

_UNKNOWN = "no text of this component that is known here"


def statement_data(statement: Statement) -> schema.Clause:
    """Return one statement as a clause of the message's data."""
    return {
        "text": statement.text,
        "nodes": None,
        "nodeGroups": statement.groups,
        "nodePool": statement.node_pool or None,
        "component": statement.component,
        "about": "nodeGroups" if statement.groups is not None else "pod",
        **meaning_data(statement.meaning),
    }


def verdict_of(pasted: PastedText) -> str:
    """Return what the other components' statements come to, after the component that says it."""
    statement = pasted.weightiest
    if statement is None:
        return ""
    if statement.groups is not None:
        return f"{statement.component}: it makes no node for the pod; the reasons are those of its node groups."
    node_pools = {each.node_pool for each in pasted.others} - {""}
    if statement.node_pool and len(node_pools) > 1:
        return (
            f"{statement.component}: none of {len(node_pools)} NodePools makes a node for the pod; the table says why."
        )
    return f"{statement.component}: {statement.meaning.says if statement.meaning else statement.text}."


def component_parts(pasted: PastedText) -> Iterator[Said]:
    """Yield a table of what each component says, the one that says most first, and where to read more."""
    statements, weightiest = pasted.others, pasted.weightiest
    first = weightiest.component if weightiest is not None else ""
    ordered = sorted(statements, key=lambda each: (each.component != first, each.component))
    for component, group in groupby(ordered, key=lambda each: each.component):
        not_it = "" if component == NAME else f", not {NAME}"
        yield Sentence(text=f"{component} says{not_it}:", tone="strong", gap=True)
        yield Listing(tables=(_table(list(group)),), caption=component)
    yield from more_about(each.meaning for each in statements)


def _table(statements: list[Statement]) -> Table[Statement]:
    groups: Column[Statement] = Column(
        heading="Node groups", cell=lambda of: "all" if of.groups is None else f"{of.groups:,}", kind="number"
    )
    node_pools: Column[Statement] = Column(heading="NodePool", cell=lambda of: of.node_pool)
    return Table(
        columns=(
            *((groups,) if any(each.groups is not None for each in statements) else ()),
            *((node_pools,) if any(each.node_pool for each in statements) else ()),
            Column(heading="Text", cell=lambda each: each.text, kind="words"),
            Column(heading="In plain words", cell=_in_plain_words, kind="words"),
        ),
        rows=statements,
    )


def _in_plain_words(statement: Statement) -> str:
    known = statement.meaning
    if known is None:
        return _UNKNOWN
    where = "on a new node of the group: " if statement.groups is not None and known.plugin else ""
    helps = "" if where else known.helps
    return "; ".join(filter(None, (f"{where}{known.says}", helps)))

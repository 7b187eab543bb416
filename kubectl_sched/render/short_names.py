"""Names of nodes on a screen: without the domain that the names of all nodes share, which commands and quotes keep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.queries.verdict.wording import shared_domain, without_domain
from kubectl_sched.render.document import Ladder, Listing, Notes, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.render.document import Document, Said
    from kubectl_sched.render.table import Column, Row, Table

    Shorten = Callable[[str], str]


def with_short_names(document: Document) -> Document:
    """Return the Document with short names. Columns of names shorten theirs by themselves where they are too wide."""
    if not shared_domain(tuple(document.nodes)):
        return document
    return _shortened(document, partial(without_domain, names=document.nodes))


def _shortened(document: Document, shorten: Shorten) -> Document:
    notes = document.notes
    return replace(
        document,
        parts=tuple(_part(said, shorten) for said in document.parts),
        notes=Notes(changing=tuple(map(shorten, notes.changing)), premises=tuple(map(shorten, notes.premises))),
        details=tuple(_shortened(each, shorten) for each in document.details),
    )


def _part(said: Said, shorten: Shorten) -> Said:
    match said:
        case Sentence():
            return replace(said, text=shorten(said.text))
        case Listing():
            tables = tuple(_table(each, shorten) for each in said.tables)
            return replace(said, tables=tables, lean=tuple(_part(each, shorten) for each in said.lean))
        case Ladder():
            return replace(said, rungs=tuple(replace(rung, text=shorten(rung.text)) for rung in said.rungs))
        case _:
            return said


def _table(table: Table[Any], shorten: Shorten) -> Table[Any]:
    columns = tuple(each if each.kind == "name" else _column(each, shorten) for each in table.columns)
    return replace(table, columns=columns, below=shorten(table.below))


def _column(column: Column[Row], shorten: Shorten) -> Column[Row]:
    return replace(column, cell=lambda row: shorten(column.cell(row)))

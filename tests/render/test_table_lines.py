"""Tables as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.text.table_lines import table_lines
from tests.examples import examples

if TYPE_CHECKING:
    from kubectl_sched.render.table import Kind

CELLS = st.text(st.sampled_from("ab -.\x07\x1b\n\u202eä愛"), max_size=12)
KINDS: tuple[Kind, ...] = ("name", "text", "number", "words")


@st.composite
def tables(draw: st.DrawFn) -> Table[int]:
    """A table of each kind of column."""
    rows = draw(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=4))
    columns = tuple(
        Column[int](heading=kind.title(), cell=lambda row, at=at: rows[row][at], kind=kind)  # type: ignore[misc]
        for at, kind in enumerate(KINDS)
    )
    return Table(columns=columns, rows=range(len(rows)))


@given(tables(), st.integers(10, 80))
@settings(max_examples=examples(100))
def test_lines_do_not_depend_on_there_being_tones(table: Table[int], width: int) -> None:
    toned = replace(table, columns=(*table.columns[:-1], replace(table.columns[-1], tone=lambda _: "")))
    assert table_lines(table, width) == table_lines(toned, width)

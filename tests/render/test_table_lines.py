"""Tables as lines of text."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.table import Column, Table, without_common_prefix
from kubectl_sched.render.writers.first_screen import length
from kubectl_sched.render.writers.table_lines import first_that_fits, table_lines, with_bars
from tests.examples import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@given(tables(), st.integers(4, 40))
@settings(max_examples=examples(100))
def test_only_a_name_or_a_word_is_wider_than_the_terminal(table: Table[int], width: int) -> None:
    names = {safe(row[0]).strip() for row in (table.headings, *table.texts)}
    wide = [line.plain.strip() for line in table_lines(table, width) if length(line.plain) > width]
    assert [text for text in wide if " " in text and text not in names | set(without_common_prefix(list(names)))] == []


def of_numbers(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table[tuple[str, ...]]:
    """A table of names with numbers."""
    columns = (
        Column[tuple[str, ...]](heading=heading, cell=itemgetter(place), kind="number" if place else "name")
        for place, heading in enumerate(headings)
    )
    return Table(columns=tuple(columns), rows=rows)


def test_a_row_that_is_only_a_name_leaves_the_columns_as_they_are() -> None:
    table = of_numbers(("Pool", "Free"), [("a title of many words", ""), ("  cpu", "2"), ("  memory", "8Gi")])
    assert [line.plain for line in table_lines(table, 18)] == [
        "Pool      Free",
        "a title of many",
        "words",
        "  cpu        2",
        "  memory   8Gi",
    ]


def test_columns_that_do_not_fit_stand_below_their_rows() -> None:
    rows = [("worker-1", "100 of 2,000", "1 of 110"), ("worker-2", "200 of 2,000", "2 of 110")]
    table = of_numbers(("Node", "CPU", "Pods"), rows)
    assert [line.plain for line in table_lines(table, 24)] == [
        "Node               CPU",
        "  Pods",
        "worker-1  100 of 2,000",
        "  1 of 110",
        "worker-2  200 of 2,000",
        "  2 of 110",
    ]


def test_bars_stand_below_each_other_and_no_name_is_shortened_for_them() -> None:
    names = ["node-of-the-pool-1", "node-of-the-pool-2"]
    amounts = dict(zip(names, ("4 of 16", "1,234 of 5,000"), strict=True))
    table: Table[str] = Table(
        columns=(
            Column(heading="Node", cell=str, kind="name", among=names),
            Column(heading="Requested", cell=amounts.__getitem__, share=lambda _: (0.5,)),
        ),
        rows=names,
    )

    def drawn(width: int) -> list[str]:
        return [str(line) for line in table_lines(first_that_fits(list(with_bars(table, width)), width), width)][1:]

    assert drawn(60) == [f"{name}  {'#' * 10}{'.' * 10} {amounts[name]:>14}" for name in names]
    assert drawn(41) == [f"{name}  ###... {amounts[name]:>14}" for name in names]
    assert drawn(40) == [f"{name}  {amounts[name]}" for name in names]

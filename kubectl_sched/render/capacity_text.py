"""The page about capacity on a terminal: shapes, what is stranded, and pools with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.capacity import (
    about_pool,
    about_stranded,
    capacity_sentence,
    pool_table,
    resources_asked_for,
    shape_table,
)
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.writers.note_lines import note_lines
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import first_that_fits, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.capacity import Answer
    from kubectl_sched.render.display import Display

_POOLS_SHOWN = 10
_BARS = (40, 20, 16, 12, 10, 8, 6, 4, 0)


def page(answer: Answer, display: Display, width: int) -> Iterator[Text]:
    """Yield the page line by line, for so many columns."""
    yield Text(capacity_sentence(answer), style="bold")
    if answer.shapes:
        yield Text("")
        yield from table_lines(shape_table(answer), width)
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    if stranded:
        yield Text("")
        yield from map(Text, stranded)
    if answer.pools:
        yield Text("")
        yield from _pools(answer, width, everything=display.is_wide)
    if answer.notes:
        yield Text("")
        yield from note_lines(answer.notes, width, display)


def _pools(answer: Answer, width: int, *, everything: bool) -> Iterator[Text]:
    shown = answer.pools if everything else answer.pools[:_POOLS_SHOWN]
    pools = [(pool, pool.resources if everything else resources_asked_for(pool, answer)) for pool in shown]
    tables = [pool_table(pools, length) for length in _BARS]
    yield from table_lines(first_that_fits(tables, width), width)
    yield Text("Bars: # requested, x stranded, . free.")
    if everything:
        yield from (Text(about_pool(pool)) for pool in shown)
    if len(answer.pools) > len(shown):
        yield Text(f"and {count(len(answer.pools) - len(shown), 'more pool')} (-o wide has all)")

"""The page about capacity on a terminal: shapes, what is stranded, and pools with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.render.capacity_sentences import (
    about_stranded,
    bar,
    capacity_sentence,
    fits_text,
    pods_text,
    pool_text,
    requests_text,
    resource_texts,
    resources_asked_for,
)
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.text.tables import aligned, one_line_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.capacity import Answer, Resource

_POOLS_SHOWN = 10
_WIDTH = 200
_BARS = (20, 12, 8, 4, 0)
_HEADINGS = ("POOL (NODES)", "REQUESTED", "FREE", "STRANDED", "LARGEST POD")
_NUMBERS = frozenset({2, 3})


def page(answer: Answer, width: int, *, everything: bool) -> Iterator[Text]:
    """Yield the page line by line, each row of a table on one line of at most so many columns."""
    width = min(width, _WIDTH)
    yield Text(capacity_sentence(answer), style="bold")
    if answer.shapes:
        yield Text("")
        rows = [
            (safe(each.shape.name), pods_text(each), fits_text(each), requests_text(each.requests))
            for each in answer.shapes
        ]
        yield from one_line_each(("SHAPE", "PODS", "FITS", "REQUESTS"), rows, width, numbers=frozenset({2}))
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    if stranded:
        yield Text("")
        yield from map(Text, stranded)
    yield Text("")
    yield from _pools(answer, width, everything=everything)
    if answer.notes:
        yield Text("")
        yield from (Text(f"note: {safe(note)}") for note in answer.notes)


def _pools(answer: Answer, width: int, *, everything: bool) -> Iterator[Text]:
    """Yield the pools, each with a line for each resource below it."""
    shown = answer.pools if everything else answer.pools[:_POOLS_SHOWN]
    resources = [pool.resources if everything else resources_asked_for(pool, answer) for pool in shown]
    tables = [_rows([each for of_pool in resources for each in of_pool], bar_length) for bar_length in _BARS]
    rows = next((each for each in tables if max(map(len, aligned([_HEADINGS, *each]))) <= width), tables[-1])
    heading, *lines = one_line_each(_HEADINGS, rows, width, numbers=_NUMBERS)
    yield heading
    for pool, of_pool in zip(shown, resources, strict=True):
        yield Text(pool_text(pool))
        yield from lines[: len(of_pool)]
        del lines[: len(of_pool)]
    yield Text("Bars: # requested, x stranded, . free.")
    if len(answer.pools) > len(shown):
        yield Text(f"and {count(len(answer.pools) - len(shown), 'more pool')} (-o wide has all)")


def _rows(resources: Sequence[Resource], bar_length: int) -> list[tuple[str, ...]]:
    drawn = (f"{bar(each, bar_length)} ".lstrip() for each in resources)
    texts = map(resource_texts, resources)
    return [
        (f"  {safe(each.name)}", f"{picture}{requested}", *amounts)
        for each, picture, (requested, *amounts) in zip(resources, drawn, texts, strict=True)
    ]

"""Sentences about room: how many pods of a shape fit, and what is free where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.queries.capacity import Answer, Pool, Resource, ShapeCapacity

_REASONS_SHOWN = 3
_ALWAYS_SHOWN = frozenset({"cpu", "memory"})


def capacity_sentence(answer: Answer) -> str:
    """Return the sentence with the number of nodes and of the shapes that fit."""
    nodes = count(sum(len(pool.nodes) for pool in answer.pools), "node")
    if not answer.shapes:
        return f"{nodes}, and no pods whose shape could be tried: name one with --shape."
    fitting = sum(each.capacity.total > 0 for each in answer.shapes)
    if len(answer.shapes) == 1:
        return f"{fits_text(answer.shapes[0])} more pods of {safe(answer.shapes[0].shape.name)} fit on {nodes}."
    return f"{fitting} of {len(answer.shapes)} shapes of pods fit at least once more on {nodes}."


def fits_text(found: ShapeCapacity) -> str:
    """Return the number of pods that fit: `12`, or `1,000+` where the counting stopped there."""
    return f"{found.capacity.total:,}{'+' if found.capacity.at_least else ''}"


def requests_text(requests: Mapping[str, int]) -> str:
    """Return requests as `cpu=4 memory=16Gi`."""
    return " ".join(f"{safe(name)}={amount_texts(name, amount)[0]}" for name, amount in requests.items()) or "nothing"


def pods_text(found: ShapeCapacity) -> str:
    """Return the number of pods that have the shape: `12, 3 pending`."""
    running, pending = found.shape.running, found.shape.pending
    return f"{running + pending:,}" + (f", {pending:,} pending" if pending else "")


def about_stranded(found: ShapeCapacity) -> Iterator[str]:
    """Yield a sentence on what is free where none of the pods fits: on the scarcest resource that they request."""
    for each in sorted(found.stranded, key=lambda each: each.free / found.requests[each.resource])[:1]:
        if not each.stranded:
            continue
        shown = each.blocked_by[:_REASONS_SHOWN]
        free, stranded, *there = amount_texts(each.resource, each.free, each.stranded, *(one.free for one in shown))
        reasons = [
            f"{safe(', '.join(blocked.reasons))} ({count(blocked.nodes, 'node')}, {amount})"
            for blocked, amount in zip(shown, there, strict=True)
        ]
        more = len(each.blocked_by) - _REASONS_SHOWN
        why = "; ".join(reasons) + (f"; and {count(more, 'more reason')}" if more > 0 else "")
        resource, name = safe(each.resource), safe(found.shape.name)
        yield f"{stranded} of {free} free {resource} is on nodes where no pod of {name} fits: {why}."


def resources_asked_for(pool: Pool, answer: Answer) -> list[Resource]:
    """Return cpu, memory, and what else the shapes request."""
    asked = _ALWAYS_SHOWN.union(*(each.requests for each in answer.shapes))
    return [each for each in pool.resources if each.name in asked]


def resource_texts(found: Resource) -> tuple[str, str, str, str]:
    """Return `12 of 48` requested, the free and stranded amounts, and `8 on gpu-1`, the largest pod."""
    allocatable, requested, free, stranded, largest = amount_texts(
        found.name, found.allocatable, found.requested, found.free, found.stranded, found.largest
    )
    on = f" on {safe(found.largest_on)}" if found.largest_on is not None else ""
    return f"{requested} of {allocatable}", free, stranded, f"{largest}{on}"


def bar(found: Resource, length: int) -> str:
    """Return a bar: `#` requested, `x` free but stranded, `.` free."""
    whole = max(found.allocatable, found.requested, 1)
    requested = max(0, round(length * found.requested / whole))
    stranded = min(round(length * found.stranded / whole), length - requested)
    return f"{'#' * requested}{'x' * stranded}{'.' * (length - requested - stranded)}"


def pool_text(pool: Pool) -> str:
    """Return the pool with the number of its nodes."""
    return f"{safe(pool.name)} ({len(pool.nodes):,})"


def shape_table(answer: Answer) -> Table[ShapeCapacity]:
    """The shapes, and how many more pods of each fit."""
    return Table(
        columns=(
            Column(heading="Shape", cell=lambda each: each.shape.name, kind="name"),
            Column(heading="Pods", cell=pods_text),
            Column(heading="Fits", cell=fits_text, kind="number"),
            Column(heading="Requests", cell=lambda each: requests_text(each.requests), kind="words"),
        ),
        rows=answer.shapes,
    )


def about_pool(pool: Pool) -> str:
    """Return how many more pods of each shape fit in the pool, the most first."""
    fitting = sorted((each for each in pool.shapes if each.fits), key=lambda each: -each.fits)
    named = ", ".join(f"{each.fits:,} of {safe(each.name)}" for each in fitting)
    return f"{safe(pool.name)}: {named} fit." if named else f"{safe(pool.name)}: no pod of the shapes fits."


def pool_table(
    pools: Sequence[tuple[Pool, Sequence[Resource]]], bar_length: int = 0
) -> Table[tuple[Pool, Resource | None]]:
    """Each pool, and below it its resources after bars of some length."""

    def name(row: tuple[Pool, Resource | None]) -> str:
        return pool_text(row[0]) if row[1] is None else f"  {row[1].name}"

    def amount(index: int) -> Callable[[tuple[Pool, Resource | None]], str]:
        return lambda row: "" if row[1] is None else resource_texts(row[1])[index]

    def bar_of(row: tuple[Pool, Resource | None]) -> str:
        return "" if row[1] is None else bar(row[1], bar_length)

    return Table(
        columns=(
            Column(heading="Pool (nodes)", cell=name, kind="name"),
            *([Column(heading="", cell=bar_of, kind="number")] if bar_length else []),
            Column(heading="Requested", cell=amount(0), kind="number"),
            Column(heading="Free", cell=amount(1), kind="number"),
            Column(
                heading="Stranded",
                cell=amount(2),
                kind="number",
                tone=lambda row: "bad" if row[1] is not None and row[1].stranded else "",
            ),
            Column(heading="Largest pod", cell=amount(3), kind="name"),
        ),
        rows=[(pool, each) for pool, resources in pools for each in (None, *resources)],
    )

"""The tables of `capacity`: pools by zone, resources by pool, and shapes of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.resource_names import PODS, is_extended_resource_name
from kubectl_sched.framework.amounts import amount_texts, request_text
from kubectl_sched.queries.verdict.wording import noun
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.queries.capacity import CapacityAnswer
    from kubectl_sched.queries.room.pool_room import Pool, Resource
    from kubectl_sched.queries.room.shape_room import ShapeCapacity

NONE: Final = "-"
_ALWAYS_SHOWN: Final = frozenset({"cpu", "memory"})
_WHOLE: Final = ("a", "b")
"""Names that share no beginning: cells that belong to them are not shortened."""


def place_text(pool: Pool) -> str:
    """Return `gpu-a100 in eu-west-1a`."""
    return safe(f"{_name_text(pool)} in {pool.zone}" if pool.zone else _name_text(pool))


def _name_text(pool: Pool) -> str:
    """Return the value of the pool's label; of a pool without one the roles and taints."""
    key, _, value = pool.name.partition("=")
    return value if value and " " not in key else pool.name


def shown_full(pool: Pool) -> list[str]:
    """Return the resources of which next to nothing is free, without the number of pods unless it alone is full."""
    full = [each for each in pool.full if each != PODS]
    return full or list(pool.full)


def fits_text(found: ShapeCapacity) -> str:
    """Return the number of pods that fit: `12`, `1,000+` where the counting stopped there, or `unknown`."""
    if not found.is_known:
        return "unknown"
    return f"{found.capacity.total:,}{'+' if found.capacity.at_least else ''}"


def requests_text(found: ShapeCapacity) -> str:
    """Return what a pod of the shape requests as `cpu=4 memory=16Gi`."""
    texts = ((name, request_text(found.shape.pod, name, amount)) for name, amount in found.requests.items())
    return " ".join(f"{safe(name)}={safe(text)}" for name, text in texts) or "nothing"


def shape_text(found: ShapeCapacity) -> str:
    """Return the name of the shape, and how many more workloads have it: `shop/Deployment/web +2`."""
    others = found.shape.workloads - 1
    return f"{found.shape.name} +{others:,}" if others > 0 else found.shape.name


def pods_text(found: ShapeCapacity) -> str:
    """Return the number of pods that have the shape: `12 running`, `3 pending`."""
    running, pending = found.shape.running, found.shape.pending
    told = (f"{pending:,} pending" if pending else "", f"{running:,} running" if running else "")
    return ", ".join(filter(None, told)) or NONE


def resources_asked_for(pool: Pool, answer: CapacityAnswer) -> list[Resource]:
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


def pool_text(pool: Pool) -> str:
    """Return the pool with its zone and the number of its nodes."""
    return safe(f"{pool.name}{f' {pool.zone}' if pool.zone else ''} ({len(pool.nodes):,})")


def zone_tables(answer: CapacityAnswer, pools: Sequence[Pool]) -> tuple[Table[Pool], ...]:
    """Return a row for each pool in each zone: what is free, the largest hole, its node, and what is full.

    The narrower tables lack the node, then the hole, and then of how much it is free.
    """
    asked = {each.name for pool in pools for each in resources_asked_for(pool, answer)}
    names = [*sorted(_ALWAYS_SHOWN), *sorted(asked - _ALWAYS_SHOWN)]
    first: tuple[Column[Pool], ...] = (
        Column(heading="Pool", cell=_name_text, kind="name"),
        Column(heading="Zone", cell=lambda pool: pool.zone or NONE, kind="name", among=_WHOLE),
        Column(heading="Nodes", cell=lambda pool: f"{len(pool.nodes):,}", kind="number"),
    )
    free, of_all = (tuple(_free_column(name, of_all=of_all) for name in names) for of_all in (False, True))
    heading = "Full or closed" if any(pool.closed for pool in pools) else "Full"
    full: Column[Pool] = Column(heading=heading, cell=full_text, kind="name", among=_WHOLE, tone=lambda _: "bad")
    hole: Column[Pool] = Column(heading="Largest hole", cell=hole_text, kind="name", among=_WHOLE)
    everywhere = [name for pool in answer.pools for name in pool.nodes]
    on: Column[Pool] = Column(heading="on", cell=lambda pool: pool.hole_on or NONE, kind="name", among=everywhere)
    last = (full,) if any(map(full_text, pools)) else ()
    ends = ((*of_all, hole, on, *last), (*of_all, hole, *last), (*of_all, *last), (*free, *last))
    return tuple(Table(columns=(*first, *end), rows=pools) for end in ends)


def _free_column(name: str, *, of_all: bool) -> Column[Pool]:
    def cell(pool: Pool) -> str:
        found = next((each for each in pool.resources if each.name == name), None)
        if found is None:
            return NONE
        free, whole = amount_texts(name, found.free, found.allocatable)
        return f"{free} of {whole}" if of_all else free

    return Column(heading=f"Free {noun(safe(name))}", cell=cell, kind="number")


def hole_text(pool: Pool) -> str:
    """Return `6 cpu, 28Gi, 2 GPUs`: the free amounts of one node."""
    if not pool.hole:
        return NONE
    cpu, memory = (amount_texts(name, pool.hole.get(name, 0))[0] for name in ("cpu", "memory"))
    rare = [name for name in pool.hole if is_extended_resource_name(name)]
    return ", ".join((f"{cpu} cpu", memory, *(f"{pool.hole[name]:,} {noun(safe(name))}" for name in rare)))


def full_text(pool: Pool) -> str:
    """Return what is full: `cpu, memory`; why no node takes pods where none does: `cordoned`, `not ready`."""
    return safe(pool.closed) or ", ".join(map(noun, shown_full(pool)))


def shape_table(answer: CapacityAnswer, *, with_requests: bool = True) -> Table[ShapeCapacity]:
    """Return a row for each shape: how many more pods of it fit, or why none does."""
    requests: Column[ShapeCapacity] = Column(heading="Requests", cell=requests_text)
    why: Column[ShapeCapacity] = Column(heading="Why none", cell=lambda each: each.why, kind="words")
    named = "Shape" if answer.is_of_flags else "Workload"
    return Table(
        columns=(
            Column(heading=named, cell=shape_text, kind="name"),
            Column(heading="Pods", cell=pods_text),
            Column(heading="Fits", cell=fits_text, kind="number"),
            *((requests,) if with_requests else ()),
            *((why,) if any(each.why for each in answer.shapes) else ()),
        ),
        rows=answer.shapes,
    )


def pool_table(pools: Sequence[tuple[Pool, Sequence[Resource]]]) -> Table[tuple[Pool, Resource | None]]:
    """Each pool, and below it its resources."""

    def name(row: tuple[Pool, Resource | None]) -> str:
        return pool_text(row[0]) if row[1] is None else f"  {row[1].name}"

    def amount(index: int) -> Callable[[tuple[Pool, Resource | None]], str]:
        return lambda row: "" if row[1] is None else resource_texts(row[1])[index]

    def shares(row: tuple[Pool, Resource | None]) -> tuple[float, ...]:
        if row[1] is None:
            return ()
        whole = max(row[1].allocatable, row[1].requested, 1)
        return row[1].requested / whole, row[1].stranded / whole

    return Table(
        columns=(
            Column(heading="Pool (nodes)", cell=name, kind="name"),
            Column(heading="Requested", cell=amount(0), kind="number", share=shares),
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
        about_bars="Bars: # requested, x stranded, . free.",
    )

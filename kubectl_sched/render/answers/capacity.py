"""The answer of `capacity`: how many pods of a shape fit, and what is free where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.amounts import amount_texts, unit_of
from kubectl_sched.record import plain
from kubectl_sched.render.document import Document, Heats, Listing, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.queries.capacity import CapacityAnswer, Pool, Resource, ShapeCapacity, Stranded
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import capacity as schema

_REASONS_SHOWN = 3
_POOLS_SHOWN = 10
_CELLS = 10_000
"""The number of cells that the heat maps of a page have together."""

_ALWAYS_SHOWN = frozenset({"cpu", "memory"})


def shown_capacity(answer: CapacityAnswer) -> Shown:
    """Return the answer in each form."""
    return Shown(
        document=lambda display: capacity_document(answer, display),
        data=lambda: capacity_data(answer),
        names=lambda: (f"shape/{each.shape.name} {each.capacity.total}" for each in answer.shapes),
        remarks=lambda: answer.notes,
    )


def capacity_document(answer: CapacityAnswer, display: Display) -> Document:
    """Return the shapes that fit, what is stranded for each, and the pools of nodes."""
    return Document(
        verdict=Verdict(text=capacity_sentence(answer)),
        parts=tuple(_parts(answer, display)),
        notes=notes_of((), answer.notes),
        facts=(("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),),
        heading="Capacity",
        command="capacity",
    )


def _parts(answer: CapacityAnswer, display: Display) -> Iterator[Said]:
    in_full = display.in_full
    if answer.shapes:
        caption = "How many more pods of each shape fit"
        yield Listing(tables=(shape_table(answer),), caption=caption, gap=True)
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    yield from (Sentence(text=each, gap=not number) for number, each in enumerate(stranded))
    shown = answer.pools if in_full else answer.pools[:_POOLS_SHOWN]
    if not shown:
        return
    pools = [(pool, pool.resources if in_full else resources_asked_for(pool, answer)) for pool in shown]
    more = len(answer.pools) - len(shown)
    yield Listing(
        tables=(pool_table(pools),),
        caption="Free is stranded where no pod of the shapes that request it fits",
        more=f"and {count(more, 'more pool')} (-o wide has all)" if more else "",
        gap=True,
    )
    for pool in shown if in_full else ():
        yield Sentence(text=about_pool(pool))
        if display.is_page:
            yield _heats(pool, resources_asked_for(pool, answer), max(1, _CELLS // len(answer.pools)))


def _heats(pool: Pool, shown: Sequence[Resource], most: int) -> Heats:
    """Return the share of each resource that is requested on each node, the fullest first."""
    fullest = sorted(range(len(pool.nodes)), key=lambda node: (-pool.fullness[node], pool.nodes[node]))
    nodes = fullest[: max(1, most // max(len(shown), 1))]
    return Heats(
        resources=tuple(
            (
                each.name,
                tuple((pool.nodes[node], float(each.shares[node]), bool(each.is_stranded[node])) for node in nodes),
            )
            for each in shown
        )
    )


def capacity_sentence(answer: CapacityAnswer) -> str:
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
    """Return the pool with the number of its nodes."""
    return f"{safe(pool.name)} ({len(pool.nodes):,})"


def shape_table(answer: CapacityAnswer) -> Table[ShapeCapacity]:
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


def capacity_data(answer: CapacityAnswer) -> schema.Capacity:
    """Return the Capacity of the contract. Amounts are the scheduler's: cpu in millicores, memory in bytes."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Capacity",
        "kubernetesVersion": answer.kubernetes_version,
        "kubernetesPatch": answer.kubernetes_patch,
        "shapes": [_shape(each) for each in answer.shapes],
        "pools": [_pool(each) for each in answer.pools],
        "warnings": list(answer.notes),
    }


def _shape(found: ShapeCapacity) -> schema.Shape:
    shape, capacity = found.shape, found.capacity
    names = capacity.first.nodes.names
    per_node = {names[row]: int(capacity.per_node[row]) for row in capacity.per_node.nonzero()[0].tolist()}
    return {
        "name": shape.name,
        "requests": dict(found.requests),
        "fits": capacity.total,
        "atLeast": capacity.at_least,
        "perNode": dict(sorted(per_node.items())),
        "running": shape.running,
        "pending": shape.pending,
        "workloads": shape.workloads,
        "leftAside": list(shape.left_aside),
        "event": capacity.first.event,
        "stranded": [_stranded(each) for each in found.stranded],
    }


def _stranded(found: Stranded) -> schema.StrandedAmount:
    return {
        "resource": found.resource,
        "unit": unit_of(found.resource),
        "free": found.free,
        "stranded": found.stranded,
        "blockedBy": plain(found.blocked_by),
    }


def _pool(pool: Pool) -> schema.Pool:
    return {
        "name": pool.name,
        "nodes": len(pool.nodes),
        "resources": [_resource(each) for each in pool.resources],
        "shapes": [
            {"name": each.name, "fits": each.fits, "stranded": [_stranded(part) for part in each.stranded]}
            for each in pool.shapes
        ],
    }


def _resource(found: Resource) -> schema.Resource:
    return {
        "name": found.name,
        "unit": unit_of(found.name),
        "allocatable": found.allocatable,
        "requested": found.requested,
        "free": found.free,
        "stranded": found.stranded,
        "overcommitted": found.overcommitted,
        "largest": found.largest,
        "largestOn": found.largest_on,
    }

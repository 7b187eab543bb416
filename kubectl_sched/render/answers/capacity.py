"""The answer of `capacity`: the room by pool and zone, how many more pods fit, and what is free where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.framework.amounts import amount_texts, unit_of
from kubectl_sched.queries.unreadable_kinds import kinds_in_words
from kubectl_sched.queries.verdict.wording import noun
from kubectl_sched.record import plain
from kubectl_sched.render.answers.drain import unreadable_data
from kubectl_sched.render.capacity_tables import (
    fits_text,
    place_text,
    pool_table,
    resources_asked_for,
    shape_table,
    shown_full,
    zone_tables,
)
from kubectl_sched.render.document import Document, Heats, Listing, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.kubectl_names import kubectl_name
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.show import Shown
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.capacity import CapacityAnswer
    from kubectl_sched.queries.room.pool_room import Pool, Resource
    from kubectl_sched.queries.room.shape_room import ShapeCapacity, Stranded
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import capacity as schema

_REASONS_SHOWN = 3
_POOLS_SHOWN = 20
_FULL_SHOWN = 3
_STRANDED_SHOWN = 5
_CELLS = 10_000
"""The number of cells that the heat maps of a page have together."""


def shown_capacity(answer: CapacityAnswer) -> Shown:
    """Return the answer in each form."""
    return Shown(
        document=lambda display: capacity_document(answer, display),
        data=lambda: capacity_data(answer),
        names=lambda: map(_name, answer.shapes),
        remarks=lambda: answer.notes,
    )


def capacity_exit_code(answer: CapacityAnswer) -> int:
    """Return 3 where the room of a shape rests on a kind that was not read, else 0."""
    return 0 if answer.is_known else UNKNOWN_EXIT_CODE


def _name(found: ShapeCapacity) -> str:
    """Return `deployment.apps/web` for a workload; a shape of --shape is no object that kubectl knows."""
    shape = found.shape
    return f"shape/{shape.name}" if shape.source == "flag" else kubectl_name(shape.name.partition("/")[2])


def capacity_document(answer: CapacityAnswer, display: Display) -> Document:
    """Return the pools by zone, and how many more pods fit; for shapes of --shape first these, and what is stranded."""
    return Document(
        verdict=Verdict(text=capacity_sentence(answer)),
        parts=tuple(_parts(answer, display)),
        notes=notes_of(answer.changing, answer.notes),
        facts=(("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),),
        heading="Capacity",
        command="capacity",
    )


def _parts(answer: CapacityAnswer, display: Display) -> Iterator[Said]:
    shapes: Sequence[Said] = ()
    if answer.shapes:
        tables = (shape_table(answer), shape_table(answer, with_requests=False))
        shapes = (Listing(tables=tables, caption="How many more pods fit", gap=True),)
    if answer.is_of_flags:
        yield from shapes
        yield from _stranded_sentences(answer)
        yield from _by_resource(answer, display)
        return
    shown = answer.pools if display.in_full else answer.pools[:_POOLS_SHOWN]
    if shown:
        more = len(answer.pools) - len(shown)
        yield Listing(
            tables=zone_tables(answer, shown),
            caption="Free of all, by pool and zone",
            more=f"and {count(more, 'more pool')} (-o wide has all)" if more else "",
            gap=True,
        )
    stranded = [line for pool in answer.pools for line in stranded_in(pool)]
    yield from (Sentence(text=each, gap=not number) for number, each in enumerate(stranded[:_STRANDED_SHOWN]))
    yield from shapes
    if display.in_full:
        yield from _stranded_sentences(answer)
        yield from _by_resource(answer, display)


def _stranded_sentences(answer: CapacityAnswer) -> Iterator[Sentence]:
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    yield from (Sentence(text=each, gap=not number) for number, each in enumerate(stranded))


def _by_resource(answer: CapacityAnswer, display: Display) -> Iterator[Said]:
    """Yield each pool with its resources, and on pages each node."""
    in_full = display.in_full
    shown = answer.pools if in_full else answer.pools[:_POOLS_SHOWN]
    if not shown:
        return
    pools = [(pool, pool.resources if in_full else resources_asked_for(pool, answer)) for pool in shown]
    more = len(answer.pools) - len(shown)
    yield Listing(
        tables=(pool_table(pools),),
        caption="Free is stranded where no pod that requests it fits",
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
    """Return the sentence with the number of pending workloads that a pod more fits of, and with what is full."""
    nodes = count(sum(len(pool.nodes) for pool in answer.pools), "node")
    if answer.is_of_flags:
        if len(answer.shapes) == 1:
            if not answer.is_known:
                return (
                    f"Nobody can say how many more pods of {safe(answer.shapes[0].shape.name)} fit: {_unread(answer)}."
                )
            return f"{fits_text(answer.shapes[0])} more pods of {safe(answer.shapes[0].shape.name)} fit on {nodes}."
        fitting = sum(each.capacity.total > 0 for each in answer.shapes if each.is_known)
        is_open = "" if answer.is_known else f"; of others it is not known: {_unread(answer)}"
        return f"{fitting} of {len(answer.shapes)} shapes of pods fit at least once more on {nodes}{is_open}."
    pending = [each for each in answer.shapes if each.shape.source == "pending"]
    workloads = _about_pending(answer, pending) if pending else "no workload is pending"
    if not all(each.is_known for each in answer.shapes if each not in pending):
        workloads += f"; the room of running workloads is not known: {_unread(answer)}"
    full = [f"{place_text(pool)} ({', '.join(map(noun, told))})" for pool in answer.pools if (told := shown_full(pool))]
    shown, more = full[:_FULL_SHOWN], len(full) - _FULL_SHOWN
    if more > 0:
        shown.append(f"{more:,} more")
    return "; ".join(filter(None, (nodes, workloads, f"full: {listed(shown)}" if shown else ""))) + "."


def _about_pending(answer: CapacityAnswer, pending: Sequence[ShapeCapacity]) -> str:
    """Return how many of the pending workloads fit once more, and of how many it is not known."""
    unknown = [each for each in pending if not each.is_known]
    if len(unknown) == len(pending):
        return f"of {count(len(pending), 'pending workload')} it is not known: {_unread(answer)}"
    fitting = sum(each.capacity.total > 0 for each in pending if each.is_known)
    fit = f"{fitting:,} of {count(len(pending), 'pending workload')} {'fits' if len(pending) == 1 else 'fit'}"
    return f"{fit}, of {len(unknown):,} it is not known: {_unread(answer)}" if unknown else fit


def _unread(answer: CapacityAnswer) -> str:
    kinds = (kind for each in answer.shapes if not each.is_known for kind in each.unread if kind.is_known)
    return kinds_in_words(dict.fromkeys(kinds))


def stranded_in(pool: Pool) -> Iterator[str]:
    """Yield a sentence for each extended resource that is free on nodes where no pod that requests it fits."""
    for each in pool.resources:
        if each.stranded and is_extended_resource_name(each.name):
            free, stranded = amount_texts(each.name, each.free, each.stranded)
            nodes = count(int(each.is_stranded.sum()), "node")
            yield (
                f"Stranded in {place_text(pool)}: {stranded} of {free} free {noun(safe(each.name))}, on {nodes} where "
                "no pod that requests any fits."
            )


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


def about_pool(pool: Pool) -> str:
    """Return how many more pods of each shape fit in the pool, the most first."""
    fitting = sorted((each for each in pool.shapes if each.fits), key=lambda each: -each.fits)
    named = ", ".join(f"{each.fits:,} of {safe(each.name)}" for each in fitting)
    return f"{place_text(pool)}: {named} fit." if named else f"{place_text(pool)}: no pod of the shapes fits."


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
        "source": shape.source,
        "requests": dict(found.requests),
        "fits": capacity.total,
        "isKnown": found.is_known,
        "unreadable": [unreadable_data(each) for each in found.unread],
        "atLeast": capacity.at_least,
        "perNode": dict(sorted(per_node.items())),
        "running": shape.running,
        "pending": shape.pending,
        "workloads": shape.workloads,
        "leftAside": list(shape.left_aside),
        "why": found.why or None,
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
        "zone": pool.zone,
        "nodes": len(pool.nodes),
        "largestHole": dict(pool.hole),
        "largestHoleOn": pool.hole_on,
        "closed": pool.closed or None,
        "full": list(pool.full),
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

"""The answer of `capacity`: as data, as names, and as pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.framework.amounts import unit_of
from kubectl_sched.output import API_VERSION, write_page
from kubectl_sched.record import plain
from kubectl_sched.render.writers.data import warn, write_data, write_names

if TYPE_CHECKING:
    from kubectl_sched.queries.capacity import Answer, Pool, Resource, ShapeCapacity, Stranded
    from kubectl_sched.render.display import Display


def show_capacity(answer: Answer, display: Display) -> None:
    """Print the answer."""
    if display.output in {"json", "yaml"}:
        write_data(capacity_data(answer), display.output)
    elif display.output == "name":
        write_names(f"shape/{each.shape.name} {each.capacity.total}" for each in answer.shapes)
        warn(answer.notes)
    elif display.output == "html":
        from kubectl_sched.render.writers.html import capacity_html

        write_page(capacity_html(answer))
    elif display.output == "markdown":
        from kubectl_sched.render.writers.capacity_markdown import capacity_markdown

        write_page(capacity_markdown(answer))
    else:
        from kubectl_sched.render.capacity_text import page
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(page, answer, display), display.color)


def capacity_data(answer: Answer) -> dict[str, Any]:
    """Return the Capacity of the contract. Amounts are the scheduler's: cpu in millicores, memory in bytes."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Capacity",
        "kubernetesVersion": answer.kubernetes_version,
        "shapes": [_shape(each) for each in answer.shapes],
        "pools": [_pool(each) for each in answer.pools],
        "warnings": list(answer.notes),
    }


def _shape(found: ShapeCapacity) -> dict[str, Any]:
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


def _stranded(found: Stranded) -> dict[str, Any]:
    return {"resource": found.resource, "unit": unit_of(found.resource), **plain(found)}


def _pool(pool: Pool) -> dict[str, Any]:
    return {
        "name": pool.name,
        "nodes": len(pool.nodes),
        "resources": [_resource(each) for each in pool.resources],
        "shapes": [
            {"name": each.name, "fits": each.fits, "stranded": [_stranded(part) for part in each.stranded]}
            for each in pool.shapes
        ],
    }


def _resource(found: Resource) -> dict[str, Any]:
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

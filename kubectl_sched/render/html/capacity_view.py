"""The content of the page about capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.capacity_sentences import (
    about_stranded,
    capacity_sentence,
    fits_text,
    pods_text,
    pool_text,
    requests_text,
    resource_texts,
)

if TYPE_CHECKING:
    from kubectl_sched.queries.capacity import Answer, Pool, Resource

_LEVELS = 10


class NodeHeat(Record, frozen=True, kw_only=True):
    """A node, how full it is in percent, and the same in steps from 0 to 10."""

    name: str
    percent: int
    level: int


class ResourceView(Record, frozen=True, kw_only=True):
    """A resource of a pool in words, and the shares of its bar in percent."""

    name: str
    requested: str
    free: str
    stranded: str
    largest: str
    percent: int


class PoolView(Record, frozen=True, kw_only=True):
    """A pool with its resources and a cell of the heat map for each node, the fullest first."""

    name: str
    resources: tuple[ResourceView, ...]
    nodes: tuple[NodeHeat, ...]
    hidden: int


class CapacityView(Record, frozen=True, kw_only=True):
    """The content of the page."""

    sentence: str
    version: str
    shapes: tuple[tuple[str, str, str, str], ...]
    stranded: tuple[str, ...]
    pools: tuple[PoolView, ...]
    notes: tuple[str, ...]


def capacity_view(answer: Answer, most_nodes: int) -> CapacityView:
    """Return the view; `most_nodes` is the number of cells that the heat maps have together."""
    share = max(1, most_nodes // max(len(answer.pools), 1))
    return CapacityView(
        sentence=capacity_sentence(answer),
        version=answer.kubernetes_version,
        shapes=tuple(
            (each.shape.name, pods_text(each), fits_text(each), requests_text(each.requests)) for each in answer.shapes
        ),
        stranded=tuple(line for each in answer.shapes for line in about_stranded(each)),
        pools=tuple(_pool(each, share) for each in answer.pools),
        notes=tuple(dict.fromkeys(answer.notes)),
    )


def _pool(pool: Pool, most: int) -> PoolView:
    fullest = sorted(pool.fullness.items(), key=lambda item: (-item[1], item[0]))
    cells = tuple(
        NodeHeat(name=name, percent=round(100 * share), level=round(_LEVELS * share)) for name, share in fullest[:most]
    )
    resources = tuple(map(_resource, pool.resources))
    return PoolView(name=pool_text(pool), resources=resources, nodes=cells, hidden=max(0, len(fullest) - most))


def _resource(found: Resource) -> ResourceView:
    requested, free, stranded, largest = resource_texts(found)
    share = found.requested / found.allocatable if found.allocatable else 1.0
    return ResourceView(
        name=found.name,
        requested=requested,
        free=free,
        stranded=stranded,
        largest=largest,
        percent=min(100, round(100 * share)),
    )

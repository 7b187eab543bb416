"""The content of the page about capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.answers.capacity import (
    about_pool,
    about_stranded,
    capacity_sentence,
    fits_text,
    pods_text,
    pool_text,
    requests_text,
    resource_texts,
    resources_asked_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.capacity import Answer, Pool, Resource

_LEVELS = 10


class NodeHeat(Record, frozen=True, kw_only=True):
    """A node, the part of a resource that is requested there in percent, the same in tenths, and the stranded rest."""

    name: str
    percent: int
    level: int
    is_stranded: bool


class ResourceHeat(Record, frozen=True, kw_only=True):
    """A cell of the heat map for each node."""

    resource: str
    nodes: tuple[NodeHeat, ...]


class ResourceView(Record, frozen=True, kw_only=True):
    """A resource of a pool in words, and the shares of its bar in percent."""

    name: str
    requested: str
    free: str
    stranded: str
    largest: str
    percent: int


class PoolView(Record, frozen=True, kw_only=True):
    """A pool with its resources, the shapes that fit, and a heat map by resource of its nodes, the fullest first."""

    name: str
    resources: tuple[ResourceView, ...]
    fits: str
    heat: tuple[ResourceHeat, ...]
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
        pools=tuple(_pool(each, resources_asked_for(each, answer), share) for each in answer.pools),
        notes=tuple(dict.fromkeys(answer.notes)),
    )


def _pool(pool: Pool, shown: Sequence[Resource], most: int) -> PoolView:
    fullest = sorted(range(len(pool.nodes)), key=lambda node: (-pool.fullness[node], pool.nodes[node]))
    cells = fullest[: max(1, most // max(len(shown), 1))]
    return PoolView(
        name=pool_text(pool),
        resources=tuple(map(_resource, pool.resources)),
        fits=about_pool(pool),
        heat=tuple(ResourceHeat(resource=each.name, nodes=tuple(_heat(pool, each, cells))) for each in shown),
        hidden=len(fullest) - len(cells),
    )


def _heat(pool: Pool, resource: Resource, nodes: Sequence[int]) -> Iterator[NodeHeat]:
    for node in nodes:
        share = float(resource.shares[node])
        yield NodeHeat(
            name=pool.nodes[node],
            percent=round(100 * share),
            level=round(_LEVELS * share),
            is_stranded=bool(resource.is_stranded[node]),
        )


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

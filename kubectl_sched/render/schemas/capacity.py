"""The answer of `capacity`, as data. Amounts are the scheduler's: cpu in millicores, memory in bytes."""

from typing import TypedDict

from kubectl_sched.queries.room.shape_room import Blocked
from kubectl_sched.render.schemas.common import About, UnreadableKind


class StrandedAmount(TypedDict):
    """A free amount that no pod of the shape can have, with the reasons."""

    resource: str
    unit: str
    free: int
    stranded: int
    blockedBy: list[Blocked]


class Shape(TypedDict):
    """A shape of pods, and how many more of it fit; `atLeast` says that the count was stopped.

    `source` is pending, running or flag. `why` is the verdict on a pod of it where none fits. Where `isKnown` is false,
    `fits` is what all else lets in, and the kinds in `unreadable` may leave fewer or none.
    """

    name: str
    source: str
    requests: dict[str, int]
    fits: int
    isKnown: bool
    unreadable: list[UnreadableKind]
    atLeast: bool
    perNode: dict[str, int]
    running: int
    pending: int
    workloads: int
    leftAside: list[str]
    why: str | None
    event: str | None
    stranded: list[StrandedAmount]


class ShapeInPool(TypedDict):
    """The number of further pods of a shape that fit in the pool."""

    name: str
    fits: int
    stranded: list[StrandedAmount]


class Resource(TypedDict):
    """One resource over the nodes of a pool; `largest` is the most that one pod can request, on `largestOn`."""

    name: str
    unit: str
    allocatable: int
    requested: int
    free: int
    stranded: int
    overcommitted: int
    largest: int
    largestOn: str | None


class Pool(TypedDict):
    """The nodes of one pool in one zone.

    `largestHole` has the free amounts of one node, `largestHoleOn`; `full` the resources of which less than a twentieth
    is free; `closed` says why no node takes pods.
    """

    name: str
    zone: str | None
    nodes: int
    largestHole: dict[str, int]
    largestHoleOn: str | None
    closed: str | None
    full: list[str]
    resources: list[Resource]
    shapes: list[ShapeInPool]


class Capacity(About):
    """The answer of `capacity`."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    shapes: list[Shape]
    pools: list[Pool]
    warnings: list[str]

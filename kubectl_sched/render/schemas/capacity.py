"""The answer of `capacity`, as data. Amounts are the scheduler's: cpu in millicores, memory in bytes."""

from typing import TypedDict

from kubectl_sched.queries.capacity import Blocked
from kubectl_sched.render.schemas.common import About


class StrandedAmount(TypedDict):
    """A free amount that no pod of the shape can have, with the reasons."""

    resource: str
    unit: str
    free: int
    stranded: int
    blockedBy: list[Blocked]


class Shape(TypedDict):
    """A shape of pods, and how many more of it fit; `atLeast` says that the count was stopped."""

    name: str
    requests: dict[str, int]
    fits: int
    atLeast: bool
    perNode: dict[str, int]
    running: int
    pending: int
    workloads: int
    leftAside: list[str]
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
    """The nodes of one pool."""

    name: str
    nodes: int
    resources: list[Resource]
    shapes: list[ShapeInPool]


class Capacity(About):
    """The answer of `capacity`."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    shapes: list[Shape]
    pools: list[Pool]
    warnings: list[str]

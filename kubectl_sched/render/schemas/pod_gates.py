"""A gate that holds a pod back, as data."""

from typing import TypedDict

from kubectl_sched.diagnostics.gates.gate import QueuePlace, Quota, Statement


class Owner(TypedDict):
    """The object of a controller that lifts the gate."""

    kind: str | None
    namespace: str | None
    name: str | None
    controller: str | None


class Manager(TypedDict):
    """The field manager that set the gate, and the time of its last write."""

    manager: str
    lastWrite: str | None


class Queue(TypedDict):
    """The queues that the pod waits in, and their quotas."""

    localQueue: str | None
    clusterQueue: str | None
    cohort: str | None
    parentCohorts: list[str]
    position: QueuePlace | None
    priority: int | None
    created: str | None
    pendingWorkloads: int | None
    waiting: list[str]
    quotas: list[Quota]
    cohortQuotas: list[Quota]


class Ungated(TypedDict):
    """A replay of the pod without its gates, with what one choice of flavors sets on it."""

    flavors: list[str]
    assigned: bool
    nodeSelector: dict[str, str]
    fits: bool
    best: list[str]
    message: str | None
    problem: str | None


class Gate(TypedDict):
    """A gate, or a controller that holds the pod back without one; `fitsUngated` is null without a replay."""

    gate: str | None
    owner: Owner | None
    since: str | None
    setBy: Manager | None
    says: list[Statement]
    facts: list[str]
    queue: Queue | None
    fitsUngated: bool | None
    ungated: list[Ungated]

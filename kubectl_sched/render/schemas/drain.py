"""The answer of `drain`, as data."""

from typing import TypedDict

from kubectl_sched.render.schemas.common import About, Name, OutcomeName, UnreadableKind


class AffectedPod(TypedDict):
    """A pod that a drain loses or leaves, and why."""

    pod: Name
    owner: str | None
    why: str


class BlockedPod(AffectedPod):
    """A pod that cannot be evicted, the PodDisruptionBudget in the way, and the evictions that it allows."""

    by: str | None
    allowed: int | None


class Move(TypedDict):
    """A pod that lands elsewhere."""

    pod: Name
    owner: str | None
    node: str | None
    tied: list[str]


class PendingAfter(TypedDict):
    """A pod that has no place after the drain; outcome Unknown where that rests on a kind that was not read."""

    pod: Name
    owner: str | None
    outcome: OutcomeName
    event: str | None


class NewNode(TypedDict):
    """A node that Karpenter would make."""

    name: str
    nodePool: str
    instanceType: str


class DrainPlan(TypedDict):
    """A drain; `order` is the pods that are evicted together, round by round."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    nodes: list[str]
    outcome: str
    verdict: str
    finishes: bool | None
    blocked: list[BlockedPod]
    lost: list[AffectedPod]
    moves: list[Move]
    pending: list[PendingAfter]
    stays: list[AffectedPod]
    order: list[list[str]]
    newNodes: list[NewNode]
    unreadable: list[UnreadableKind]
    commands: list[str]


class Drain(About, DrainPlan):
    """The answer of `drain`."""

    warnings: list[str]

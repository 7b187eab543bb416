"""The answers of `whatif`, as data."""

from typing import Annotated, TypedDict

from msgspec import Meta

from kubectl_sched.render.schemas.common import About, Name, OutcomeName
from kubectl_sched.render.schemas.drain import DrainPlan, NewNode
from kubectl_sched.scheduler.result import Unknown
from kubectl_sched.simulation.rollout import Skew


class Placement(TypedDict):
    """A pod and its place; `tied` is the first 100 of the nodes with the most points."""

    pod: Name
    owner: str | None
    outcome: OutcomeName
    node: str | None
    tied: list[str]
    tiedCount: int
    total: int | None
    nominatedNode: str | None
    victims: list[str]
    event: str | None
    reason: str | None
    unknown: list[Unknown]


class Stop(TypedDict):
    """The first pod of `--replicas max` that fits no more."""

    event: str | None


class Rollout(TypedDict):
    """The rollout of a workload; `stuckAt` is the step that it does not pass."""

    owner: str
    strategy: str
    steps: int
    stuckAt: int | None
    remaining: list[str]
    skew: list[Skew]


class Simulation(About):
    """The placements of a what-if, in scheduling order."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    placements: list[Placement]
    placed: int
    unplaced: int
    perNode: dict[str, int]
    stopped: Stop | None
    nodesNeeded: int | None
    newNodes: list[NewNode]
    rollouts: list[Rollout]
    interrupted: bool
    warnings: list[str]


class WhatIf(Simulation):
    """The answer of `whatif`."""

    premise: Annotated[str | None, Meta(description="The edits, in words.")]
    drain: DrainPlan | None


class Target(TypedDict):
    """The pod or workload that room is made for."""

    kind: str
    namespace: str
    name: str


class PlanStep(TypedDict):
    """A step of the plan: cordon, evict or uncordon."""

    step: int
    action: str
    node: str
    pod: Name | None
    lands: str | None
    tied: list[str]


class TargetPlacement(TypedDict):
    """A pod of the target, and its place after the plan."""

    pod: Name
    node: str
    tied: list[str]


class Searched(TypedDict):
    """The bounds of the search."""

    moves: int
    nodes: int
    podsOfNode: int
    evictions: int


class Preempted(TypedDict):
    """The victims that kube-scheduler would choose by itself."""

    pod: Name
    node: str
    victims: list[Name]
    notLandingAgain: list[Name]


class MakeRoom(About):
    """The answer of `whatif --make-room`; `plan` is empty if none was found, `complete` says that all was searched."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    target: Target
    plan: list[PlanStep]
    node: str | None
    placements: list[TargetPlacement]
    unplaced: Name | None
    event: str | None
    searched: Searched
    complete: bool
    notAskedToMove: dict[str, int]
    preemption: Preempted | None
    summary: str
    commands: list[str]
    warnings: list[str]

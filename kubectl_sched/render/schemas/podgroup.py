"""The answer of `explain podgroup`, as data."""

from typing import TypedDict

from kubectl_sched.render.schemas.common import About, Name, OutcomeName, PostFilter
from kubectl_sched.scheduler.podgroup_result import Condition
from kubectl_sched.scheduler.result import Unknown


class Member(TypedDict):
    """A member of the group, in the order of the cycle."""

    pod: Name
    node: str | None
    tied: list[str]
    outcome: OutcomeName
    nominatedNode: str | None
    postFilter: PostFilter | None
    event: str | None


class Domain(TypedDict):
    """A topology domain."""

    key: str
    value: str


class DomainPlacement(TypedDict):
    """The group in one topology domain."""

    domain: Domain
    nodes: int
    fits: int
    feasible: bool
    total: int | None
    lacks: str | None


class GroupSuggestion(TypedDict):
    """A change with which the group would fit, and where its members then land."""

    text: str
    members: list[Member]


class PodGroupExplanation(About):
    """The answer about one group of pods; `children` are the groups of a composite group."""

    podGroup: Name
    kubernetesVersion: str
    kubernetesPatch: str | None
    outcome: OutcomeName
    summary: str
    minCount: int | None
    scheduled: list[str]
    members: list[Member]
    placements: list[DomainPlacement]
    best: list[str]
    children: list["PodGroupExplanation"]
    postFilter: PostFilter | None
    condition: Condition | None
    event: str | None
    suggestions: list[GroupSuggestion]
    warnings: list[str]
    unknown: list[Unknown]


class PodGroupExplanationList(About):
    """The answer about several groups."""

    items: list[PodGroupExplanation]
    warnings: list[str]

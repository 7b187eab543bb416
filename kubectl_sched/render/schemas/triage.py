"""The answer of `triage`, and the changes that would help, as data."""

from typing import TypedDict

from kubectl_sched.diagnostics.kubelet_refusals import Refusals
from kubectl_sched.queries.pending_cause import Cause
from kubectl_sched.render.schemas.common import About, Name, OutcomeName
from kubectl_sched.suggestions.change import Loss, Manual, Patch


class Freed(TypedDict):
    """An amount of one resource that a change frees on a node."""

    node: str | None
    resource: str
    amount: str


class Weight(TypedDict):
    """The weight that a change gives to a score plugin."""

    plugin: str
    weight: int


class Suggestion(TypedDict):
    """A change that was replayed, with the commands that carry it out. Pods are written as namespace/name."""

    rung: str
    text: str
    changes: list[str]
    commands: list[str]
    manual: list[Manual]
    patches: list[Patch]
    frees: list[Freed]
    evictions: list[str]
    weights: list[Weight]
    kind: str
    scope: str
    recreatesPods: bool
    caution: str | None
    outcome: OutcomeName
    promise: str
    node: str
    best: list[str]
    feasible: int
    victims: list[str]
    ends: list[str]
    lost: list[Loss]


class SuggestionForAll(Suggestion):
    """A change, and what it does for the pods of the group, one after the other."""

    summary: str
    placed: int
    pods: int
    perNode: dict[str, int]


class Group(TypedDict):
    """Pending pods that the same keeps pending."""

    cause: Cause
    summary: str
    pods: list[Name]
    workloads: list[str]
    oldest: str | None
    suggestions: list[SuggestionForAll]
    waitingFor: str | None


class Triage(About):
    """The answer of `triage`: all pending pods by what keeps them so, the largest group first."""

    groups: list[Group]
    pending: int
    refusingNodes: list[Refusals]
    warnings: list[str]

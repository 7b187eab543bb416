"""The answer of `triage`, and the changes that would help, as data."""

from typing import TypedDict

from kubectl_sched.diagnostics.kubelet_refusals import Refusals
from kubectl_sched.render.schemas.common import About, Name, OutcomeName
from kubectl_sched.suggestions.suggestion import Loss, Manual, Patch


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


class Cause(TypedDict):
    """The outcome, and the plugins and reasons of kube-scheduler that bind; without names of nodes or pods.

    `comesBy` is what makes room by itself: `preemption` or the name of an autoscaler.
    """

    outcome: OutcomeName
    plugins: list[str]
    reasons: list[str]
    comesBy: str | None


class Workload(TypedDict):
    """A workload with fewer pods on nodes (`there`) than it wants; numbers that are not known are null.

    `helps` is the first advice, and `onPurpose` says that somebody suspended or paused it.
    """

    workload: str
    namespace: str
    wanted: int | None
    there: int | None
    stage: str
    verdict: str
    helps: str | None
    onPurpose: bool
    oldest: str | None


class Group(TypedDict):
    """Pods of one cause, which one cure helps."""

    cause: Cause
    summary: str
    pods: list[Name]
    workloads: list[str]
    oldest: str | None
    suggestions: list[SuggestionForAll]
    waitingFor: str | None


class Triage(About):
    """The answer of `triage`: pods that do not run, by cause, the largest group first, and their workloads."""

    groups: list[Group]
    workloads: list[Workload]
    pending: int
    refusingNodes: list[Refusals]
    warnings: list[str]

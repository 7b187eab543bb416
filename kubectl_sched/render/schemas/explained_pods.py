"""The answer of `explain` about pods, as data."""

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from kubectl_sched.framework.interface import BindingAction
from kubectl_sched.queries.contrast import Contrast
from kubectl_sched.queries.verdict.rejected_groups import NodeGroup
from kubectl_sched.render.funnel import Step
from kubectl_sched.render.schemas.autoscaler_answers import NewNodes
from kubectl_sched.render.schemas.common import (
    About,
    Evidence,
    Name,
    OutcomeName,
    PostFilter,
    Stage,
    Status,
    UnreadableKind,
)
from kubectl_sched.render.schemas.pod_gates import Gate
from kubectl_sched.render.schemas.triage import Suggestion
from kubectl_sched.scheduler.queue_position import QueuePlace
from kubectl_sched.scheduler.result import Unknown


class Said(TypedDict):
    """The scheduler's last message about the pod; `differs` says that the replay comes to another one now."""

    message: str
    at: str | None
    source: str
    differs: bool
    because: str | None
    age: str | None


class Finding(TypedDict):
    """A fact in the objects that no plugin reads."""

    kind: str
    sentence: str
    commands: list[str]
    spoilsStart: bool


class Mark(TypedDict):
    """A field in a file of `-f`: it keeps the pod out, or its unit is in doubt. Line and column count from 1."""

    file: str
    line: int
    column: int
    field: Annotated[str, Meta(description="The field's path in its object: spec.template.spec.nodeSelector.pool.")]
    label: str
    help: Annotated[str | None, Meta(description="The first suggestion, if there is any.")]


class Skipped(TypedDict):
    """The plugins that returned Skip, by extension point."""

    filter: list[str]
    score: list[str]


class Closest(TypedDict):
    """One of the rejected nodes that came closest, the plugins that keep it out, and why."""

    node: str
    plugins: list[str]
    why: str


class Score(TypedDict):
    """The points of one plugin for one node: raw, normalized to 0 to 100, and times the weight."""

    plugin: str
    raw: int
    normalized: int
    weight: int
    weighted: int
    evidence: NotRequired[list[Evidence]]


class Node(TypedDict):
    """One node: what kube-scheduler reports, every plugin that rejects it, and its points."""

    name: str
    filter: Status | None
    rejections: list[Status]
    scores: list[Score]
    total: int | None


class PodGroup(TypedDict):
    """The group of the pod, and the outcome of the group's cycle."""

    namespace: str
    name: str
    outcome: OutcomeName
    summary: str


class Points(TypedDict):
    """The points by which one plugin makes the difference."""

    plugin: str
    points: int


class History(TypedDict):
    """The placement of a bound pod against the replay without it."""

    scheduledBy: str | None
    at: str | None
    verdict: str
    message: str
    difference: list[Points]
    youngerPods: int
    youngerNodes: int
    unknown: list[str]


class Event(TypedDict):
    """An event about the pod."""

    reason: str
    component: str
    lastSeen: str | None
    message: str


class Observed(TypedDict):
    """The scheduler's event beside the replay, and what autoscalers said."""

    event: Event | None
    matchesReplay: bool
    likelyCauses: list[str]
    autoscalers: list[Event]


class Win(TypedDict):
    """The share of search starts, from 0 to 1, that place the pod on the node."""

    node: str
    share: float


class Sampling(TypedDict):
    """The search for feasible nodes where kube-scheduler stops before it has seen all."""

    order: str
    startIndex: int | None
    starts: int
    stopsAfter: int
    wins: list[Win]
    failureShare: float


class Explanation(About):
    """The answer of `explain` about one pod."""

    pod: Name
    schedulerName: str
    kubernetesVersion: str
    kubernetesPatch: str | None
    currentNode: str | None
    outcome: OutcomeName
    verdict: Annotated[str, Meta(description="The first line of every format, without the pod's name.")]
    summary: str
    unreadable: list[UnreadableKind]
    groups: list[NodeGroup]
    said: Said | None
    findings: list[Finding]
    marks: Annotated[list[Mark], Meta(description="Marks in the manifests of `-f`, the field that decides first.")]
    preEnqueue: Status | None
    preFilter: Status | None
    preFilterNodes: list[str] | None
    skipped: Skipped
    funnel: Annotated[list[Step], Meta(description="The number of nodes left after each plugin.")]
    closest: list[Closest]
    nodes: list[Node]
    feasible: list[str]
    best: Annotated[list[str], Meta(description="All nodes tied at the highest total.")]
    nominatedFirst: str | None
    message: Annotated[str | None, Meta(description="The FitError text, if no node is feasible.")]
    postFilter: PostFilter | None
    event: Annotated[str | None, Meta(description="The FailedScheduling event as kube-scheduler writes it.")]
    unknown: Annotated[list[Unknown], Meta(description="Verdicts that are missing, by a bug or an ended budget.")]
    error: str | None
    binding: list[BindingAction]
    podGroup: PodGroup | None
    queue: QueuePlace | None
    stage: Stage | None
    history: History | None
    observed: Observed | None
    suggestions: Annotated[list[Suggestion], Meta(description="In the order of the ladder, least harm first.")]
    sampling: Sampling | None
    contrast: Contrast | None
    gates: list[Gate]
    newNodes: NewNodes | None
    whatIf: NotRequired[Annotated[list[str], Meta(description="The edits of the explorer.")]]
    warnings: list[str]


class Together(TypedDict):
    """The pods of the list in one queue: how many of them are placed, and those of higher priority before them."""

    pods: int
    placed: int
    higherPriorityAhead: int


class BesideItems(TypedDict):
    """The fields of a list that some lists lack."""

    together: NotRequired[Together]


class ExplanationList(About, BesideItems):
    """The answer of `explain` about several pods, each on its own against the same state."""

    items: list[Explanation]
    warnings: list[str]

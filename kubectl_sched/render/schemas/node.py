"""The answer of `explain node`, as data."""

from typing import TypedDict

from kubectl_sched.render.schemas.common import About, Name


class StayReason(TypedDict):
    """A reason why the node stays, with the pod and its owner if a pod is the reason.

    `kind` is budget, pod, room, autoscaler or node; `said` is the autoscaler's own word for the reason.
    """

    pod: Name | None
    reason: str
    owner: str | None
    kind: str
    said: str | None


class Setting(TypedDict):
    """A setting of the autoscaler that decides."""

    name: str
    value: str


class AutoscalerFacts(TypedDict):
    """The settings that decide, and what is not known."""

    settings: list[Setting]
    unknown: list[str]


class NodeEvent(TypedDict):
    """An event of the autoscaler about the node."""

    reason: str
    message: str
    at: str


class Stays(TypedDict):
    """The autoscaler that would remove the node, and whether it may."""

    by: str | None
    verdict: str
    heldBy: str | None
    how: str | None
    said: list[NodeEvent]
    reasons: list[StayReason]
    autoscaler: AutoscalerFacts


class Landing(TypedDict):
    """A pod of the node, and where it would land."""

    pod: Name
    node: str | None
    tied: list[str]


class BestNode(TypedDict):
    """A node with the most points for a pod."""

    node: str
    points: int


class PodThere(TypedDict):
    """A pod, whether the node takes it (null if unread kinds decide), and the node's points beside the highest ones."""

    pod: Name
    fits: bool | None
    plugin: str | None
    reasons: list[str]
    points: int | None
    best: BestNode | None


class NodeAnswer(TypedDict):
    """One node. `holes`, `requested` and `ofDaemonSets` are quantities by resource; a hole is what is free.

    `byNamespace` are requests without those of DaemonSets; `elsewhere` has a running pod of each workload elsewhere.
    """

    node: str
    verdict: str
    stays: Stays
    holes: dict[str, str]
    requested: dict[str, str]
    ofDaemonSets: dict[str, str]
    deferredResizes: list[Name]
    moves: list[Landing]
    byNamespace: dict[str, dict[str, str]]
    pending: list[PodThere]
    elsewhere: list[PodThere]


class NodeExplanation(About, NodeAnswer):
    """The answer of `explain node` about one node."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    warnings: list[str]


class NodeExplanationList(About):
    """The answer of `explain node` about several nodes."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    items: list[NodeAnswer]
    warnings: list[str]

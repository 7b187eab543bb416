"""The answer of `explain node`, as data."""

from typing import TypedDict

from kubectl_sched.render.schemas.common import About, Name


class StayReason(TypedDict):
    """A reason why the node stays, with the pod and its owner if a pod is the reason."""

    pod: Name | None
    reason: str
    owner: str | None


class Setting(TypedDict):
    """A setting of the autoscaler that decides."""

    name: str
    value: str


class AutoscalerFacts(TypedDict):
    """The settings that decide, and what is not known."""

    settings: list[Setting]
    unknown: list[str]


class Stays(TypedDict):
    """The autoscaler that would remove the node, and whether it may."""

    by: str | None
    verdict: str
    reasons: list[StayReason]
    autoscaler: AutoscalerFacts


class Landing(TypedDict):
    """A pod of the node, and where it would land."""

    pod: Name
    node: str | None
    tied: list[str]


class PendingThere(TypedDict):
    """A pending pod, and whether the node takes it."""

    pod: Name
    fits: bool
    plugin: str | None
    reasons: list[str]


class NodeAnswer(TypedDict):
    """One node. `holes`, `requested` and `ofDaemonSets` are quantities by resource; a hole is what is free."""

    node: str
    verdict: str
    stays: Stays
    holes: dict[str, str]
    requested: dict[str, str]
    ofDaemonSets: dict[str, str]
    deferredResizes: list[Name]
    moves: list[Landing]
    pending: list[PendingThere]


class NodeExplanation(About, NodeAnswer):
    """The answer of `explain node` about one node."""

    kubernetesVersion: str
    warnings: list[str]


class NodeExplanationList(About):
    """The answer of `explain node` about several nodes."""

    kubernetesVersion: str
    items: list[NodeAnswer]
    warnings: list[str]

"""The answers of `message`, and of `explain` where nothing can be replayed, as data."""

from typing import TypedDict

from kubectl_sched.render.schemas.common import About, Name, Stage


class Explained(TypedDict):
    """The meaning of a text; null if it is not known."""

    plugin: str | None
    meaning: str | None
    help: str | None
    anchor: str | None
    reason: str | None


class Clause(Explained):
    """A clause of the text, and its meaning."""

    text: str
    nodes: int | None
    nodeGroups: int | None
    nodePool: str | None
    component: str
    about: str


class Message(About):
    """The answer of `message`: a text, clause by clause. `cut` says that the text ends within a clause."""

    available: int | None
    nodes: int | None
    clauses: list[Clause]
    cut: bool


class ReasonText(TypedDict):
    """A text of the reason, and the minors of Kubernetes that use it; null for all."""

    text: str
    versions: str | None


class Reason(About):
    """The answer of `message --reason`."""

    name: str
    title: str
    plugin: str | None
    component: str
    events: list[str]
    texts: list[ReasonText]
    meaning: str
    how: str
    help: str | None
    upstream: str


class Statement(TypedDict):
    """A thing that was said of the pod, and by whom."""

    by: str
    reason: str
    lastSeen: str | None
    text: str
    message: Message | None


class Decoded(About):
    """The answer about a pod whose scheduling cannot be replayed: what schedulers said of it, and what is missing."""

    pod: Name
    schedulerName: str
    currentNode: str | None
    stage: Stage | None
    condition: Statement | None
    events: list[Statement]
    unknown: list[str]
    missingRules: list[str]
    command: str
    warnings: list[str]


class DecodedList(About):
    """The answers about several such pods."""

    items: list[Decoded]

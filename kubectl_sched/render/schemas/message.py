"""The answers of `message`, and of `explain` where nothing can be replayed, as data."""

from typing import NotRequired, TypedDict

from kubectl_sched.render.schemas.common import About, Name, Stage


class Clause(TypedDict):
    """A clause of the text; what is not known about it is null."""

    text: str
    nodes: int | None
    nodeGroups: NotRequired[int | None]
    component: str
    about: str
    plugin: str | None
    meaning: str | None
    help: str | None
    anchor: str | None
    reason: str | None


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
    component: NotRequired[str]
    events: NotRequired[list[str]]
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

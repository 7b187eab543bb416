"""Values that answers of several kinds hold."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from kubectl_sched.scheduler.result import Outcome

OutcomeName = Annotated[str, Meta(extra_json_schema={"enum": [each.value for each in Outcome]})]


class About(TypedDict):
    """The fields that every answer begins with."""

    apiVersion: Annotated[str, Meta(extra_json_schema={"const": "kubectl-sched/v1"})]
    kind: str


class Name(TypedDict):
    """The name of an object with a namespace."""

    namespace: str
    name: str


class UnreadableKind(TypedDict):
    """A kind that decides and could not be read, the RBAC rule that would allow it, and the plugins that read it."""

    kind: str
    why: str
    rule: str | None
    plugins: list[str]


class Stage(TypedDict):
    """The stage of a pod's life, since when (RFC 3339), and what shows it."""

    name: str
    since: str | None
    evidence: list[str]


class Evidence(TypedDict):
    """The numbers and objects behind one verdict or score."""

    text: str
    facts: Mapping[str, Any]
    hints: list[str]


class Status(TypedDict):
    """A status that is neither Success nor Skip; without a plugin, PreFilter leaves the node out."""

    plugin: str | None
    code: str
    reasons: list[str]
    evidence: NotRequired[list[Evidence]]


class PostFilter(TypedDict):
    """The outcome of preemption, with the victims as namespace/name."""

    code: str
    message: str
    nominatedNode: NotRequired[str | None]
    victims: list[str]

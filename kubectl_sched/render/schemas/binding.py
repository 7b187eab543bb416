"""The answers of `bind pod` and `bind podgroup`, as data."""

from typing import TypedDict

from kubectl_sched.render.answers.binding_plan import PlannedWrite
from kubectl_sched.render.schemas.common import About, Name
from kubectl_sched.render.schemas.explained_pods import Explanation
from kubectl_sched.render.schemas.podgroup import PodGroupExplanation


class Serving(TypedDict):
    """The state of the scheduler that serves the pod already, and what shows it."""

    state: str
    evidence: str


class Order(TypedDict):
    """The order, its outcome, the requests that it writes, and what was left behind."""

    dryRun: str
    outcome: str
    message: str
    serving: Serving
    requests: list[PlannedWrite]
    left: list[str]


class Binding(About, Order):
    """The answer of `bind pod`; `node` was chosen, `boundTo` is the node that the pod has."""

    pod: Name
    node: str | None
    boundTo: str | None
    victims: list[str]
    leftovers: list[str]
    explanation: Explanation
    warnings: list[str]


class BoundMember(TypedDict):
    """A member of the group; `boundTo` is the node that it was bound to."""

    pod: Name
    node: str | None
    boundTo: str | None


class PodGroupBinding(About, Order):
    """The answer of `bind podgroup`."""

    podGroup: Name
    members: list[BoundMember]
    explanation: PodGroupExplanation
    warnings: list[str]

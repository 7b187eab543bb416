"""The answer of `diff`, as data."""

from typing import TypedDict

from kubectl_sched.queries.deciding_plugin import Cause, ReplaySummary
from kubectl_sched.render.schemas.common import About, Name


class Side(TypedDict):
    """One of the two schedulers."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    profiles: list[str]


class Difference(TypedDict):
    """A pod whose outcome or best nodes differ."""

    pod: Name
    workload: str
    isBound: bool
    change: str
    before: ReplaySummary
    after: ReplaySummary
    causes: list[Cause]


class DifferenceGroup(TypedDict):
    """Pods of one workload that differ alike."""

    change: str
    plugins: list[str]
    namespace: str
    workload: str
    pods: list[str]


class Diff(About):
    """The answer of `diff`; `items` are the pods that differ."""

    before: Side
    after: Side
    compared: int
    differing: int
    items: list[Difference]
    groups: list[DifferenceGroup]
    warnings: list[str]

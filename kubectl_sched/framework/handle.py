"""The parts of the scheduler that a plugin may use (framework.Handle)."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from kubectl_sched.framework.cycle_budget import ANSWER, CycleLimits
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.features import Features
    from kubectl_sched.config.types import Extender
    from kubectl_sched.config.versions import KubeVersion, Release


class ExtenderClient(Protocol):
    """Sends requests to extenders."""

    def send(self, extender: Extender, verb: str, arguments: Mapping[str, Any]) -> Any:
        """Return the decoded JSON answer. Raises ExtenderError."""

    def document(self, item: Pod | Node) -> dict[str, Any]:
        """Return the whole object as the API server has it."""


class Handle(Record, frozen=True, kw_only=True):
    """Given to each plugin's constructor, after its args."""

    version: KubeVersion
    release: Release
    features: Features
    extenders: tuple[Extender, ...] = ()
    """The configured extenders, in the order in which they are asked."""
    parallelism: int = 16
    extender_client: ExtenderClient | None = None
    """None if extenders are not asked."""
    scheduler_names: frozenset[str] = frozenset()
    """The profiles of the configuration: pods that ask for another scheduler never come to the queue."""
    limits: CycleLimits = ANSWER
    """The most that one cycle may take."""

    @property
    def grows_in_place(self) -> Callable[[Pod], bool]:
        """Report whether a pod only waits for room to grow on its node; most plugins then have nothing to say."""
        if self.features.enabled("InPlacePodVerticalScalingSchedulerPreemption"):
            return attrgetter("is_resize_deferred")
        return lambda pod: False  # noqa: ARG005 - no pod does

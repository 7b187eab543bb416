"""Messages of other threads to the scheduling loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_sched.sources.live.reflector import Changed, Disturbed, Replaced, Resumed

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.binding_cycle import Bound, Failed, Gone, Taken
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
    from kubectl_sched.scheduler.cycle_result import CycleResult


class Finished(NamedTuple):
    """A binding cycle is over. `began` is when the pod's attempt did."""

    queued: QueuedPod
    result: CycleResult
    node: str
    outcome: Bound | Taken | Gone | Failed
    began: float


class LastVictim(NamedTuple):
    """The last victim of the preemptor of that UID is about to be deleted: its deletion may let the preemptor in."""

    preemptor: str


class PreemptionEnded(NamedTuple):
    """Preemption for the preemptor of that UID is over.

    These pods are to be tried again at once: all if it has failed, or if no deletion will be seen.
    """

    preemptor: str
    again: tuple[Pod, ...]


class WaitingPodPreempted(NamedTuple):
    """The pod of that UID has to go while it waits in Permit, so that it is not deleted but rejected."""

    uid: str


class Warned(NamedTuple):
    """Something could not be done that the scheduling does not depend on, such as writing an event."""

    sentence: str


class Led(NamedTuple):
    """Leadership has come or, for good, gone."""

    leads: bool


class Stop(NamedTuple):
    """We have been asked to end, or (`exit_code` not 0) cannot go on, and why."""

    reason: str
    exit_code: int = 0


News: TypeAlias = Changed | Replaced | Disturbed | Resumed
Message: TypeAlias = News | Finished | LastVictim | PreemptionEnded | WaitingPodPreempted | Warned | Led | Stop

"""The binding cycle of one pod: PreBind and Bind (bindingCycle in pkg/scheduler/schedule_one.go).

A pod that would wait in Permit is refused before, and no in-tree plugin has a PostBind. Whatever goes wrong, what
PreBind wrote is taken back or named.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.binding.api_requests import bind_pod, patch_pod_status
from kubectl_sched.binding.event_recorder import EventDetails, scheduled
from kubectl_sched.binding.object_reader import read_pod
from kubectl_sched.binding.pod_status import status_change
from kubectl_sched.binding.pre_bind import ChangedError, InterruptedByUserError, PreBind, PreBindError
from kubectl_sched.binding.pre_bind_waiting import Waiting, has_binding_conditions
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.binding.unreserve import unreserve
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.status import SUCCESS, Status, error
from kubectl_sched.plugins.dynamic_resources.state import STATE as CLAIMS
from kubectl_sched.record import Record
from kubectl_sched.scheduler.end_of_cycle import reserved
from kubectl_sched.sources.live.live_errors import ClusterError, LostResponseError, ResponseError
from kubectl_sched.sources.live.server_refusals import BUSY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.cancellable_binding import PodInPreBind
    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.pre_bind import Done, Written
    from kubectl_sched.binding.writer import Writer
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.scheduler.cycle_result import CycleResult

_TRIES = 5
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 5.0
"""Between two looks at a pod whose Binding may have been carried out."""


class Ended(Record, frozen=True, kw_only=True):
    """`warnings` are sentences about what else went wrong, `left` names what PreBind wrote and could not take back."""

    warnings: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Bound(Ended, frozen=True, kw_only=True):
    """We have bound the pod to this node."""

    node: str = ""
    versions: Mapping[Written, str] = field(default_factory=dict)
    """The resourceVersion of each object that PreBind wrote, after the last of its writes."""


class Taken(Ended, frozen=True, kw_only=True):
    """Somebody else has bound the pod, to this node."""

    node: str = ""


class Gone(Ended, frozen=True, kw_only=True):
    """The pod is not there any more, is being deleted, or is another one of its name."""

    why: str = ""


class Failed(Ended, frozen=True, kw_only=True):
    """The pod has no node. `changed`: something is not what the cycle saw, so that it must be run again."""

    status: Status = SUCCESS
    changed: bool = False
    interrupted: bool = False


class Lost(Failed, frozen=True, kw_only=True):
    """The pod may have been bound to the node: the answer to its Binding was lost, and we end before it is known."""


class BindingCycle:
    """Binds pods, each call of `run` one, from any thread; holds nothing of any pod.

    With `is_patient` a pod whose Binding may have been carried out is looked up for as long as the server is away.
    """

    def __init__(self, writer: Writer, recorder: EventRecorder, *, is_patient: bool = False) -> None:
        self._writer = writer
        self._recorder = recorder
        self._is_patient = is_patient

    def run(
        self,
        result: CycleResult,
        node: str,
        stop: PodInPreBind,
        reservations: Sequence[Reservation] | None = None,
    ) -> Bound | Taken | Gone | Failed:
        """Bind the result's pod to the node. `reservations` are what Reserve gave for both; None: it is asked here.

        Once `stop` is set no wait goes on, and what was done is taken back.
        """
        if reservations is None:
            reservations = reserved(result, node, time_now())
        run = _Run(self._writer, self._recorder, result, node, stop, is_patient=self._is_patient)
        return run.ended(reservations)


class _Run:
    """One pod on its way to one node."""

    def __init__(
        self,
        writer: Writer,
        recorder: EventRecorder,
        result: CycleResult,
        node: str,
        stop: PodInPreBind,
        *,
        is_patient: bool,
    ) -> None:
        self._is_patient = is_patient
        self._writer = writer
        self._recorder = recorder
        self._result = result
        self._framework = result.framework
        self._node = node
        self._stop = stop
        self._pod = result.pod
        self._pre_bind = PreBind(writer, result, stop)
        self._warnings: list[str] = []
        self._nominated_before: str | None = None

    def ended(self, reservations: Sequence[Reservation]) -> Bound | Taken | Gone | Failed:
        try:
            outcome = self._cycle(reservations)
        except PreBindError as failure:
            said = f'running PreBind plugin "{failure.plugin}": {failure}'
            outcome = Failed(status=error(said).by(failure.plugin))
        except InterruptedByUserError as interrupted:
            preempted = self._stop.message
            outcome = Failed(status=error(preempted or str(interrupted)), interrupted=not preempted)
        except ChangedError as changed:
            outcome = Failed(status=error(str(changed)), changed=True)
        except SchedError as failure:
            outcome = Failed(status=error(str(failure)))
        if isinstance(outcome, Bound):
            self._announce()
            return replace(outcome, warnings=tuple(self._warnings), versions=self._pre_bind.versions)
        if isinstance(outcome, Lost):
            return replace(outcome, warnings=tuple(self._warnings))
        left = unreserve(self._writer, self._pod, self._not_used(outcome))
        self._take_back_nomination(outcome)
        return replace(outcome, warnings=tuple(self._warnings), left=left)

    def _not_used(self, outcome: Ended) -> Sequence[Done]:
        """Return the writes of PreBind, without those that the pod uses although somebody else bound it."""
        if not isinstance(outcome, Taken):
            return self._pre_bind.done
        told = self._pod.status.extended_resource_claim_status
        used = told.resource_claim_name if told is not None else None
        return [done for done in self._pre_bind.done if done.undoing is None and done.write.name != used]

    def _cycle(self, reservations: Sequence[Reservation]) -> Bound | Taken | Gone | Failed:
        if self._pre_binds(reservations):
            self._nominate()
        self._pre_bind.carry_out(reservations)
        if self._pre_bind.pod_version is not None:
            self._pod = _at(self._pod, self._pre_bind.pod_version)
        if not self._writer.dry_run:
            self._wait(reservations)
        if not self._stop.finish():
            raise InterruptedByUserError("interrupted")
        return self._bind()

    def _pre_binds(self, reservations: Sequence[Reservation]) -> bool:
        """Report whether a PreBind plugin has anything to do with the pod (RunPreBindPreFlights)."""
        return bool(reservations) or bool(self._claims())

    def _claims(self) -> Sequence[ResourceClaim]:
        state = self._result.state.get(CLAIMS)
        return state.claims.claims if state is not None else ()

    def _nominate(self) -> None:
        """Tell others where the pod will be while it waits; failing to is not worth failing for."""
        if not self._framework.handle.features.enabled("NominatedNodeNameForExpectation"):
            return
        change = status_change(self._pod, None, self._node, now=time_now())
        if not change:
            return
        try:
            patched = self._writer.send(patch_pod_status(self._pod, change))
        except ClusterError as failure:
            self._warnings.append(f"pod {self._pod.key} could not be nominated to {self._node}: {failure}")
            return
        self._nominated_before = self._pod.status.nominated_node_name
        self._pod = _at(self._pod, patched.get("metadata", {}).get("resourceVersion", ""))

    def _take_back_nomination(self, outcome: Ended) -> None:
        if self._nominated_before is None or isinstance(outcome, Taken | Gone) or self._writer.dry_run:
            return
        try:
            change = {"nominatedNodeName": self._nominated_before or None}
            self._writer.send(patch_pod_status(self._pod, change))
        except SchedError as failure:
            self._warnings.append(f"pod {self._pod.key} stays nominated to {self._node}: {failure}")

    def _wait(self, reservations: Sequence[Reservation]) -> None:
        waiting = Waiting(self._writer, self._pod, self._node, self._framework, self._stop)
        waiting.for_volumes(reservations)
        reserved_claims = [each.item for each in reservations if isinstance(each.item, ResourceClaim)]
        claims = {claim.key: claim for claim in (*self._claims(), *reserved_claims)}
        conditional = [self._pre_bind.as_made(claim) for claim in claims.values() if has_binding_conditions(claim)]
        if conditional:
            note = f"waiting for binding conditions for device on node {self._node}"
            self._tell(EventDetails("Normal", "BindingConditionsPending", "Scheduling", note))
            waiting.for_devices(conditional)

    def _bind(self) -> Bound | Taken | Gone | Failed:
        """Post the Binding; where it is refused, or its answer is lost, the pod itself says what became of it."""
        for _ in range(_TRIES):
            try:
                self._writer.send(bind_pod(self._pod, self._node))
            except (LostResponseError, ResponseError) as error_:
                failure = error_
            else:
                return Bound(node=self._node)
            answer = failure if isinstance(failure, ResponseError) else None
            lost = answer is None or answer.after_lost
            if answer is not None and not lost and answer.status not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                return self._refused(answer.message or str(answer))
            settled = self._settled_in_time(failure) if lost and self._is_patient else self._settled(lost=lost)
            if settled is not None:
                return settled
            if answer is None or answer.status != HTTPStatus.CONFLICT:
                return self._refused(str(failure))  # the client has tried again for as long as makes sense
        return self._refused(f"pod {self._pod.key} keeps changing")

    def _settled_in_time(self, lost: ClusterError) -> Bound | Taken | Gone | Failed | None:
        """Look the pod up, again and again while the server is away, and return its outcome as `_settled` does."""
        seconds = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._settled(lost=True)
            except ClusterError as failure:
                if isinstance(failure, ResponseError) and failure.status not in BUSY:
                    raise
            if self._stop.wait(seconds):
                return Lost(status=error(f"it is not known whether the pod is bound to {self._node}: {lost}"))
            seconds = min(2 * seconds, _LONGEST_PAUSE_SECONDS)

    def _settled(self, *, lost: bool) -> Bound | Taken | Gone | Failed | None:
        """Look the pod up and return its outcome; None if it waits as before and the Binding may be sent again."""
        pod = read_pod(self._writer, self._pod)
        if pod is None or pod.metadata.uid != self._pod.metadata.uid:
            return Gone(why=f"pod {self._pod.key} was deleted meanwhile")
        if pod.spec.node_name:
            return (
                Bound(node=self._node) if lost and pod.spec.node_name == self._node else Taken(node=pod.spec.node_name)
            )
        if pod.metadata.deletion_timestamp is not None:
            return Gone(why=f"pod {self._pod.key} is being deleted")
        if not is_judged_alike(pod, self._pod):
            return Failed(status=error(f"pod {self._pod.key} has changed"), changed=True)
        self._pod = _at(self._pod, pod.metadata.resource_version)
        return None

    def _refused(self, said: str) -> Failed:
        return Failed(status=error(f'running Bind plugin "DefaultBinder": {said}').by("DefaultBinder"))

    def _announce(self) -> None:
        self._tell(scheduled(self._pod, self._node))

    def _tell(self, event: EventDetails) -> None:
        try:
            failure = self._recorder.record(self._pod, scheduler_name_of(self._pod), event)
        except SchedError as error_:
            failure = f"the event {event.reason} of pod {self._pod.key} was not written: {error_}"
        if failure is not None:
            self._warnings.append(failure)


def is_judged_alike(pod: Pod, other: Pod) -> bool:
    """Report whether a verdict on the one holds for the other: the same pod, with the same spec and labels."""
    return (
        pod.metadata.uid == other.metadata.uid
        and pod.metadata.labels == other.metadata.labels
        and replace(pod.spec, node_name="") == replace(other.spec, node_name="")
        and pod.metadata.deletion_timestamp == other.metadata.deletion_timestamp
    )


def _at(pod: Pod, version: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, resource_version=version))

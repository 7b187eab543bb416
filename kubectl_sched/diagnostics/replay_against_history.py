"""Compares the replay with history: the placement of a bound pod, and the events and conditions of a pending one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.apimachinery.timestamps import moment, to_the_second
from kubectl_sched.api.component_helpers.volume_claims import claim_uses, class_of_claim
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.api.meta import Part
from kubectl_sched.api.storage import WAIT_FOR_FIRST_CONSUMER, PersistentVolumeClaim, StorageClass
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.diagnostics.pod_lifecycle import was_refused
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.pod_surroundings import KUBELET_BEGINNINGS, bound_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Event
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

_NOTE_LIMIT = 1024
"""kube-scheduler cuts its events' notes there."""

_FIRST_SECONDS = 60
_OF_SCHEDULERS = frozenset({"FailedScheduling", "Scheduled"})

_AUTOSCALERS = {
    "cluster-autoscaler": frozenset({"TriggeredScaleUp", "NotTriggerScaleUp"}),
    "karpenter": frozenset({"Nominated", "FailedScheduling"}),
}


class _AppliedSpec(Part, frozen=True):
    node_name: str = ""


class _Applied(Part, frozen=True):
    """The part of an applied manifest that says which node it names."""

    spec: _AppliedSpec = _AppliedSpec()


class History(Record, frozen=True, kw_only=True, rename="camel"):
    """The placement of a bound pod against the replay without it."""

    scheduled_by: str | None
    at: str | None
    verdict: str
    """Same, Tied, Different, WouldReject or NotScheduled."""

    message: str
    """A sentence that names the scheduler and compares its placement with the replay's."""

    difference: tuple[tuple[str, int], ...] = ()
    """For Different: by how many points each plugin prefers the first of the best nodes to its own."""

    younger_pods: int = 0
    younger_nodes: int = 0
    unknown: tuple[str, ...] = ()


class Observed(Record, frozen=True, kw_only=True):
    """The messages about a pending pod: its own scheduler's, and those of autoscalers."""

    event: Event | None
    matches_replay: bool
    likely_causes: tuple[str, ...] = ()
    autoscalers: tuple[Event, ...] = ()


def history_of(result: ScheduleResult, around: Surroundings) -> History | None:
    """None for a pod that is on no node, on one that is not there, or whose placement cannot be replayed."""
    pod, node = result.pod, result.current_node
    row = result.nodes.row_of.get(node or "")
    if node is None or row is None:
        return None
    event = around.scheduled_event(pod)
    by, at, how = _placed_by(pod, event, around)
    if by is None and event is None and how:
        return History(verdict="NotScheduled", scheduled_by=None, at=at, message=how)
    if result.verdict is None:
        return None
    pods, nodes = around.since(at) if at is not None else (0, 0)
    verdict, relation, difference = _relation(result, result.verdict[row], row)
    unknown = tuple(_unknown(event, at, pods, nodes))
    who = f" by {by}" if by else ""
    when = f" at {to_the_second(at)}" if at else ""
    return History(
        verdict=verdict,
        scheduled_by=by,
        at=at,
        message=f"placed{who}{when}; {relation}",
        difference=difference,
        younger_pods=pods,
        younger_nodes=nodes,
        unknown=unknown,
    )


def placed_by_another(result: ScheduleResult, around: Surroundings) -> str | None:
    """Return a sentence about the placing scheduler, if it cannot be replayed and an event names it; else None."""
    event = around.scheduled_event(result.pod)
    if result.outcome is not Outcome.NO_PROFILE or result.current_node is None or event is None:
        return None
    by, at, _ = _placed_by(result.pod, event, around)
    when = f" at {to_the_second(at)}" if at else ""
    return f"placed by {by}{when}; how that is configured is not known, so what it would do now is not replayed"


def _placed_by(pod: Pod, event: Event | None, around: Surroundings) -> tuple[str | None, str | None, str]:
    """Return the scheduler and the time of a placement, and if no scheduler placed it, the proof."""
    at = event.last_seen if event is not None else bound_at(pod)
    if event is not None:
        return event.component or scheduler_name_of(pod), at, ""
    if pod.is_static:
        return None, at, "its kubelet placed it: it is a static pod, which no scheduler is asked about"
    missing = around.missing_scheduler(pod)
    why = _applied_node(pod) or _never_asked(pod, missing, around) or _claim_nobody_placed(pod, around)
    if why is not None:
        return None, None, f"no scheduler was ever asked: its manifest had the nodeName ({why})"
    return None if missing else scheduler_name_of(pod), at, ""


def _never_asked(pod: Pod, missing: tuple[str, ...], around: Surroundings) -> str | None:
    """Return the proof that the pod was created with its node, None if there is none.

    A binding leaves a condition and an event. Kubelets write the same condition, but where their events of the pod's
    first seconds are still there, the scheduler's would be as well.
    """
    if not any(condition.type == "PodScheduled" for condition in pod.status.conditions):
        is_whole = pod.status.qos_class or was_refused(pod)
        never_bound = "it has no condition PodScheduled, which a binding leaves" if is_whole else None
        return missing[0] if missing else never_bound
    made = moment(pod.metadata.creation_timestamp)
    events = around.events(pod)
    begun = (event for event in events if event.component == "kubelet" and event.reason in KUBELET_BEGINNINGS)
    first = min(
        (time for event in begun if (time := moment(event.first_seen)) is not None),
        default=None,
    )
    if made is None or first is None or (first - made).total_seconds() > _FIRST_SECONDS:
        return None
    name = scheduler_name_of(pod)
    if any(event.component == name or event.reason in _OF_SCHEDULERS for event in events):
        return None
    return "its events begin with its kubelet's, and none is a scheduler's"


def _applied_node(pod: Pod) -> str | None:
    """Return the proof that the manifest gives which `kubectl apply` noted; None if it names no node."""
    with suppress(*UNDECODABLE):
        noted = msgspec.json.decode(pod.metadata.annotations.last_applied or "{}", type=_Applied)
        return "its annotation last-applied-configuration has it" if noted.spec.node_name else None
    return None


def _claim_nobody_placed(pod: Pod, around: Surroundings) -> str | None:
    """Return the proof that a claim gives: kube-scheduler binds no pod before its claims are bound (PreBind)."""
    for use in claim_uses(pod):
        claim = around.storage.get(f"{pod.namespace}/{use.claim_name}")
        if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name:
            continue
        found = around.storage.get(class_of_claim(claim))
        is_late = isinstance(found, StorageClass) and found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        if found is not None and is_late and claim.metadata.annotations.selected_node is None:
            return (
                f"its claim {claim.name} waits for a scheduler: class {found.name} is WaitForFirstConsumer, and nobody "
                "binds it for a pod with a nodeName; a nodeSelector in place of nodeName mends that"
            )
    return None


def _relation(result: ScheduleResult, status: Status, row: int) -> tuple[str, str, tuple[tuple[str, int], ...]]:
    own = result.nodes.names[row]
    if not status.is_success:
        return "WouldReject", f"that node would reject it now: {status.plugin} ({status.message})", ()
    if result.outcome is Outcome.ERROR:
        return "WouldReject", f"now the whole cycle would fail: {result.error}", ()
    if own in result.best:
        if (
            result.pre_filter_nodes == frozenset({own})
            and (owner := result.pod.metadata.controller)
            and owner.kind == "DaemonSet"
        ):
            return "Same", "its DaemonSet made it for that node alone, so there was nothing to choose", ()
        if len(result.best) == 1:
            return "Same", "it would choose the same node again", ()
        return "Tied", f"that node is one of {len(result.best)} that are tied now", ()
    best = result.nodes.row_of[result.best[0]]
    difference = _difference(result, best, row)
    because = ", ".join(f"{plugin} {points:+d}" for plugin, points in difference[:3])
    lead = result.total_of[best] - result.total_of[row]
    points = "1 point" if lead == 1 else f"{lead} points"
    return "Different", f"it would choose {result.best[0]} now, {points} ahead ({because})", difference


def _difference(result: ScheduleResult, best: int, own: int) -> tuple[tuple[str, int], ...]:
    position = {row: index for index, row in enumerate(result.feasible.tolist())}
    points = (
        (each.plugin, int(each.weighted[position[best]] - each.weighted[position[own]])) for each in result.scores
    )
    return tuple(sorted(((plugin, lead) for plugin, lead in points if lead), key=lambda each: -abs(each[1])))


def _unknown(event: Event | None, at: str | None, pods: int, nodes: int) -> Iterator[str]:
    if at is None:
        yield "when it was placed"
    elif event is None:
        yield "which scheduler placed it (its event Scheduled is gone)"
    if pods or nodes:
        yield f"{_pods_and_nodes(pods, nodes)} younger than the decision (--at-decision takes them out)"
    yield "which pods were there then and are gone now"


def _pods_and_nodes(pods: int, nodes: int) -> str:
    """`1 pod and 3 nodes are`, without those of which there are none."""
    counted = ((pods, "pod"), (nodes, "node"))
    told = [f"{number} {what}{'' if number == 1 else 's'}" for number, what in counted if number]
    return f"{' and '.join(told)} {'is' if pods + nodes == 1 else 'are'}"


def observed_of(result: ScheduleResult, around: Surroundings) -> Observed | None:
    """Return the messages about a pending pod; None if there are none."""
    pod = result.pod
    if result.current_node or pod.has_ended:
        return None
    events = around.events(pod)
    name = scheduler_name_of(pod)
    own = next(
        (event for event in events if event.reason == "FailedScheduling" and event.component == name and event.text),
        None,
    )
    said = tuple(
        event for event in events if event.reason in _AUTOSCALERS.get(event.component, ()) and event is not own
    )
    if own is None and not said:
        return None
    if own is None:
        return Observed(event=None, matches_replay=False, autoscalers=said)
    same = result.event is not None and same_text(own.text, result.event)
    causes = () if same else tuple(likely_causes(result, own.text, own.last_seen, around))
    return Observed(event=own, matches_replay=same, likely_causes=causes, autoscalers=said)


def same_text(theirs: str, ours: str) -> bool:
    """Report whether both are one message, be it that the first was cut as events are."""
    cut = theirs.removesuffix("...")
    return theirs == ours or (len(theirs) >= _NOTE_LIMIT - len("...") and ours.startswith(cut))


def likely_causes(
    result: ScheduleResult, message: str, at: str, around: Surroundings, *, is_foreign: bool = False
) -> Iterator[str]:
    """Yield what may be behind a scheduler's message of that time (RFC 3339) that is not the replay's.

    No plugin of kube-scheduler's own says one that is foreign.
    """
    if not result.pre_enqueue.is_success:
        yield "it is gated now"
    pods, nodes = around.since(at)
    if pods or nodes:
        yield f"the state moved on: {_pods_and_nodes(pods, nodes)} younger than the message"
    seen = message.partition(" nodes are available")[0].rpartition("/")[2]
    if seen.isdecimal() and int(seen) != len(result.nodes):
        theirs = "1 node" if seen == "1" else f"{seen} nodes"
        yield f"kube-scheduler saw {theirs}, and the replay has {len(result.nodes)}"
    framework = result.framework if isinstance(result, CycleResult) else None
    if framework is not None and framework.handle.extenders:
        yield "its configuration has extenders, which have a say of their own"
    if framework is not None and framework.profile.unknown_plugins:
        names = ", ".join(plugin.name for plugin in framework.profile.unknown_plugins)
        yield f"its profile has plugins that are not replayed: {names}"
    if is_foreign:
        yield "the scheduler has a plugin or an extender that is not replayed here"
    elif result.fits and not (pods or nodes):
        yield "it waits in the queue's backoff, or for an event that lets kube-scheduler try again (at most 5 minutes)"
    elif not result.fits and not (pods or nodes):
        yield (
            f"pods may have left since, or the scheduler is of another patch than the replayed "
            f"{result.kubernetes_version} or has other plugins"
        )

"""The ladder of one pod: what the search over its cycle finds, with what the rest of the cluster adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.timestamps import seconds_between, to_the_second
from kubectl_sched.api.meta import with_spec
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.diagnostics.awaited_changes import TIME_TO_ADD, adding_a_node
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.change import Change, Kind, Rung
from kubectl_sched.suggestions.rungs import as_ladder
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.verified import stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.suggestions.suggestion import Suggestion

_POOLS_NAMED = 2


def ladder(
    found: Explanation, node: str | None, schedulers: ClusterSchedulers, now: str | None
) -> tuple[Suggestion, ...]:
    """Return what helps the pod, least harm first; with `node` what helps it there."""
    if _is_served_by_nobody(found):
        return tuple(_somebody_to_serve(found, schedulers))
    coming = coming_node(found, now) if node is None else None
    suggestions = suggest(found.result, node, needs=found.needs, now=now)
    if node is not None or found.result.outcome is not Outcome.UNSCHEDULABLE:
        return suggestions
    moving = tuple(_moving(found.result, suggestions, schedulers)) if coming is None else ()
    moved = {
        step.pod.key for each in moving for change in each.changes for step in change.moves if step.pod is not None
    }
    others = [each for each in _beside(suggestions, coming) if not each.ends or not moved >= set(each.ends)]
    if any(each.comes_by_itself and each.promise is Promise.PREEMPTS for each in others):  # nobody else need end pods
        others = [each for each in others if each.rung != Rung.ENDS.value]
    pools = tuple(_pools_to_change(found)) if coming is None else ()
    left = tuple(_left_to_people(found, now)) if coming is None else ()
    if pools:  # the autoscaler makes and replaces nodes, and a label goes with its node
        others = [each for each in others if not any(change.kind is Kind.LABEL for change in each.changes)]
        others = [each for each in others if not _adds_nodes_of_karpenter(each)]
    if left:  # the autoscaler buys the nodes of this cluster
        others = [each for each in others if not each.adds_nodes]
    return as_ladder([*others, *moving, *pools, *left, *_claims(found)])


def _beside(suggestions: tuple[Suggestion, ...], coming: Suggestion | None) -> Iterator[Suggestion]:
    """Yield the suggestions; while an autoscaler adds a node, nobody ends for the pod and no other node is bought."""
    if coming is None:
        yield from suggestions
        return
    yield coming
    unwanted = {Rung.PAY.value, Rung.ENDS.value}
    yield from (each for each in suggestions if each.rung not in unwanted)


def coming_node(found: Explanation, now: str | None) -> Suggestion | None:
    """Return the node to wait for; None if no autoscaler adds one, or if one should have come long ago."""
    if found.result.pod.provisioning_request:
        step = _of_request(found, now)
        if step is not None:
            return step if step.rung == Rung.WAIT.value else None
    events = found.observed.autoscalers[:1] if found.observed is not None else ()
    by_event = adding_a_node(found.observed)
    if by_event is not None:
        age = seconds_between(events[0].last_seen, now)
        groups = found.new_nodes.cluster_autoscaler if found.new_nodes is not None else None
        in_vain = groups is not None and any(each.grown_in_vain for each in groups.groups)
        if in_vain or (age is not None and age > TIME_TO_ADD):
            return None
        from kubectl_sched.queries.provisioning.scale_up_events import growing_groups  # most pods have no such event

        where = growing_groups(events[0].text)
        text = f"{by_event} adds a node{where} (its event {events[0].reason} at {to_the_second(events[0].last_seen)})"
        return stated(Change(kind=Kind.WAIT, text=text))
    predicted = _predicted(found, now)
    return stated(Change(kind=Kind.WAIT, text=predicted)) if predicted is not None else None


def _of_request(found: Explanation, now: str | None) -> Suggestion | None:
    """Return the step before the room of the pod's ProvisioningRequest; None if it consumes none."""
    # most pods consume none
    from kubectl_sched.queries.provisioning.provisioning_requests import consumes_request, step_of_request

    around = found.around
    if around is None or not consumes_request(found.result, around):
        return None
    return step_of_request(found.result, around, now)


def _left_to_people(found: Explanation, now: str | None) -> Iterator[Suggestion]:
    step = _of_request(found, now) if found.result.pod.provisioning_request else None
    if step is not None:
        yield step
        return
    if found.observed is not None and found.observed.autoscalers:
        from kubectl_sched.queries.provisioning.scale_up_events import left_to_people  # as above

        yield from left_to_people(found, now)


def _predicted(found: Explanation, now: str | None) -> str | None:
    """Return what the replay of the autoscaler says that it does, None if that gives the pod no node."""
    new_nodes = found.new_nodes
    if new_nodes is None:
        return None
    karpenter, groups = new_nodes.karpenter, new_nodes.cluster_autoscaler
    started = {each.name: each.since for each in new_nodes.starting}
    late = any((seconds_between(since, now) or 0) > TIME_TO_ADD for since in started.values())
    if karpenter is not None and karpenter.verdict == "Created":
        refused = karpenter.then_scheduler is not None and karpenter.then_scheduler.outcome != Outcome.SCHEDULABLE.value
        return None if refused else f"Karpenter creates a node for it from NodePool {karpenter.node_pool}"
    if karpenter is not None and karpenter.verdict == "InFlight" and not late:
        since = started.get(karpenter.node)
        return f"Karpenter's node {karpenter.node} is starting" + (f" (created at {since})" if since else "")
    for each in groups.groups if groups is not None else ():
        if each.verdict == "Created":
            size = f" (it has {each.size} of at most {each.max} nodes)" if each.size is not None and each.max else ""
            return f"cluster-autoscaler adds a node to group {each.name}{size}"
        if each.verdict == "InFlight" and not late:
            return f"a node of group {each.name} is starting"
    return None


def _pools_to_change(found: Explanation) -> Iterator[Suggestion]:
    """Yield what would have to change in a NodePool or node group, as the replay of its autoscaler found."""
    new_nodes = found.new_nodes
    replays = (new_nodes.karpenter, new_nodes.cluster_autoscaler) if new_nodes is not None else ()
    advice = [each for replay in replays if replay is not None for each in replay.advice]
    yield from (stated(Change(kind=Kind.CHANGE_POOL, text=each.sentence)) for each in advice[:_POOLS_NAMED])


def _adds_nodes_of_karpenter(suggestion: Suggestion) -> bool:
    """Report whether nodes are added that Karpenter alone makes, and nobody by hand."""
    from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NODE_POOL  # most clusters have none

    return any(NODE_POOL in node.metadata.labels for change in suggestion.changes for node, _ in change.adds)


def _moving(
    result: ScheduleResult, suggestions: tuple[Suggestion, ...], schedulers: ClusterSchedulers
) -> Iterator[Suggestion]:
    """Yield a plan of moves where nothing on the rung before it costs less than an eviction."""
    if any(each.comes_by_itself for each in suggestions):
        return
    from kubectl_sched.suggestions.moves import move  # only for pods that fit nowhere

    found = move(result, schedulers.scheduler(result.pod), schedulers.profile)
    if found is not None:
        yield found


def _is_served_by_nobody(found: Explanation) -> bool:
    return found.result.outcome is Outcome.NO_PROFILE or (found.stage is not None and found.stage.name == "NoScheduler")


def _somebody_to_serve(found: Explanation, schedulers: ClusterSchedulers) -> Iterator[Suggestion]:
    """Suggest the default scheduler where the pod fits by it, or else to start the one that it names."""
    name = scheduler_name_of(found.pod)
    if name != DEFAULT_SCHEDULER_NAME:
        yield from _by_default_scheduler(found, schedulers)
    text = f"start scheduler {name}: no pod of it is seen, and the pod names it as its schedulerName"
    yield stated(Change(kind=Kind.PROVIDE, text=text[0].upper() + text[1:]))


def _by_default_scheduler(found: Explanation, schedulers: ClusterSchedulers) -> Iterator[Suggestion]:
    from kubectl_sched.suggestions.trial import Trial
    from kubectl_sched.suggestions.verified import verified

    pod = found.result.pod
    served = with_spec(pod, scheduler_name=DEFAULT_SCHEDULER_NAME)
    result = schedulers.default_scheduler.schedule_one(served)
    if not isinstance(result, CycleResult) or not result.fits:
        return
    change = Change(
        kind=Kind.USE_SCHEDULER,
        text=f"with schedulerName: {DEFAULT_SCHEDULER_NAME}",
        step=f"set schedulerName: {DEFAULT_SCHEDULER_NAME}",
        pod=lambda pod: with_spec(pod, scheduler_name=DEFAULT_SCHEDULER_NAME),
        caution=f"what {scheduler_name_of(pod)} would do for it, such as placing a group at once, is not done",
    )
    base = replace(Trial.of(result), pod=pod)
    suggestion = verified(base, (change,), None, frozenset(Promise))
    if suggestion is not None:
        yield suggestion


def _claims(found: Explanation) -> Iterator[Suggestion]:
    """Yield what to do about claims that the pod names and that are not there, where all claims were read."""
    if found.missing:
        return
    from kubectl_sched.suggestions.remedies.missing_claims import missing_claims  # most pods have none

    yield from missing_claims(found.result)

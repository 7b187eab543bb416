"""The plan of the writes that bind a pod: the same requests that are sent later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.binding.api_requests import bind_pod, create_event, patch_pod_status, pre_bind
from kubectl_sched.binding.bind_context import against, refusal, target
from kubectl_sched.binding.event_recorder import event_of, scheduled
from kubectl_sched.binding.pod_status import status_change
from kubectl_sched.binding.preemption_executor import preemption_of, preemption_requests, without_preemption
from kubectl_sched.binding.scheduling_failure import failure_change, report_of
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.binding.unreserve import removal_of
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.plugins.dynamic_resources.state import STATE as CLAIMS
from kubectl_sched.render.answers.binding_plan import BindingPlan, PlannedWrite
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.end_of_cycle import reserved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.binding.bind_context import Order, Situation
    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.scheduling_failure import Report
    from kubectl_sched.binding.writer import Request
    from kubectl_sched.framework.reserved_object import Reservation, Write
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult


def plan_of(situation: Situation, order: Order) -> BindingPlan:
    """The whole plan. Raises SchedError for a node that is not there."""
    result = situation.result
    node = target(situation, order)
    victims = _chosen_victims(result, order) if node is None and not situation.stale else ()
    return BindingPlan(
        pod=situation.pod.key,
        node=node,
        summary=headline(situation.explanation),
        serving=(situation.serving.state, situation.serving.evidence),
        writes=_writes(situation, order, node, victims) if refusal(situation, order) is None else (),
        leftovers=situation.leftovers,
        victims=tuple(victim.key for victim in victims),
        ignored=against(result, node) if node is not None and order.ignore_filters else (),
        notes=(*situation.notes, *(_violated_budgets(result) if victims else ())),
        clears=node is None and bool(situation.stale),
    )


def _writes(situation: Situation, order: Order, node: str | None, victims: tuple[Pod, ...]) -> tuple[PlannedWrite, ...]:
    if node is not None and isinstance(situation.result, CycleResult):
        return binding_writes(situation.result, node)
    if situation.stale:
        return tuple(_stale_claim_writes(situation.stale))
    preemption = preemption_of(situation.result)
    if victims and preemption is not None:
        return (*preemption_writes(preemption), *_failure_writes(situation.result))
    return _failure_writes(without_preemption(situation.result)) if order.node is None else ()


def _chosen_victims(result: ScheduleResult, order: Order) -> tuple[Pod, ...]:
    """Victims that --preempt allows to delete, from the node that was asked for if one was."""
    found = preemption_of(result) if order.preempt else None
    return found.victims if found is not None and order.node in {None, found.place} else ()


def _violated_budgets(result: ScheduleResult) -> tuple[str, ...]:
    """A sentence about the PodDisruptionBudgets that preemption violates."""
    found = result.post_filter
    if found is None:
        return ()
    chosen = (each for each in found.candidates if each.node_name == found.nominated_node)
    budgets = sorted({budget for each in chosen for budget in each.violated_budgets})
    return tuple(f"preemption violates PodDisruptionBudget {budget}, as kube-scheduler would" for budget in budgets)


def in_words(plan: BindingPlan) -> str:
    """Say in one clause what would be done."""
    if plan.node is None and not plan.victims:
        return f"would remove what an earlier attempt left of pod {plan.pod}, and look again"
    if plan.node is None:
        return f"would preempt {', '.join(plan.victims)} for pod {plan.pod}"
    return f"would bind pod {plan.pod} to node {plan.node}"


def binding_writes(result: CycleResult, node: str) -> tuple[PlannedWrite, ...]:
    """In order, what BindingCycle writes if all goes well."""
    pod = result.pod
    reservations = reserved(result, node, time_now())
    planned: list[PlannedWrite] = []
    if _nominates(result, reservations) and (change := status_change(pod, None, node, now=time_now())):
        planned.append(planned_write(patch_pod_status(pod, change), f"nominate the pod to {node} while it waits"))
    for reservation in reservations:
        planned += (planned_write(pre_bind(write), _words(reservation, write)) for write in reservation.writes)
    planned.append(planned_write(bind_pod(pod, node), f"bind the pod to {node}"))
    event = event_of(pod, scheduled(pod, node), scheduler_name_of(pod), "", 0)
    planned.append(planned_write(create_event(event), f"event Scheduled, from {scheduler_name_of(pod)}"))
    return tuple(planned)


def _nominates(result: CycleResult, reservations: tuple[Reservation, ...]) -> bool:
    claims = result.state.get(CLAIMS)
    waits = bool(reservations) or (claims is not None and bool(claims.claims.claims))
    return waits and result.framework.handle.features.enabled("NominatedNodeNameForExpectation")


def _failure_writes(result: ScheduleResult) -> tuple[PlannedWrite, ...]:
    """The requests of report_failure for a pod that does not fit."""
    report = report_of(result)
    if report is None or not isinstance(result, CycleResult):
        return ()
    return report_writes(result.pod, report, result.framework)


def report_writes(pod: Pod, report: Report, framework: Framework) -> tuple[PlannedWrite, ...]:
    """The requests of write_report."""
    event = event_of(pod, report.event, scheduler_name_of(pod), "", 0)
    planned = [planned_write(create_event(event), f"event {report.event.reason}, from {scheduler_name_of(pod)}")]
    change = failure_change(pod, report, framework)
    if change:
        said = (
            [f"PodScheduled is False, {report.condition.reason}"] if report.condition and "conditions" in change else []
        )
        if "nominatedNodeName" in change:
            nominated = change["nominatedNodeName"]
            said.append(f"nominated to {nominated}" if nominated else "no longer nominated")
        planned.append(planned_write(patch_pod_status(pod, change), "; ".join(said)))
    return tuple(planned)


def preemption_writes(preemption: Preemption) -> Iterator[PlannedWrite]:
    """The requests of preemption, and the event about each victim."""
    yield from (planned_write(request, words) for request, words in preemption_requests(preemption))
    for victim in preemption.to_delete:
        event = event_of(victim, preemption.victim_event(), preemption.scheduler_name, "", 0)
        yield planned_write(create_event(event), f"event Preempted, about {victim.key}")


def _stale_claim_writes(claims: Iterable[ResourceClaim]) -> Iterator[PlannedWrite]:
    """The end of claims that an earlier attempt made for the pod's extended resources."""
    for claim in claims:
        for request in removal_of(claim):
            yield planned_write(request, f"remove ResourceClaim {claim.name}, which an earlier attempt made")


def planned_write(request: Request, what: str) -> PlannedWrite:
    """The request as a plan shows it."""
    return PlannedWrite(method=request.method, path=request.path, what=what)


def _words(reservation: Reservation, write: Write) -> str:
    """Describe a write of PreBind."""
    metadata = write.body.get("metadata", {})
    if write.verb == "create":
        return "make a claim for the pod's extended resources"
    if write.kind == "PersistentVolume":
        claim = write.body.get("spec", {}).get("claimRef", {})
        return f"set volume {write.name} aside for claim {claim.get('namespace', '')}/{claim.get('name', '')}"
    if write.kind == "PersistentVolumeClaim":
        return f"select node {reservation.item.metadata.annotations.selected_node} for claim {write.name}"
    if "finalizers" in metadata:
        return f"guard ResourceClaim {write.name} against deletion"
    if write.kind == "ResourceClaim":
        takes = "take devices for and " if "allocation" in write.body["status"] else ""
        return f"{takes}reserve ResourceClaim {write.name}"
    return f"tell the pod's status of {', '.join(write.body['status'])}"

"""Statements of Kueue about a pod that waits: conditions and checks, quoted, and what is stopped or missing."""

from __future__ import annotations

from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.kueue import QUEUE_NAME, AdmissionCheck, ClusterQueue, LocalQueue
from kubectl_sched.diagnostics.gates.gate import Need, Queue, QueuePlace, Statement, about, conditions_of
from kubectl_sched.diagnostics.gates.kueue_quotas import cohort_quotas, quotas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.kueue import QueuedWorkloadStatus
    from kubectl_sched.diagnostics.gates.kueue_chain import KueueChain, KueueObjects

KUEUE = "Kueue"
_NAMED = 10
_REASONS: Final = Path(__file__).with_name("kueue_reasons.json")
"""The meaning of the reasons of each condition of Workloads and queues (Kueue 0.18, and 0.19 with or without its gate
UnadmittedWorkloadsObservability)."""

_MUST_BE_TRUE: Final = frozenset({"QuotaReserved", "Admitted", "PodsReady", "Active", "Requeued"})
"""Conditions that keep pods waiting while they are False; all others do while they are True."""


def statements(chain: KueueChain, objects: KueueObjects) -> Iterator[Statement]:
    """Quote the Workload's conditions and checks, and what queues, checks and ProvisioningRequests say besides."""
    workload = chain.workload
    if workload is not None:
        yield from map(_in_plain_words, conditions_of(workload, workload.status.conditions))
        for field, said in _fields(workload.status):
            yield Statement(about=about(workload), type=field, message=said)
        for check in workload.status.admission_checks:
            yield Statement(
                about=about(workload),
                type=f"AdmissionCheck {check.name}",
                status=check.state,
                message=check.message,
                since=check.last_transition_time,
            )
            known = objects.named(AdmissionCheck, check.name)
            if known is not None:
                said_of_check = conditions_of(known, known.status.conditions)
                yield from (_in_plain_words(each) for each in said_of_check if each.status != "True")
    for queue in (chain.local_queue, chain.cluster_queue):
        if queue is not None:
            said_of_queue = conditions_of(queue, queue.status.conditions)
            yield from (_in_plain_words(each) for each in said_of_queue if each.status != "True")
    for request in chain.requests:
        yield from conditions_of(request, request.status.conditions)


def _in_plain_words(said: Statement) -> Statement:
    """Add what the reason of a condition means, where the condition is one that keeps pods waiting."""
    waits = said.status == ("False" if said.type in _MUST_BE_TRUE else "True")
    meaning = _reasons().get(said.type, {}).get(said.reason, "") if waits else ""
    return replace(said, says=meaning) if meaning else said


@cache
def _reasons() -> dict[str, dict[str, str]]:
    return msgspec.json.decode(_REASONS.read_bytes(), type=dict[str, dict[str, str]])


def _fields(status: QueuedWorkloadStatus) -> Iterator[tuple[str, str]]:
    """Yield fields of a Workload's status that say where it is beside its conditions."""
    if status.requeue_state is not None:
        again = status.requeue_state
        yield "requeueState", f"count {again.count}, requeueAt {again.requeue_at or 'not set'}"
    if status.cluster_name:
        yield "clusterName", status.cluster_name
    if status.nominated_cluster_names:
        yield "nominatedClusterNames", ", ".join(status.nominated_cluster_names[:_NAMED])
    for check in status.admission_checks:
        if check.retry_count or check.requeue_after_seconds is not None:
            after = "not set" if check.requeue_after_seconds is None else check.requeue_after_seconds
            yield f"AdmissionCheck {check.name}", f"retryCount {check.retry_count}, requeueAfterSeconds {after}"
    if status.unhealthy_nodes:
        yield "unhealthyNodes", ", ".join(each.name for each in status.unhealthy_nodes[:_NAMED])
    closed = [each.name for each in status.preemption_gates if each.position != "Open"]
    if closed:
        yield "preemptionGates", f"closed: {', '.join(closed[:_NAMED])}"


def facts(chain: KueueChain, objects: KueueObjects) -> Iterator[str]:
    """Yield a sentence for each part of the chain that is stopped, missing or not for this namespace."""
    if chain.workload is None:
        yield "no Workload of Kueue for it was found"
        total = chain.held.metadata.annotations.kueue_group_size
        if total:
            yield f"its pod group is of {total} pods, of which {objects.group_size(chain.held):,} were found"
    yield from (need.fact for need in _unmet(chain, objects))
    if chain.queue_name and chain.local_queue is None and _is_unread(LocalQueue, chain, objects):
        yield f"no LocalQueue was read, so what {chain.queue_name} says is not known ({_read_by('localqueues -A')})"
    queue = chain.local_queue.spec.cluster_queue if chain.local_queue is not None else ""
    if queue and chain.cluster_queue is None and _is_unread(ClusterQueue, chain, objects):
        yield f"no ClusterQueue was read, so what {queue} says is not known ({_read_by('clusterqueues')})"
    if chain.namespace is not None and objects.no_queue_admits(chain.namespace):
        yield f"namespace {chain.held.namespace} matches the namespaceSelector of no ClusterQueue"


def _read_by(kind: str) -> str:
    return f"`kubectl get {kind} -o json` has them"


def _is_unread(kind: type[LocalQueue | ClusterQueue], chain: KueueChain, objects: KueueObjects) -> bool:
    """Report whether no object of the kind was read, and Kueue does not say itself that the queue is missing."""
    said = chain.workload.status.conditions if chain.workload is not None else ()
    is_missing = any(f"{kind.__name__} " in each.message and "doesn't exist" in each.message for each in said)
    return not objects.all(kind) and not is_missing


def needs(chain: KueueChain, objects: KueueObjects) -> Iterator[Need]:
    """Yield the conditions that somebody has to meet before Kueue reserves quota; nothing where it has."""
    if chain.workload is None or chain.workload.status.admission is None:
        yield from _unmet(chain, objects)


def _unmet(chain: KueueChain, objects: KueueObjects) -> Iterator[Need]:
    namespace, local_queue, queue = chain.held.namespace, chain.local_queue, chain.cluster_queue
    if chain.workload is not None and not chain.workload.spec.active:
        yield Need(
            controller=KUEUE,
            fact=f"{about(chain.workload)} is not active (spec.active is false)",
            once=f"{about(chain.workload)} is active again",
            instruction=f"set spec.active of {about(chain.workload)} to true",
        )
    if chain.queue_name and local_queue is None and not _is_unread(LocalQueue, chain, objects):
        yield _local_queue(chain, objects)
    if local_queue is not None and queue is None and not _is_unread(ClusterQueue, chain, objects):
        name = local_queue.spec.cluster_queue
        yield Need(
            controller=KUEUE,
            fact=f"no ClusterQueue {name} was found",
            once=f"ClusterQueue {name} is there",
            instruction=f"create ClusterQueue {name}, or create {about(local_queue)} anew for one that is there"
            f"{_admitting(chain, objects)}: its clusterQueue cannot be changed",
        )
    for each in (local_queue, queue):
        if each is not None and each.spec.stop_policy not in {"", "None"}:
            yield Need(
                controller=KUEUE,
                fact=f"{about(each)} is stopped (stopPolicy {each.spec.stop_policy})",
                once=f"{about(each)} is no longer stopped",
                instruction=f"set spec.stopPolicy of {about(each)} to None",
            )
    if chain.namespace is not None and queue is not None and not objects.admits(queue, chain.namespace):
        matches = f"the namespaceSelector of {about(queue)}"
        yield Need(
            controller=KUEUE,
            fact=f"namespace {namespace} does not match {matches}",
            once=f"namespace {namespace} matches {matches}",
            instruction=f"give namespace {namespace} the labels that {about(queue)} asks for, or widen {matches}",
        )


def _local_queue(chain: KueueChain, objects: KueueObjects) -> Need:
    """Make the LocalQueue, or have the label name one that there is."""
    namespace, name = chain.held.namespace, f"{chain.held.namespace}/{chain.queue_name}"
    others = (each.name for each in objects.all(LocalQueue) if each.namespace == namespace)
    owner = chain.held.metadata.controller
    whose = f" of its {'Deployment' if owner.kind == 'ReplicaSet' else owner.kind}" if owner is not None else ""
    return Need(
        controller=KUEUE,
        fact=f"no LocalQueue {name} was found",
        once=f"LocalQueue {name} is there",
        instruction=f"create LocalQueue {name} for a ClusterQueue{_admitting(chain, objects)}, or name a LocalQueue "
        f"of namespace {namespace} that is there{_some_of(others)} in the label {QUEUE_NAME}{whose}",
    )


def _admitting(chain: KueueChain, objects: KueueObjects) -> str:
    """` (a, b)`: the ClusterQueues that are for the namespace, as far as its labels are known."""
    namespace, queues = chain.namespace, objects.all(ClusterQueue)
    return _some_of(each.name for each in queues if namespace is None or objects.admits(each, namespace))


def _some_of(names: Iterable[str]) -> str:
    """` (a, b)`; empty if there are none."""
    found = sorted(names)[:_NAMED]
    return f" ({', '.join(found)})" if found else ""


def queue_of(chain: KueueChain, objects: KueueObjects) -> Queue:
    """Describe the queues, the place in them as far as it is known, and the quotas."""
    workload, queue, place = chain.workload, chain.cluster_queue, chain.place
    return Queue(
        local_queue=chain.queue_name,
        cluster_queue=queue.name if queue is not None else None,
        cohorts=chain.cohorts,
        place=QueuePlace(
            local_queue=place.position_in_local_queue + 1, cluster_queue=place.position_in_cluster_queue + 1
        )
        if place is not None
        else None,
        priority=workload.spec.priority if workload is not None else None,
        created=workload.metadata.creation_timestamp if workload is not None else None,
        pending=queue.status.pending_workloads if queue is not None else None,
        waiting=tuple(islice(_waiting(chain, objects), _NAMED)),
        quotas=quotas(chain),
        cohort_quotas=cohort_quotas(chain),
    )


def _waiting(chain: KueueChain, objects: KueueObjects) -> Iterator[str]:
    """Name the other workloads of the LocalQueue that have no quota yet, with the inputs of their order."""
    for each in objects.waiting(chain.held.namespace, chain.queue_name) if chain.workload is not None else ():
        if each is not chain.workload:
            yield f"{each.name} (priority {each.spec.priority or 0}, made {each.metadata.creation_timestamp})"

"""Statements of Kueue about a pod that waits: conditions and checks, quoted, and what is stopped or missing."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from kubectl_sched.api.kueue import AdmissionCheck
from kubectl_sched.diagnostics.gates.gate import Queue, QueuePlace, Statement, about, conditions_of
from kubectl_sched.diagnostics.gates.kueue_quotas import cohort_quotas, quotas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.kueue import QueuedWorkloadStatus
    from kubectl_sched.diagnostics.gates.kueue_chain import KueueChain, KueueObjects

_NAMED = 10


def statements(chain: KueueChain, objects: KueueObjects) -> Iterator[Statement]:
    """Quote the Workload's conditions and checks, and what queues, checks and ProvisioningRequests say besides."""
    workload = chain.workload
    if workload is not None:
        yield from conditions_of(workload, workload.status.conditions)
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
                yield from (each for each in conditions_of(known, known.status.conditions) if each.status != "True")
    for queue in (chain.local_queue, chain.cluster_queue):
        if queue is not None:
            yield from (each for each in conditions_of(queue, queue.status.conditions) if each.status != "True")
    for request in chain.requests:
        yield from conditions_of(request, request.status.conditions)


def _fields(status: QueuedWorkloadStatus) -> Iterator[tuple[str, str]]:
    """Yield fields of a Workload's status that say where it is beside its conditions."""
    if status.requeue_state is not None:
        again = status.requeue_state
        yield "requeueState", f"count {again.count}, requeueAt {again.requeue_at or 'not set'}"
    if status.cluster_name:
        yield "clusterName", status.cluster_name
    if status.nominated_cluster_names:
        yield "nominatedClusterNames", ", ".join(status.nominated_cluster_names[:_NAMED])


def facts(chain: KueueChain, objects: KueueObjects) -> Iterator[str]:
    """Yield a sentence for each part of the chain that is stopped, missing or not for this namespace."""
    held, local_queue, queue = chain.held, chain.local_queue, chain.cluster_queue
    yield from _about_workload(chain, objects)
    if chain.queue_name and local_queue is None:
        yield f"no LocalQueue {held.namespace}/{chain.queue_name} was found"
    if local_queue is not None and queue is None:
        yield f"no ClusterQueue {local_queue.spec.cluster_queue} was found"
    for each in (local_queue, queue):
        if each is not None and each.spec.stop_policy not in {"", "None"}:
            yield f"{about(each)} is stopped (stopPolicy {each.spec.stop_policy})"
    if chain.namespace is None:
        return
    if queue is not None and not objects.admits(queue, chain.namespace):
        yield f"namespace {held.namespace} does not match the namespaceSelector of {about(queue)}"
    if objects.no_queue_admits(chain.namespace):
        yield f"namespace {held.namespace} matches the namespaceSelector of no ClusterQueue"


def _about_workload(chain: KueueChain, objects: KueueObjects) -> Iterator[str]:
    if chain.workload is None:
        yield "no Workload of Kueue for it was found"
        total = chain.held.metadata.annotations.kueue_group_size
        if total:
            yield f"its pod group is of {total} pods, of which {objects.group_size(chain.held):,} were found"
    elif not chain.workload.spec.active:
        yield f"{about(chain.workload)} is not active (spec.active is false)"


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

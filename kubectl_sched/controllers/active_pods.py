"""The order in which controllers delete pods that are too many.

Answers to ActivePods and ActivePodsWithRanks of pkg/controller/controller_utils.go, and to activePodsForRemoval of
pkg/controller/job/job_controller.go.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import cmp_to_key
from heapq import nsmallest
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.timestamps import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from kubectl_sched.api.apps import Job
    from kubectl_sched.api.pod import Pod

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
_PHASES = {"Unknown": 1, "Running": 2}


class _Compared(NamedTuple):
    pod: Pod
    stage: tuple[bool, int, bool]
    """Has a node, phase, is ready: what is compared first."""

    ready_since: datetime | None
    restarts: tuple[int, int]
    created: datetime | None


def least_wanted(
    pods: Sequence[Pod], number: int, now: str | None, all_nodes: Iterable[str | None] | None = None
) -> list[Pod]:
    """Return the first `number` pods to go, in the order of the ReplicaSet controller (ActivePodsWithRanks).

    Pods without a node go first. Pods that do not run follow, then pods that are not ready, have the lowest deletion
    cost, share their node with most pods of their Deployment, or are youngest. Ages at `now` are the same within a
    power of two. `all_nodes` has the node of each pod of the Deployment, if there are others than these. All pods are
    put in order at once: a pod that goes still counts for the others (getPodsToDelete).
    """
    on_node = Counter((pod.spec.node_name for pod in pods) if all_nodes is None else all_nodes)

    def cost_and_rank(pod: Pod) -> tuple[int, int]:
        return parse_int64(pod.metadata.annotations.deletion_cost or "") or 0, -on_node[pod.spec.node_name]

    return _first(number, pods, cost_and_rank, moment(now))


def least_wanted_of_job(job: Job, pods: Sequence[Pod], number: int) -> list[Pod]:
    """Return at least so many of the pods that a Job deletes first (activePodsForRemoval).

    All of an indexed Job go whose index is out of range, or that another pod has.
    """
    ordered = _first(len(pods), pods, lambda _: (0, 0), None)
    gone: list[Pod] = []
    if job.spec.completion_mode == "Indexed" and job.spec.completions is not None:
        last = {_index(pod): pod.key for pod in ordered}
        in_range = range(job.spec.completions)
        gone = [pod for pod in ordered if _index(pod) not in in_range or last[_index(pod)] != pod.key]
        ordered = [pod for pod in ordered if pod not in gone]
    return [*gone, *ordered[: max(0, number - len(gone))]]


def _index(pod: Pod) -> int | None:
    return parse_int64(pod.metadata.labels.get(COMPLETION_INDEX, ""))


def _first(number: int, pods: Iterable[Pod], rank: Callable[[Pod], tuple[int, int]], now: datetime | None) -> list[Pod]:
    def compare(one: tuple[_Compared, tuple[int, int]], other: tuple[_Compared, tuple[int, int]]) -> int:
        (first, first_rank), (second, second_rank) = one, other
        if first.stage != second.stage:
            return -1 if first.stage < second.stage else 1
        if first_rank != second_rank:
            return -1 if first_rank < second_rank else 1
        uids = first.pod.metadata.uid, second.pod.metadata.uid
        order = _younger(first.ready_since, second.ready_since, now, uids)
        if order:
            return order
        if first.restarts != second.restarts:
            return -1 if first.restarts > second.restarts else 1
        return _younger(first.created, second.created, now, uids)

    ranked = [(_compared(pod), rank(pod)) for pod in pods]
    return [each.pod for each, _ in nsmallest(number, ranked, key=cmp_to_key(compare))]


def is_ready(pod: Pod) -> bool:
    """Report whether its condition Ready is true."""
    ready = pod.condition("Ready")
    return ready is not None and ready.status == "True"


def _compared(pod: Pod) -> _Compared:
    ready = pod.condition("Ready") if is_ready(pod) else None
    return _Compared(
        pod=pod,
        stage=(bool(pod.spec.node_name), _PHASES.get(pod.status.phase, 0), ready is not None),
        ready_since=moment(ready.last_transition_time) if ready is not None else None,
        restarts=_restarts(pod),
        created=moment(pod.metadata.creation_timestamp),
    )


def _younger(one: datetime | None, other: datetime | None, now: datetime | None, uids: tuple[str, str]) -> int:
    """Compare two times: none comes before any, later ones before earlier ones (afterOrZero, logarithmicRankDiff)."""
    if one == other:
        return 0
    if one is None or other is None:
        return -1 if one is None else 1
    if now is None:
        return -1 if one > other else 1
    return _magnitude(now - one) - _magnitude(now - other) or (-1 if uids[0] < uids[1] else 1)


def _magnitude(age: timedelta) -> int:
    return int(log2(age / timedelta(microseconds=1) * 1000)) if age > timedelta() else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar (maxContainerRestarts)."""
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    of_sidecars = (each.restart_count for each in pod.status.init_container_statuses if each.name in sidecars)
    regular = max((each.restart_count for each in pod.status.container_statuses), default=0)
    return max(0, regular), max(0, max(of_sidecars, default=0))

"""A rollout that blocks itself: the new pod fits only where an old one is, which stays until the new one is ready.

Anti-affinity on each node, host ports, one node without room for two, a full spread and one volume do that. So does a
DaemonSet with maxSurge, whose two pods stand on one node (kubernetes#106417).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from kubectl_sched.api.apps import DaemonSet, Deployment, ReplicaSet
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import schedule_one
from kubectl_sched.shell_commands import patch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.apps import IntOrPercent, UpdateStrategy
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.pod_surroundings import Surroundings

Item = TypeVar("Item", ReplicaSet, Deployment, DaemonSet)

KIND: Final = "BlockedRollout"

_ROLLING: Final = "RollingUpdate"
_DEFAULT: Final = "25%"
_REVISION: Final = "controller-revision-hash"


def findings(result: CycleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield the rollout that waits for itself, if the pod would fit were the old pods of its workload gone."""
    if result.outcome is not Outcome.UNSCHEDULABLE:
        return
    yield from _of_daemon_set(result, around)
    deployment = _deployment_of(result.pod, around)
    if deployment is None or deployment.spec.strategy.type not in {"", _ROLLING} or _may_end_an_old_pod(deployment):
        return
    removed, old = _old_pods(result, deployment, around)
    if not old:
        return
    after = schedule_one(result.pod, result.nodes.without(removed), result.framework)
    if not after.fits or not after.best:
        return
    replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    rolling = deployment.spec.strategy.rolling_update
    stated = rolling.max_unavailable if rolling is not None else None
    allowed = f"maxUnavailable is 0 ({_DEFAULT if stated is None else stated} of {replicas:,}, rounded down)"
    first, *more = old
    others = f" or {len(more):,} more of them" if more else ""
    yield Finding(
        kind=KIND,
        sentence=f"The rollout of Deployment {deployment.key} blocks itself: the new pod fits only once old pod "
        f"{first.name} (on {first.spec.node_name}){others} is gone, and that stays until the new pod is ready, as "
        f"{allowed}; let old pods end first: maxUnavailable 1, or strategy Recreate",
        commands=tuple(filter(None, (_ending_first(deployment),))),
    )


def _of_daemon_set(result: CycleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield the rollout of a DaemonSet that surges: the old pod goes once the new one on its node is available."""
    owner = result.pod.metadata.controller
    if owner is None or owner.kind != "DaemonSet":
        return
    daemon_set = _named(around, DaemonSet, owner.name, result.pod.namespace)
    if daemon_set is None or not _surges(daemon_set.spec.update_strategy):
        return
    removed, old = _older_daemons(result, owner.name, around)
    after = schedule_one(result.pod, result.nodes.without(removed), result.framework) if old else None
    first = next((pod for pod in old if after is not None and pod.spec.node_name in after.best), None)
    if first is None:
        return
    rolling = daemon_set.spec.update_strategy.rolling_update
    surge = rolling.max_surge if rolling is not None else None
    node = first.spec.node_name
    yield Finding(
        kind=KIND,
        sentence=f"The rollout of DaemonSet {daemon_set.key} blocks itself: the new pod fits on {node} only once old "
        f"pod {first.name} is gone, and that stays until the new pod is ready, as maxSurge is {surge}; let the old pod "
        "end first: maxSurge 0 and maxUnavailable 1",
        commands=tuple(filter(None, (_daemon_ending_first(daemon_set),))),
    )


def _surges(strategy: UpdateStrategy) -> bool:
    surge = strategy.rolling_update.max_surge if strategy.rolling_update is not None else None
    return strategy.type in {"", _ROLLING} and surge is not None and str(surge) not in {"0", "0%"}


def _older_daemons(result: ScheduleResult, name: str, around: Surroundings) -> tuple[Mask, Sequence[Pod]]:
    """Return the DaemonSet's pods of another revision, as a mask over existing pods, too."""
    existing, own = result.nodes.existing_pods, result.pod
    removed = np.zeros(len(existing), dtype=np.bool_)
    found: list[Pod] = []
    for pod in around.owned_by("DaemonSet", own.namespace, name):
        if not isinstance(pod, Pod):
            continue
        index = existing.find(pod.namespace, pod.name)
        if index is not None and pod.metadata.labels.get(_REVISION) != own.metadata.labels.get(_REVISION):
            removed[index] = True
            found.append(pod)
    return removed, found


def _deployment_of(pod: Pod, around: Surroundings) -> Deployment | None:
    owner = pod.metadata.controller
    if owner is None or owner.kind != "ReplicaSet":
        return None
    replica_set = _named(around, ReplicaSet, owner.name, pod.namespace)
    above = replica_set.metadata.controller if replica_set is not None else None
    return _named(around, Deployment, above.name, pod.namespace) if above is not None else None


def _named(around: Surroundings, kind: type[Item], name: str, namespace: str) -> Item | None:
    return around.workloads.get(kind, name, namespace)


def _may_end_an_old_pod(deployment: Deployment) -> bool:
    """Report whether the strategy lets an old pod end before a new one is ready (ResolveFenceposts)."""
    replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    rolling = deployment.spec.strategy.rolling_update
    unavailable = _of(rolling.max_unavailable if rolling is not None else None, replicas)
    surge = _DEFAULT if rolling is None or rolling.max_surge is None else rolling.max_surge
    return unavailable > 0 or str(surge) in {"0", "0%"}


def _of(amount: IntOrPercent | None, replicas: int) -> int:
    """Return maxUnavailable as a number of pods: a share is rounded down."""
    stated = _DEFAULT if amount is None else amount
    if isinstance(stated, int):
        return stated
    share = stated.removesuffix("%")
    return int(share) * replicas // 100 if share.isascii() and share.isdigit() and len(share) < 4 else 0


def _old_pods(result: ScheduleResult, deployment: Deployment, around: Surroundings) -> tuple[Mask, Sequence[Pod]]:
    """Return the pods of the Deployment's other ReplicaSets that are on nodes, as a mask over existing pods, too."""
    own = result.pod.metadata.controller
    older = [
        item.name
        for item in around.owned_by("Deployment", deployment.namespace, deployment.name)
        if isinstance(item, ReplicaSet) and (own is None or item.name != own.name)
    ]
    existing = result.nodes.existing_pods
    removed = np.zeros(len(existing), dtype=np.bool_)
    found: list[Pod] = []
    of_older = (pod for name in older for pod in around.owned_by("ReplicaSet", deployment.namespace, name))
    for pod in of_older:
        index = existing.find(pod.namespace, pod.name) if isinstance(pod, Pod) else None
        if isinstance(pod, Pod) and index is not None:
            removed[index] = True
            found.append(pod)
    return removed, found


def _ending_first(deployment: Deployment) -> ShellCommand | None:
    rolling = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return patch("deployment", deployment.namespace, deployment.name, {"spec": {"strategy": rolling}})


def _daemon_ending_first(daemon_set: DaemonSet) -> ShellCommand | None:
    rolling = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return patch("daemonset", daemon_set.namespace, daemon_set.name, {"spec": {"updateStrategy": rolling}})

"""Workloads that exist already: which pods they have, and how they are rolled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import DaemonSet, Deployment, StatefulSet
from kubectl_sched.api.pod import Pod
from kubectl_sched.cluster.manifests import PLACEABLE
from kubectl_sched.cluster.selection import WORKLOAD_WORDS
from kubectl_sched.errors import SchedError
from kubectl_sched.scheduler.rollout import Strategy
from kubectl_sched.scheduler.simulate import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.apps import IntOrPercent, RollingUpdate
    from kubectl_sched.api.meta import KubernetesObject

_WORDS = {**WORKLOAD_WORDS, "cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob"}


def existing_item(target: str, objects: Iterable[KubernetesObject], namespace: str) -> KubernetesObject:
    """The workload of the cluster that `deployment/web` names. Raises SchedError where there is none."""
    word, _, name = target.partition("/")
    kind = _WORDS[word.lower().split(".")[0]]
    of_kind = [item for item in objects if type(item).__name__ == kind and isinstance(item, PLACEABLE)]
    for item in of_kind:
        if (item.namespace, item.name) == (namespace, name):
            return item
    from difflib import get_close_matches

    near = get_close_matches(name, [item.name for item in of_kind if item.namespace == namespace], n=3)
    elsewhere = sorted({item.namespace for item in of_kind if item.name == name})
    hint = f"; near it: {', '.join(near)}" if near else ""
    if elsewhere:
        hint = f"; there is one in {', '.join(elsewhere)} (-n {elsewhere[0]})"
    elif not of_kind:
        hint = f"; no {kind} at all was read"
    raise SchedError(f"there is no {kind} {name} in namespace {namespace}{hint}")


def pods_of(item: KubernetesObject, pods: Sequence[Pod]) -> list[Pod]:
    """The pods that belong to the workload, or the pod of that name."""
    if isinstance(item, Pod):
        return [pod for pod in pods if pod.key == item.key]
    owner = f"{type(item).__name__}/{item.name}"
    return [pod for pod in pods if pod.namespace == item.namespace and owner_of(pod) == owner]


def strategy_of(item: KubernetesObject, replicas: int) -> Strategy:
    """How the workload is rolled out."""
    if isinstance(item, Deployment):
        strategy = item.spec.strategy
        if strategy.type == "Recreate":
            return Strategy("Recreate", 0, replicas)
        surge = _amount(strategy.rolling_update, "max_surge", "25%", replicas, up=True)
        unavailable = _amount(strategy.rolling_update, "max_unavailable", "25%", replicas, up=False)
        return Strategy("RollingUpdate", surge, unavailable if surge or unavailable else 1)
    if isinstance(item, StatefulSet | DaemonSet):
        update = item.spec.update_strategy
        if update.type == "OnDelete":
            return Strategy("OnDelete", in_place=True)
        unavailable = _amount(update.rolling_update, "max_unavailable", 1, replicas, up=True)
        return Strategy("RollingUpdate", 0, max(1, unavailable), in_place=True)
    return Strategy("OnDelete", in_place=True)


def _amount(rolling: RollingUpdate | None, field: str, default: IntOrPercent, replicas: int, *, up: bool) -> int:
    """GetScaledValueFromIntOrPercent: maxSurge is rounded up, maxUnavailable down."""
    stated: IntOrPercent | None = getattr(rolling, field) if rolling is not None else None
    amount = default if stated is None else stated
    if isinstance(amount, int):
        return amount
    if not amount.endswith("%") or not amount[:-1].isdecimal():
        raise SchedError(f"{amount!r} is neither a number nor a share in percent")
    share = int(amount[:-1]) * replicas
    return -(-share // 100) if up else share // 100


def template_of(item: KubernetesObject) -> object:
    """What the pods of a workload are made from: while it stays the same, nothing is rolled out."""
    spec = getattr(item, "spec", None)
    return getattr(spec, "template", None) or getattr(spec, "job_template", None)


def rolled(item: KubernetesObject, new: Sequence[Pod], old: Sequence[Pod]) -> list[Pod]:
    """The new pods that the rollout makes: OnDelete and a partition leave old ones as they are."""
    if isinstance(item, Deployment):
        return list(new)
    strategy = item.spec.update_strategy if isinstance(item, StatefulSet | DaemonSet) else None
    present = {pod.key for pod in old}
    if strategy is None or strategy.type == "OnDelete":
        return [pod for pod in new if pod.key not in present]
    partition = strategy.rolling_update.partition if strategy.rolling_update is not None else None
    return [pod for index, pod in enumerate(new) if index >= (partition or 0) or pod.key not in present]

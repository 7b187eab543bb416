"""Workloads that exist already: which pods they have, and how they are rolled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apps import CronJob, DaemonSet, Deployment, Job, StatefulSet
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.active_pods import COMPLETION_INDEX, least_wanted, least_wanted_of_job
from kubectl_sched.controllers.daemon_set import stays_on, target_of, with_daemon_tolerations
from kubectl_sched.controllers.workload_pods import replicas_of
from kubectl_sched.errors import SchedError
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.kinds import POD_MAKERS
from kubectl_sched.sources.pod_selection import WORKLOAD_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_sched.api.apps import IntOrPercent, PodTemplateSpec, RollingUpdate
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.controllers.workload_pods import Replicas
    from kubectl_sched.simulation.rollout import Plan, Strategy

_WORDS = {**WORKLOAD_WORDS, "cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob"}


def existing_item(target: str, objects: Iterable[KubernetesObject], namespace: str | None) -> KubernetesObject:
    """Return the workload of the cluster that `deployment/web` names, in one namespace or (None) in any.

    Raises SchedError where there is none, or are several.
    """
    word, _, name = target.partition("/")
    kind = _WORDS[word.lower().split(".")[0]]
    of_kind = [item for item in objects if type(item).__name__ == kind and isinstance(item, POD_MAKERS)]
    for item in of_kind:
        if (item.namespace, item.name) == (namespace, name):
            return item
    from kubectl_sched.near_names import near_hint

    if namespace is None:
        return _only_one(kind, name, of_kind)
    elsewhere = sorted({item.namespace for item in of_kind if item.name == name})
    hint = near_hint(name, [item.name for item in of_kind if item.namespace == namespace])
    if elsewhere:
        hint = f"; there is one in {', '.join(elsewhere)} (-n {elsewhere[0]})"
    elif not of_kind:
        hint = f"; no {kind} at all was read"
    raise SchedError(f"there is no {kind} {name} in namespace {namespace}{hint}")


def _only_one(kind: str, name: str, of_kind: Sequence[KubernetesObject]) -> KubernetesObject:
    found = [item for item in of_kind if item.name == name]
    if len(found) != 1:
        several = f"there are several, in {', '.join(sorted(item.namespace for item in found))}: name one with -n"
        raise SchedError(f"{kind} {name}: {several if found else 'there is none in any namespace'}")
    return found[0]


def pods_of(item: KubernetesObject, pods: Sequence[Pod]) -> list[Pod]:
    """The pods that belong to the workload, or the pod of that name."""
    if isinstance(item, Pod):
        return [pod for pod in pods if pod.key == item.key]
    owner = f"{type(item).__name__}/{item.name}"
    return [pod for pod in pods if pod.namespace == item.namespace and owner in {owner_of(pod), _controller_of(pod)}]


def _controller_of(pod: Pod) -> str | None:
    """Return the direct controller of the pod: for a Deployment's pods their ReplicaSet."""
    controller = pod.metadata.controller
    return f"{controller.kind}/{controller.name}" if controller is not None else None


def strategy_of(item: KubernetesObject, replicas: int, enabled: Callable[[str], bool]) -> Strategy:
    """Return the workload's rollout strategy; `enabled` says which feature gates are on."""
    from kubectl_sched.simulation.rollout import Strategy

    if isinstance(item, Deployment):
        strategy = item.spec.strategy
        if strategy.type == "Recreate":
            return Strategy(name="Recreate", max_surge=0, max_unavailable=replicas)
        surge = _amount(strategy.rolling_update, "max_surge", "25%", replicas, up=True)
        unavailable = _amount(strategy.rolling_update, "max_unavailable", "25%", replicas, up=False)
        return Strategy(
            name="RollingUpdate", max_surge=surge, max_unavailable=unavailable if surge or unavailable else 1
        )
    in_order = isinstance(item, StatefulSet) and item.spec.pod_management_policy != "Parallel"
    if not isinstance(item, StatefulSet | DaemonSet) or item.spec.update_strategy.type == "OnDelete":
        return Strategy(name="OnDelete", in_place=True, in_order=in_order)
    rolling = item.spec.update_strategy.rolling_update
    is_daemon_set = isinstance(item, DaemonSet)
    counts = is_daemon_set or enabled("MaxUnavailableStatefulSet")
    unavailable = _amount(rolling, "max_unavailable", 1, replicas, up=is_daemon_set) if counts else 1
    surge = _amount(rolling, "max_surge", 0, replicas, up=True) if is_daemon_set else 0
    return Strategy(
        name="RollingUpdate",
        max_surge=surge,
        max_unavailable=max(1, unavailable),
        in_place=True,
        in_order=in_order,
        descends=not counts and not in_order,
    )


def only_surges(item: KubernetesObject, replicas: int, enabled: Callable[[str], bool]) -> bool:
    """Report whether a rollout takes no pod away before it has added one."""
    strategy = strategy_of(item, replicas, enabled)
    return bool(strategy.max_surge) and (isinstance(item, DaemonSet) or not strategy.max_unavailable)


def with_partition(item: StatefulSet, stored: StatefulSet, replicas: Replicas) -> Replicas:
    """The pods below the partition are made from the template of before, also those that are missing."""
    rolling = item.spec.update_strategy.rolling_update
    partition = (rolling.partition if rolling is not None else None) or 0
    before = replicas_of(stored, ())
    return replace(replicas, pod=lambda index: (before if index < partition else replicas).pod(index))


def plan_of(
    item: KubernetesObject,
    owner: str,
    new: Sequence[Pod],
    old: Sequence[Pod],
    enabled: Callable[[str], bool],
    now: str | None,
) -> Plan:
    """Return the pods to replace: OnDelete and a partition leave old pods as they are."""
    from kubectl_sched.simulation.rollout import Plan

    strategy = strategy_of(item, len(new), enabled)
    if not strategy.in_place:
        return Plan(owner=owner, strategy=strategy, old=old, new=new, now=now)
    by_place = {_place(item, pod): pod for pod in old}
    replaces = {pod.key: by_place[place] for pod in new if (place := _place(item, pod)) in by_place}
    kept = _kept(item, strategy, new)
    made = [pod for pod in new if pod.key not in replaces or pod.key not in kept]
    return Plan(
        owner=owner,
        strategy=strategy,
        old=old,
        new=made,
        replaces={pod.key: replaces[pod.key] for pod in made if pod.key in replaces},
    )


def _kept(item: KubernetesObject, strategy: Strategy, new: Sequence[Pod]) -> set[str]:
    """The new pods that do not come where an old one is."""
    if strategy.name == "OnDelete":
        return {pod.key for pod in new}
    rolling = item.spec.update_strategy.rolling_update if isinstance(item, StatefulSet) else None
    partition = (rolling.partition if rolling is not None else None) or 0
    return {pod.key for pod in new[:partition]}


def _place(item: KubernetesObject, pod: Pod) -> str:
    """Return the key of the pod's place: a DaemonSet's node, an indexed Job's number, else the name."""
    if isinstance(item, DaemonSet):
        return pod.spec.node_name or target_of(pod) or ""
    return pod.metadata.labels.get(COMPLETION_INDEX, pod.key) if isinstance(item, Job) else pod.key


def missing_of(item: KubernetesObject, wanted: Sequence[Pod], present: Sequence[Pod]) -> list[Pod]:
    """The pods of the workload's places that nobody has."""
    taken = {_place(item, pod) for pod in present}
    return [pod for pod in wanted if _place(item, pod) not in taken]


def surplus_of(
    item: KubernetesObject,
    wanted: Sequence[Pod],
    present: Sequence[Pod],
    now: str | None,
    nodes: Iterable[Node],
) -> list[Pod]:
    """The present pods that go: on places that are no longer wanted, or those wanted least of too many at `now`.

    A DaemonSet keeps a pod on one of the `nodes`, even if it would make none there, unless a NoExecute taint ends it.
    """
    if isinstance(item, StatefulSet | DaemonSet):
        places = {_place(item, pod) for pod in wanted}
        if isinstance(item, DaemonSet):
            spec = with_daemon_tolerations(item.spec.template.spec)
            places.update(node.name for node in nodes if stays_on(spec, node))
        return [pod for pod in present if _place(item, pod) not in places]
    number = max(0, len(present) - len(wanted))
    if isinstance(item, Job):
        return [] if _waits_for_its_pods(item) else least_wanted_of_job(item, present, number)
    return least_wanted(present, number, now)


def _waits_for_its_pods(job: Job) -> bool:
    """Report whether one pod has succeeded where that is enough: none is made, and the others run on (manageJob)."""
    return job.spec.completions is None and job.status.succeeded > 0 and not job.spec.suspend


def _amount(rolling: RollingUpdate | None, field: str, default: IntOrPercent, replicas: int, *, up: bool) -> int:
    """GetScaledValueFromIntOrPercent: maxSurge is rounded up, maxUnavailable down."""
    stated: IntOrPercent | None = getattr(rolling, field) if rolling is not None else None
    amount = default if stated is None else stated
    if isinstance(amount, int):
        return amount
    percent = parse_int64(amount[:-1]) if amount.endswith("%") else None
    if percent is None:
        raise SchedError(f"{amount!r} is neither a number nor a share in percent")
    share = percent * replicas
    return -(-share // 100) if up else share // 100


def template_of(item: KubernetesObject) -> PodTemplateSpec | None:
    """Return the pod template of a workload: while it stays the same, nothing is rolled out."""
    spec = item.spec.job_template.spec if isinstance(item, CronJob) else getattr(item, "spec", None)
    template: PodTemplateSpec | None = getattr(spec, "template", None)
    return template

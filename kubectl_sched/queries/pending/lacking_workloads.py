"""Workloads that have fewer pods running than they want, whatever the stage at which their pods are held up."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apps import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.diagnostics.pod_lifecycle import was_refused
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.queries.held_pods import HeldPods
from kubectl_sched.queries.never_created.never_created import never_created, result_of, stage_of_missing
from kubectl_sched.queries.never_created.runs import wanted_by
from kubectl_sched.record import Record
from kubectl_sched.simulation.equivalence_cache import EquivalenceCache
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.pod_selection import Selection, select
from kubectl_sched.sources.pod_surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump

Key = tuple[str, str]
"""The namespace, and `Deployment/web`."""

_REPLICATED = (Deployment, StatefulSet, ReplicaSet, ReplicationController)


class LackingWorkload(Record, frozen=True, kw_only=True):
    """A workload with the number of its pods that are wanted and that have a node, and what holds up the others."""

    namespace: str
    workload: str
    wanted: int | None
    there: int | None
    stage: str
    verdict: str
    oldest: str | None
    on_purpose: bool = False
    """Somebody suspended or paused it."""

    @property
    def key(self) -> Key:
        """The namespace, and `Deployment/web`."""
        return self.namespace, self.workload

    @property
    def lacks(self) -> int:
        """The number of pods that are missing, as far as it is known."""
        return max((self.wanted or 0) - (self.there or 0), 0)


class LackingWorkloads:
    """The workloads of one dump that have fewer pods than they want."""

    def __init__(self, dump: Dump, schedulers: ClusterSchedulers) -> None:
        self._dump = dump
        self._schedulers = schedulers
        self._around = Surroundings(dump, schedulers.missing_scheduler)

    def missing(self, selection: Selection) -> tuple[NeverCreated, ...]:
        """Return the workloads that lack pods which were never created; a selector is about pods that are there."""
        if selection.label_selector is not None:
            return ()
        found = never_created(self._around, selection.namespace)
        return tuple(each for each in found if not self._waits_for_pending(each))

    def _waits_for_pending(self, missing: NeverCreated) -> bool:
        """Report whether the controller only waits for pods of the workload that are pending, which are the cause."""
        of = missing.workload
        pods = self._pods.get((of.namespace, f"{of.kind}/{of.name}"), ())
        return missing.obstacle.cause == "WaitsForOrdinal" and any(pod.is_pending for pod in pods)

    def refused(self, selection: Selection) -> list[Pod]:
        """Return the newest refused pod of each workload that has fewer pods than it wants, bound or not."""
        found: dict[Key, Pod] = {}
        for pod in filter(was_refused, select(self._dump.objects, replace(selection, pending=False))):
            key = pod.namespace, workload_of(pod)
            wanted = 1 if pod.metadata.controller is None else self._wanted.get(key, 0)
            if len(self._pods.get(key, ())) < wanted:
                found[key] = max(found.get(key, pod), pod, key=lambda each: each.metadata.creation_timestamp or "")
        return list(found.values())

    def explained(self, missing: NeverCreated) -> Explanation:
        """Explain the pods that are missing; those of a suspended Job by whoever holds it back."""
        owner = missing.owner
        if (owner.kind, missing.obstacle.cause) == ("Job", "Suspended"):
            named = Selection(targets=(f"job/{owner.name}",), namespace=owner.namespace)
            held = next(self._held.suspended_jobs(named), None)
            if held is not None:
                return held
        scheduler = self._schedulers.default_scheduler
        result = result_of(missing, scheduler.nodes, scheduler.configuration.release)
        return Explanation(result=result, stage=stage_of_missing(missing))

    @cached_property
    def _held(self) -> HeldPods:
        return HeldPods(self._schedulers, EquivalenceCache(self._schedulers.profile))

    def of(
        self, waiting: Iterable[Explanation], missing: Mapping[NeverCreated, Explanation]
    ) -> tuple[LackingWorkload, ...]:
        """Return the workloads of pods that wait and of those that were never created, what lacks most first."""
        found: dict[Key, LackingWorkload] = {}
        for each, explanation in missing.items():
            row = self._of_missing(each, explanation)
            found.setdefault(row.key, row)
        for explanation in waiting:
            pod = explanation.pod
            key = pod.namespace, workload_of(pod)
            if key not in found:
                found[key] = self._of_waiting(key, explanation)
        return tuple(sorted(found.values(), key=lambda row: (row.on_purpose, -row.lacks)))

    def _of_missing(self, missing: NeverCreated, explanation: Explanation) -> LackingWorkload:
        of, obstacle = missing.workload, missing.obstacle
        key = of.namespace, f"{of.kind}/{of.name}"
        unbound = sum(not pod.spec.node_name for pod in self._pods.get(key, ()))
        return LackingWorkload(
            namespace=key[0],
            workload=key[1],
            wanted=missing.wanted,
            there=None if missing.there is None else max(missing.there - unbound, 0),
            stage=obstacle.cause if missing.on_purpose else "NotCreated",
            verdict=explanation.verdict if explanation.gates else missing.sentence,
            oldest=obstacle.since,
            on_purpose=missing.on_purpose,
        )

    def _of_waiting(self, key: Key, explanation: Explanation) -> LackingWorkload:
        pods = self._pods.get(key, ())
        unbound = [pod for pod in pods if not pod.spec.node_name] or [explanation.pod]
        stage = explanation.stage
        return LackingWorkload(
            namespace=key[0],
            workload=key[1],
            wanted=max(self._wanted.get(key, 0), len(pods), 1),
            there=sum(bool(pod.spec.node_name) for pod in pods),
            stage=stage.name if stage is not None else explanation.result.outcome.value,
            verdict=explanation.verdict,
            oldest=min((made for pod in unbound if (made := pod.metadata.creation_timestamp)), default=None),
        )

    @cached_property
    def _pods(self) -> dict[Key, list[Pod]]:
        """The pods that have not ended, by workload."""
        found: dict[Key, list[Pod]] = {}
        for pod in self._dump.pods:
            if not pod.has_ended:
                found.setdefault((pod.namespace, workload_of(pod)), []).append(pod)
        return found

    @cached_property
    def _wanted(self) -> dict[Key, int]:
        found: dict[Key, int] = {}
        for item in self._dump.others:
            if isinstance(item, Job):
                found[item.namespace, f"Job/{item.name}"] = 0 if item.is_over else wanted_by(item)
            elif isinstance(item, DaemonSet):
                found[item.namespace, f"DaemonSet/{item.name}"] = item.status.desired_number_scheduled or 0
            elif isinstance(item, _REPLICATED):
                replicas = item.spec.replicas
                found[item.namespace, f"{type(item).__name__}/{item.name}"] = 1 if replicas is None else replicas
        return found


def workload_of(pod: Pod) -> str:
    """Return `Deployment/web`, and `Pod/web` for a pod that nothing manages."""
    return owner_of(pod) or f"Pod/{pod.metadata.name}"


def workloads_of(pods: Sequence[Pod]) -> tuple[Key, ...]:
    """Return the workloads of the pods, each once, in their order."""
    return tuple(dict.fromkeys((pod.namespace, workload_of(pod)) for pod in pods))

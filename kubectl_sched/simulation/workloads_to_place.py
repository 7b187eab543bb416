"""The workloads of a what-if: the pods that each still has to place, and the existing pods that are removed first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import value
from kubectl_sched.api.apps import DaemonSet, Deployment, Job, JobStatus, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.what_if_size_limits import MOST_PODS, few, pods_counted
from kubectl_sched.controllers.pod_creation import Workload
from kubectl_sched.controllers.workload_pods import replicas_of
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.simulation.drain import is_replaced
from kubectl_sched.simulation.existing_workloads import (
    missing_of,
    only_surges,
    pods_of,
    surplus_of,
    template_of,
    with_partition,
)
from kubectl_sched.simulation.what_if_notes import about_paused

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.apiserver.pod_admission import Admission
    from kubectl_sched.controllers.pod_creation import Making
    from kubectl_sched.controllers.workload_pods import Replicas
    from kubectl_sched.simulation.edited_cluster import Cluster


_NEVER_ROLLED_OUT = (ReplicaSet, ReplicationController, Job)
"""Kinds whose pods stay as they are, whatever becomes of the template."""


class Sizing(Record, frozen=True, kw_only=True):
    """The number of pods of each workload. The fields are the flags of `whatif` of the same names."""

    replicas: int | None = None
    fill: bool = False
    """`--replicas max`: until one no longer fits."""

    replace: bool = False


class PlacedWorkloads:
    """Makes the pods of one workload after the other, in a cluster that loses what goes for them."""

    def __init__(
        self,
        sizing: Sizing,
        admission: Admission,
        cluster: Cluster,
        making: Making,
        *,
        now: str | None,
        server_checks: bool,
    ) -> None:
        """`now` is the cluster's time; with `server_checks` the server has judged what manifests change."""
        self._sizing = sizing
        self._admission = admission
        self._cluster = cluster
        self._making = making
        self._now = now
        self._server_checks = server_checks

    def workload(self, item: KubernetesObject, *, from_manifest: bool) -> Workload:
        """The workload's pods that are to be placed, once what its manifest or `--replace` lets go is gone.

        Raises RefusedError for what may not change, and SchedError for --replicas where it does not apply.
        """
        stored = self._stored(item) if from_manifest else None
        only_scales = not from_manifest or isinstance(item, _NEVER_ROLLED_OUT)
        if from_manifest:
            item, is_unchanged = self._applied(item, stored)
            only_scales |= is_unchanged
        if isinstance(item, Deployment) and item.spec.paused:
            from kubectl_sched.controllers.workload_update_rules import while_paused

            running = while_paused(item, self._admission.objects)
            note = about_paused(item, is_running=running is not None)
            if running is None:
                return Workload(replicas_of(item, ()), [], notes=(note,))
            placed = self._placed(running, stored, only_scales=True)
            placed.notes = (note, *placed.notes)
            return placed
        return self._placed(item, stored, only_scales=only_scales)

    def _placed(self, item: KubernetesObject, stored: KubernetesObject | None, *, only_scales: bool) -> Workload:
        present = [pod for pod in pods_of(item, self._cluster.pods) if not pod.has_ended]
        present += self._cluster.take_evicted(lambda pods: pods_of(item, pods))
        terminating: list[Pod] = []
        if not self._sizing.replace:
            if isinstance(item, Job) and item.waits_for_the_end:
                terminating = [pod for pod in present if is_replaced(pod, ())]
            present = [pod for pod in present if not is_replaced(pod, ())]
        replica_set = None
        if only_scales and isinstance(item, Deployment):
            from kubectl_sched.controllers.workload_update_rules import running_replica_set

            replica_set = running_replica_set(item, present, self._admission.objects)
        replicas = replicas_of(
            item, list(self._cluster.nodes.values()), single=not self._makes_copies, replica_set=replica_set
        )
        if isinstance(item, StatefulSet) and isinstance(stored, StatefulSet):
            replicas = with_partition(item, stored, replicas)
        count = self._count(replicas)
        if only_scales:
            return self._scaled(replicas, present, terminating, count)
        return self._rolled_out(item, replicas, present, count)

    @property
    def _makes_copies(self) -> bool:
        return self._sizing.replicas is not None or self._sizing.fill

    def _scaled(self, replicas: Replicas, present: list[Pod], terminating: list[Pod], count: int) -> Workload:
        """The pods that a workload lacks whose template stays: those that wait, and those that are yet to be made.

        None is made yet for those that are `terminating`.
        """
        if self._sizing.replace:
            self._let_go(present)
            present = []
        notes: tuple[str, ...] = ()
        wanted = [replicas.pod(index) for index in range(count)]
        if not self._sizing.fill:
            surplus = surplus_of(replicas.source, wanted, present, self._now, self._cluster.nodes.values())
            notes = self._go_first(replicas, surplus)
            self._making.let_go(surplus)
            present = [pod for pod in present if pod not in surplus]
        waiting = [pod for pod in present if not pod.spec.node_name]
        missing = {pod.key for pod in missing_of(replicas.source, wanted, [*present, *terminating])}
        free = [index for index, pod in enumerate(wanted) if pod.key in missing]
        made = free if self._sizing.fill else free[: max(0, count - len(present) - len(terminating))]
        workload = self._making.workload(replicas, made)
        workload.pods = [*waiting, *workload.pods]
        workload.notes = notes
        return workload

    def _rolled_out(self, item: KubernetesObject, replicas: Replicas, present: list[Pod], count: int) -> Workload:
        """All pods of a template that is new; those of the old one go during the rollout, or at once."""
        go_at_once = self._sizing.replace or self._sizing.fill or isinstance(item, Pod)
        gone = [pod for pod in present if go_at_once or not pod.spec.node_name]
        self._cluster.drop(gone)
        self._making.let_go(present)
        old = [pod for pod in present if pod not in gone]
        workload = self._making.workload(replicas, range(count))
        if isinstance(item, StatefulSet | DaemonSet):
            stays = item.spec.update_strategy.type == "OnDelete"
            surplus = surplus_of(item, workload.pods, old, self._now, self._cluster.nodes.values() if stays else ())
            workload.notes = self._go_first(replicas, surplus)
            old = [pod for pod in old if pod not in surplus]
        if old and isinstance(item, Deployment):
            from kubectl_sched.controllers.workload_update_rules import oldest_first

            old = oldest_first(old, self._admission.objects)
        workload.old = old
        is_tight = bool(old and workload.pods) and only_surges(item, count, self._admission.enabled)
        if is_tight and not self._making.admits_surge(workload):
            workload.pods, workload.old = [], []
        return workload

    def _let_go(self, pods: list[Pod]) -> None:
        self._cluster.drop(pods)
        self._making.let_go(pods)

    def _go_first(self, replicas: Replicas, surplus: list[Pod]) -> tuple[str, ...]:
        """Take away the pods that are too many, and say so."""
        if not surplus:
            return ()
        self._cluster.drop(surplus)
        names = few(sorted(pod.name for pod in surplus))
        pods = "1 pod too many, which goes" if len(surplus) == 1 else f"{len(surplus)} pods too many, which go"
        return (f"{replicas.owner} has {pods} first: {names}",)

    def _stored(self, item: KubernetesObject) -> KubernetesObject | None:
        """Return the object of the cluster that the manifest changes, None if it is new."""
        if isinstance(item, Pod) or self._sizing.replace:
            return None
        return self._admission.objects.get(type(item), item.name, item.namespace)

    def _applied(self, item: KubernetesObject, stored: KubernetesObject | None) -> tuple[KubernetesObject, bool]:
        """The workload as it is once the manifest is applied, and whether that only scales what the cluster has.

        A status that the manifest brings does not count. Raises RefusedError for what may not change.
        """
        if isinstance(item, Job):
            item = structs.replace(item, status=stored.status if isinstance(stored, Job) else JobStatus())
        if stored is None:
            return item, False
        from kubectl_sched.controllers.workload_update_rules import check_update, with_stored_count

        item = with_stored_count(item, stored)
        is_unchanged = self._template(stored) == self._template(item)
        if not self._server_checks:
            check_update(item, stored, same_template=is_unchanged)
        return item, is_unchanged

    def _template(self, item: KubernetesObject) -> Pod | None:
        """The template with its defaults, which what is stored has, and a manifest mostly has not.

        A Job's has labels besides that the API server draws; it cannot be changed anyway.
        """
        template = template_of(item)
        if template is None:
            return None
        metadata = ObjectMeta(labels={} if isinstance(item, Job) else template.metadata.labels)
        return self._admission.defaulted(Pod(metadata=metadata, spec=template.spec))

    def _count(self, replicas: Replicas) -> int:
        if replicas.fixed:
            if self._makes_copies:
                raise SchedError(
                    f"--replicas does not apply to {replicas.owner}: it has a pod on each node that its pods may run on"
                )
            return replicas.count
        if self._sizing.fill:
            return min(MOST_PODS, 1 + sum(_pods_allowed(node) for node in self._cluster.nodes.values()))
        if self._sizing.replicas is not None:
            return self._sizing.replicas
        return pods_counted(replicas.count, f"{replicas.owner} wants {replicas.count:,}")


def _pods_allowed(node: Node) -> int:
    return max(0, value(node.status.allocatable.get("pods", 0)))

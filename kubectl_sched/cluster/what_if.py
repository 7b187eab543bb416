"""What-ifs: a cluster, edits of it, and pods to place in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apps import DaemonSet, Deployment, Job, JobStatus, StatefulSet
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.cluster.admission import Admission
from kubectl_sched.cluster.applied import applied
from kubectl_sched.cluster.changed_workloads import (
    NEVER_ROLLED_OUT,
    check_update,
    running_replica_set,
    while_paused,
    with_stored_count,
)
from kubectl_sched.cluster.counts import few, pods_counted
from kubectl_sched.cluster.existing import (
    existing_item,
    missing_of,
    only_surges,
    plan_of,
    pods_of,
    surplus_of,
    template_of,
    with_partition,
)
from kubectl_sched.cluster.filling import Filling
from kubectl_sched.cluster.making import Making, Workload
from kubectl_sched.cluster.manifests import Manifests, read_manifests
from kubectl_sched.cluster.namespace_admission import check_namespaces, plugins_on, unknown_notes
from kubectl_sched.cluster.node_edits import Cluster, node_meant
from kubectl_sched.cluster.pod_order import predecessors, sets_in_order
from kubectl_sched.cluster.refused_manifest import RefusedError
from kubectl_sched.cluster.replicas import replicas_of
from kubectl_sched.cluster.state import snapshot_of
from kubectl_sched.cluster.storage_promised import about_capacity
from kubectl_sched.cluster.what_if_notes import about_order, about_paused, about_pending, about_unknown_nodes
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.scheduler.answer import Answer
from kubectl_sched.scheduler.placement import QueuedPod
from kubectl_sched.scheduler.rollout import roll_out
from kubectl_sched.scheduler.several import SeveralSchedulers
from kubectl_sched.scheduler.simulate import Choices, Simulation, owner_of
from kubectl_sched.snapshot import Objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.cluster.dry_run import DryRun
    from kubectl_sched.cluster.dump import Dump
    from kubectl_sched.cluster.node_edits import Edit
    from kubectl_sched.cluster.replicas import Replicas
    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.rollout import RolledOut

    Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Question:
    """The flags of the same names. `targets` are manifests by path, and `deployment/web` of the cluster itself."""

    targets: tuple[str, ...] = ()
    namespace: str = "default"
    replicas: int | None = None
    fill: bool = False
    """`--replicas max`: until one no longer fits."""

    edits: tuple[Edit, ...] = ()
    with_pending: bool = False
    replace: bool = False
    find_nodes: str | None = None
    choices: Choices = field(default_factory=Choices)


class WhatIf:
    """One question about one cluster."""

    def __init__(
        self,
        dump: Dump,
        configuration_of: Callable[[str], Configuration],
        question: Question,
        dry_run: DryRun | None = None,
    ) -> None:
        """`configuration_of` gives what is in force for a schedulerName; `dry_run` is there with `--dry-run=server`."""
        self._configuration_of = configuration_of
        configuration = configuration_of(question.choices.profile or DEFAULT_SCHEDULER_NAME)
        self._question = question
        paths = [target for target in question.targets if not is_in_cluster(target)]
        manifests = read_manifests(paths, question.namespace, dry_run) if paths else Manifests()
        self._dry_run = dry_run
        self._objects = applied(dump.objects, manifests.others)
        self._notes = manifests.notes
        self._misspelt = manifests.misspelt
        plugins = plugins_on(self._objects)
        self._admission = Admission(
            Objects(self._objects), configuration.features.enabled, dump.present, plugins or frozenset()
        )
        self._items: list[tuple[KubernetesObject, bool]] = [(item, True) for item in manifests.items]
        for target in question.targets:
            if is_in_cluster(target):
                self._items.append((existing_item(target, dump.objects, question.namespace), False))
        if dry_run is None:
            check_namespaces(manifests.items, self._objects, dump)
        if plugins is None and dry_run is None:
            used = {item.namespace for item, _ in self._items}
            self._notes = (*self._notes, *unknown_notes(self._objects, used))

    def answer(self, report: Report | None = None) -> Answer:
        """Places everything. Raises SchedError for a manifest that would be refused or an edit that cannot be made."""
        try:
            answer = self._answer(0, report)
        except RefusedError as error:
            raise error.beside(self._misspelt) from None
        if self._question.find_nodes is None or answer.interrupted:
            return answer
        if not answer.simulated.unplaced:
            return replace(answer, nodes_needed=0)
        return self._with_nodes(answer, report)

    def _with_nodes(self, without: Answer, report: Report | None) -> Answer:
        """The fewest further nodes with which everything fits: doubled until enough, then halved between."""
        most = without.simulated.unplaced
        enough, known = 1, {0: without}
        while True:
            known[enough] = self._answer(enough, report)
            if known[enough].interrupted:
                return known[enough]
            if not known[enough].simulated.unplaced:
                break
            if enough >= most:
                note = f"{enough} more nodes like {self._question.find_nodes} do not make everything fit"
                return replace(without, warnings=(*without.warnings, note))
            enough = min(enough * 2, most)
        too_few = max(count for count in known if known[count].simulated.unplaced)
        while enough - too_few > 1:
            middle = (enough + too_few) // 2
            known[middle] = self._answer(middle, report)
            if known[middle].interrupted:
                return known[middle]
            if known[middle].simulated.unplaced:
                too_few = middle
            else:
                enough = middle
        return replace(known[enough], nodes_needed=enough)

    def _answer(self, more_nodes: int, report: Report | None) -> Answer:
        question = self._question
        cluster = Cluster.of(self._objects, self._admission.admitted)
        there = list(cluster.pods)
        cluster.apply(question.edits)
        if question.find_nodes is not None:
            node = node_meant(cluster, question.find_nodes, "--find-nodes")
            cluster.add_copies(node, more_nodes)
        making = Making(self._admission, cluster.others, self._dry_run, charges=not question.fill)
        stay = {pod.key for pod in (*cluster.pods, *cluster.evicted)}
        making.let_go(pod for pod in there if pod.key not in stay)
        workloads = [self._workload(item, cluster, making, from_manifest=manifest) for item, manifest in self._items]
        if question.fill and not workloads:
            raise SchedError("--replicas max says how many pods, but of which? Name a manifest or a workload")
        added = making.made
        keys = {(type(item), item.key) for item in added}
        kept = [item for item in cluster.objects if (type(item), item.key) not in keys]
        nodes, left_out = snapshot_of((*kept, *added), self._configuration_of(DEFAULT_SCHEDULER_NAME))
        scheduler = SeveralSchedulers(self._configuration_of, nodes)
        simulation = Simulation(scheduler, question.choices)
        nowhere = about_unknown_nodes(workloads, cluster.nodes)
        pending = self._waiting(cluster, workloads)
        aside = () if question.with_pending else about_pending(pending)
        warnings = (*self._notes, *cluster.notes, *making.notes, *nowhere, *left_out, *aside)
        before = predecessors(workloads, cluster.evicted, cluster.others)
        evicted = sets_in_order(cluster.evicted)
        simulation.enqueue(QueuedPod(pod, owner_of(pod), before.get(pod.metadata.uid)) for pod in evicted)
        if question.with_pending:
            simulation.enqueue(QueuedPod(pod, owner_of(pod)) for pod in pending)
        filling = Filling(workloads, making.quotas, cluster.pods)
        try:
            if question.fill:
                filling.fill(simulation, report)
                promised = about_capacity(simulation.placements, simulation.nodes)
                return Answer(simulation.result, warnings=(*warnings, *filling.notes, *promised))
            rollouts = tuple(self._place(simulation, workloads, before, report))
        except KeyboardInterrupt:
            until = "interrupted: this is what was known until then, and not all pods were tried"
            return Answer(simulation.result, warnings=(until, *warnings), interrupted=True)
        ordered = about_order(simulation.placements, before)
        promised = about_capacity(simulation.placements, simulation.nodes)
        return Answer(simulation.result, rollouts, warnings=(*warnings, *ordered, *promised))

    def _place(
        self, simulation: Simulation, workloads: list[Workload], before: Mapping[str, Pod], report: Report | None
    ) -> Iterator[RolledOut]:
        for workload in workloads:
            if not workload.old:
                owner = workload.replicas.owner
                simulation.enqueue(QueuedPod(pod, owner, before.get(pod.metadata.uid)) for pod in workload.pods)
        simulation.run(report)
        for workload in workloads:
            if workload.old:
                source = workload.replicas.source
                owner = workload.replicas.owner or source.key
                plan = plan_of(source, owner, workload.pods, workload.old, self._admission.enabled)
                yield roll_out(simulation, plan, report)

    def _waiting(self, cluster: Cluster, workloads: list[Workload]) -> list[Pod]:
        own = {pod.key for workload in workloads for pod in workload.pods}
        return [
            pod
            for pod in cluster.pods
            if not pod.spec.node_name
            and not pod.has_ended
            and pod.metadata.deletion_timestamp is None
            and pod.key not in own
        ]

    def _workload(self, item: KubernetesObject, cluster: Cluster, making: Making, *, from_manifest: bool) -> Workload:
        question = self._question
        copies = question.replicas is not None or question.fill
        only_scales = not from_manifest or isinstance(item, NEVER_ROLLED_OUT)
        stored = self._stored(item) if from_manifest else None
        if from_manifest:
            item, is_unchanged = self._applied(item, stored)
            only_scales |= is_unchanged
        if isinstance(item, Deployment) and item.spec.paused:
            running = while_paused(item, self._admission.objects)
            cluster.notes.append(about_paused(item, is_running=running is not None))
            if running is None:
                return Workload(replicas_of(item, ()), [])
            item, only_scales = running, True
        present = [pod for pod in pods_of(item, cluster.pods) if not pod.has_ended]
        scaled = (
            running_replica_set(item, present, self._admission.objects)
            if only_scales and isinstance(item, Deployment)
            else None
        )
        replicas = replicas_of(item, list(cluster.nodes.values()), single=not copies, replica_set=scaled)
        if isinstance(item, StatefulSet) and isinstance(stored, StatefulSet):
            replicas = with_partition(item, stored, replicas)
        count = self._count(replicas, cluster)
        if only_scales:
            if question.replace:
                cluster.drop(present)
                making.let_go(present)
                present = []
            return self._missing(replicas, present, count, cluster, making)
        replaced = question.replace or question.fill or isinstance(item, Pod)
        gone = [pod for pod in present if replaced or not pod.spec.node_name]
        cluster.drop(gone)
        making.let_go(present)
        old = [pod for pod in present if pod not in gone]
        workload = making.workload(replicas, range(count))
        if isinstance(item, StatefulSet | DaemonSet):
            surplus = surplus_of(item, workload.pods, old)
            self._go_first(replicas, surplus, cluster)
            old = [pod for pod in old if pod not in surplus]
        workload.old = old
        if old and workload.pods and only_surges(item, count, self._admission.enabled):
            making.check_surge(workload.pods[0])
        return workload

    def _go_first(self, replicas: Replicas, surplus: list[Pod], cluster: Cluster) -> None:
        """Pods that are too many."""
        if surplus:
            cluster.drop(surplus)
            names = few(sorted(pod.name for pod in surplus))
            pods = "1 pod too many, which goes" if len(surplus) == 1 else f"{len(surplus)} pods too many, which go"
            cluster.notes.append(f"{replicas.owner} has {pods} first: {names}")

    def _stored(self, item: KubernetesObject) -> KubernetesObject | None:
        """What the manifest changes in the cluster."""
        if isinstance(item, Pod) or self._question.replace:
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
        item = with_stored_count(item, stored)
        is_unchanged = self._template(stored) == self._template(item)
        if self._dry_run is None:
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

    def _count(self, replicas: Replicas, cluster: Cluster) -> int:
        if replicas.fixed:
            if self._question.replicas is not None or self._question.fill:
                raise SchedError(
                    f"--replicas does not apply to {replicas.owner}: it has a pod on each node that its pods may run on"
                )
            return replicas.count
        if self._question.fill:
            return 1 + sum(_pods_allowed(node) for node in cluster.nodes.values())
        if self._question.replicas is not None:
            return self._question.replicas
        return pods_counted(replicas.count, f"{replicas.owner} wants {replicas.count:,}")

    def _missing(
        self, replicas: Replicas, present: list[Pod], count: int, cluster: Cluster, making: Making
    ) -> Workload:
        """What a workload of the cluster lacks: its pods that wait, and those that are yet to be made."""
        wanted = [replicas.pod(index) for index in range(count)]
        if not self._question.fill:
            surplus = surplus_of(replicas.source, wanted, present)
            self._go_first(replicas, surplus, cluster)
            making.let_go(surplus)
            present = [pod for pod in present if pod not in surplus]
        waiting = [pod for pod in present if not pod.spec.node_name]
        missing = {pod.key for pod in missing_of(replicas.source, wanted, present)}
        free = [index for index, pod in enumerate(wanted) if pod.key in missing]
        made = free if self._question.fill else free[: max(0, count - len(present))]
        workload = making.workload(replicas, made)
        workload.pods = [*waiting, *workload.pods]
        return workload


def is_in_cluster(target: str) -> bool:
    """Whether a target is `deployment/web` of the cluster rather than a path."""
    from pathlib import Path

    from kubectl_sched.cluster.selection import WORKLOAD_WORDS

    word, slash, name = target.partition("/")
    known = word.lower().split(".")[0] in {*WORKLOAD_WORDS, "cronjob", "cronjobs", "cj"}
    return bool(slash) and known and "/" not in name and not Path(target).exists()


def _pods_allowed(node: Node) -> int:
    from kubectl_sched.api.quantity import value

    return max(0, value(node.status.allocatable.get("pods", 0)))

"""What-ifs: a cluster, edits of it, and pods to place in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kubectl_sched.apiserver.applied_objects import applied
from kubectl_sched.apiserver.manifests import Manifests, read_manifests
from kubectl_sched.apiserver.namespace_admission import check_namespaces, plugins_on, unknown_notes
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.controllers.ordered_ready import predecessors, sets_in_order
from kubectl_sched.controllers.pod_creation import Making, Workload
from kubectl_sched.errors import SchedError
from kubectl_sched.simulation.capacity_search import Filling
from kubectl_sched.simulation.existing_workloads import existing_item, plan_of
from kubectl_sched.simulation.multi_scheduler import SeveralSchedulers
from kubectl_sched.simulation.node_edits import Cluster, node_meant
from kubectl_sched.simulation.placed_workloads import PlacedWorkloads
from kubectl_sched.simulation.placement import QueuedPod
from kubectl_sched.simulation.promised_storage import about_capacity
from kubectl_sched.simulation.queue_simulation import Choices, Simulation, owner_of
from kubectl_sched.simulation.rollout import roll_out
from kubectl_sched.simulation.what_if_notes import about_order, about_pending, about_unknown_nodes
from kubectl_sched.simulation.what_if_result import WhatIfResult
from kubectl_sched.snapshot import Objects
from kubectl_sched.sources.discovery.replay_setup import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.config import Configuration
    from kubectl_sched.simulation.node_edits import Edit
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.sources.dump.dump import Dump

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

    def answer(self, report: Report | None = None) -> WhatIfResult:
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

    def _with_nodes(self, without: WhatIfResult, report: Report | None) -> WhatIfResult:
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

    def _answer(self, more_nodes: int, report: Report | None) -> WhatIfResult:
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
        placed = PlacedWorkloads(question, self._admission, cluster, making, server_checks=self._dry_run is not None)
        workloads = [placed.workload(item, from_manifest=manifest) for item, manifest in self._items]
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
                return WhatIfResult(simulation.result, warnings=(*warnings, *filling.notes, *promised))
            rollouts = tuple(self._place(simulation, workloads, before, report))
        except KeyboardInterrupt:
            until = "interrupted: this is what was known until then, and not all pods were tried"
            return WhatIfResult(simulation.result, warnings=(until, *warnings), interrupted=True)
        ordered = about_order(simulation.placements, before)
        promised = about_capacity(simulation.placements, simulation.nodes)
        return WhatIfResult(simulation.result, rollouts, warnings=(*warnings, *ordered, *promised))

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


def is_in_cluster(target: str) -> bool:
    """Whether a target is `deployment/web` of the cluster rather than a path."""
    from pathlib import Path

    from kubectl_sched.sources.pod_selection import WORKLOAD_WORDS

    word, slash, name = target.partition("/")
    known = word.lower().split(".")[0] in {*WORKLOAD_WORDS, "cronjob", "cronjobs", "cj"}
    return bool(slash) and known and "/" not in name and not Path(target).exists()

"""A cluster is edited, pods are made for it, enqueued, and placed by the schedulers that serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.selector_text import parse_selector
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.applied_objects import applied, with_made
from kubectl_sched.apiserver.namespace_admission import check_namespaces, plugins_on, unknown_notes
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.controllers.daemon_set import runs_on
from kubectl_sched.controllers.ordered_ready import predecessors, sets_in_order
from kubectl_sched.controllers.pod_creation import Making, Workload
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.what_if.question import WhatIfQuestion, is_in_cluster
from kubectl_sched.record import Record
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import SeveralSchedulers
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.simulation.existing_workloads import existing_item, plan_of
from kubectl_sched.simulation.node_edits import DRAIN, apply, node_meant
from kubectl_sched.simulation.placements import Placement, QueuedPod
from kubectl_sched.simulation.promised_storage import about_capacity
from kubectl_sched.simulation.queue_simulation import Simulation, owner_of
from kubectl_sched.simulation.what_if_notes import (
    about_batching,
    about_order,
    about_pending,
    about_unknown_nodes,
    about_unmatched,
)
from kubectl_sched.simulation.what_if_result import WhatIfResult
from kubectl_sched.simulation.workloads_to_place import PlacedWorkloads
from kubectl_sched.snapshot import Objects
from kubectl_sched.sources.discovery.replay_setup import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.apiserver.manifests import Manifests
    from kubectl_sched.apiserver.resource_quotas import Quotas
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.drain import DrainAnswer
    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.sources.dump.dump import Dump

    Report = Callable[[int, int], None]

_INTERRUPTED = "interrupted: this is what was known until then, and not all pods were tried"


class Materialized(Record, frozen=True, kw_only=True):
    """A cluster after its edits, with the pods and objects that come into being."""

    cluster: Cluster
    workloads: Sequence[Workload]
    made: Sequence[KubernetesObject]
    quotas: Quotas
    refused: tuple[Placement, ...]
    """The pods that a ResourceQuota does not admit."""

    notes: tuple[str, ...]


class Stages:
    """Edit, materialize, enqueue and run, for one question about one cluster."""

    def __init__(
        self,
        question: WhatIfQuestion,
        dump: Dump,
        configuration_of: Callable[[str], Configuration],
        dry_run: DryRun | None,
        manifests: Manifests,
    ) -> None:
        """`configuration_of` returns the configuration in force for a schedulerName."""
        self._configuration_of = configuration_of
        configuration = configuration_of(question.choices.profile or DEFAULT_SCHEDULER_NAME)
        self._question = question
        self._dry_run = dry_run
        self._now = dump.at
        self._objects = applied(dump.objects, manifests.others)
        self._notes = manifests.notes
        self.misspelt = manifests.misspelt
        self._made: Sequence[KubernetesObject] = ()
        plugins = plugins_on(self._objects)
        self._admission = Admission(
            objects=Objects(self._objects),
            enabled=configuration.features.enabled,
            present=dump.present,
            plugins=plugins or frozenset(),
            jobs_choose_groups=configuration.release.jobs_choose_groups,
            limit_ranges_are_exact=configuration.release.limit_ranges_are_exact,
        )
        self._items: list[tuple[KubernetesObject, bool]] = [(item, True) for item in manifests.items]
        for target in question.targets:
            if is_in_cluster(target):
                where = None if question.everywhere else question.namespace
                self._items.append((existing_item(target, dump.objects, where), False))
        if dry_run is None:
            check_namespaces(manifests.items, self._objects, dump)
        if plugins is None and dry_run is None:
            used = {item.namespace for item, _ in self._items}
            self._notes = (*self._notes, *unknown_notes(self._objects, used))

    @property
    def objects(self) -> tuple[KubernetesObject, ...]:
        """The cluster's objects once the manifests are applied, with those that were made for new pods."""
        return (*self._objects, *self._made)

    def materialized(self) -> Materialized:
        """Return the cluster with the pods that come into being, before any of them is placed."""
        return self._materialize(*self._edit(0))

    def drain_plan(self, dump: Dump) -> DrainAnswer:
        """Plan the drains among the edits; the other edits are made, each in its turn."""
        from kubectl_sched.queries.drain import nodes_named, planned  # most what-ifs drain nothing

        cluster = Cluster.of(self._objects, self._admission.admitted)
        names: list[str] = []
        for edit in self._question.edits:
            if edit.flag == DRAIN:
                names += nodes_named([edit.value], cluster)
            else:
                apply([edit], cluster)
        there = [name for name in dict.fromkeys(names) if name in cluster.nodes]
        profile = self._question.choices.profile
        return planned(there, cluster.objects, dump, self._configuration_of, profile)

    def answer(self, report: Report | None) -> WhatIfResult:
        """Place everything; with `--find-nodes` on the fewest further nodes with which everything fits."""
        if self._question.new_nodes is not None:
            return self._on_made_nodes(self._question.new_nodes, report)
        answer = self._with_more_nodes(0, report)
        if self._question.find_nodes is None or answer.interrupted:
            return answer
        if not answer.simulated.unplaced:
            return replace(answer, nodes_needed=0)
        return self._on_fewest_nodes(answer, report)

    def _on_made_nodes(self, flags: NewNodesFlags, report: Report | None) -> WhatIfResult:
        """Place everything, then what did not fit on the nodes that Karpenter would make for it."""
        materialized = self.materialized()
        before = predecessors(materialized.workloads, materialized.cluster.evicted, materialized.cluster.others)
        simulation, notes = self._enqueue(materialized, before)
        answer = self._run(simulation, materialized, before, (*materialized.notes, *notes), report)
        waiting = [each for each in answer.simulated.placements if not each.is_placed and each.reason is None]
        if not waiting or answer.interrupted:
            return answer
        from kubectl_sched.queries.provisioning.provisioned_nodes import provisioned_nodes  # few questions ask for it
        from kubectl_sched.simulation.edited_cluster import daemon_on, daemon_templates

        cluster, after = materialized.cluster, answer.simulated.after
        others = [item for item in (*cluster.objects, *materialized.made) if not isinstance(item, Pod)]
        rows = after.existing_pods.rows.tolist()
        bound = (_bound(pod, after.names[row]) for pod, row in zip(after.existing_pods.pods, rows, strict=True))
        objects = [*others, *bound]
        found = provisioned_nodes(objects, [each.pod for each in waiting], flags.instance_types)
        daemons = daemon_templates(others, cluster.pods)
        for made in found.nodes:
            after = after.add_node(made.node)
            for pod in daemons:
                if runs_on(pod.spec, made.node):
                    after = after.assume(self._admission.admitted(daemon_on(made.node, pod)), len(after) - 1)
        second = Simulation(SeveralSchedulers(self._configuration_of, after), self._question.choices)
        second.enqueue(QueuedPod(pod=each.pod, owner=each.owner) for each in waiting)
        second.run(report)
        kept = [each for each in answer.simulated.placements if each.is_placed or each.reason is not None]
        result = replace(second.result, placements=(*kept, *second.placements), before=answer.simulated.before)
        used = {each.node for each in second.placements}
        return replace(
            answer,
            simulated=result,
            new_nodes=tuple(made for made in found.nodes if made.node.name in used),
            warnings=(*answer.warnings, *found.notes),
        )

    def _on_fewest_nodes(self, without: WhatIfResult, report: Report | None) -> WhatIfResult:
        """Double the number of nodes until it is enough, then halve between."""
        most = without.simulated.unplaced
        enough, known = 1, {0: without}
        while True:
            known[enough] = self._with_more_nodes(enough, report)
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
            known[middle] = self._with_more_nodes(middle, report)
            if known[middle].interrupted:
                return known[middle]
            if known[middle].simulated.unplaced:
                too_few = middle
            else:
                enough = middle
        return replace(known[enough], nodes_needed=enough)

    def _with_more_nodes(self, more_nodes: int, report: Report | None) -> WhatIfResult:
        materialized = self._materialize(*self._edit(more_nodes))
        before = predecessors(materialized.workloads, materialized.cluster.evicted, materialized.cluster.others)
        simulation, notes = self._enqueue(materialized, before)
        return self._run(simulation, materialized, before, (*materialized.notes, *notes), report)

    def _edit(self, more_nodes: int) -> tuple[Cluster, tuple[str, ...]]:
        """Return the cluster after its edits and the further nodes, and what the edits cost, in sentences."""
        cluster = Cluster.of(self._objects, self._admission.admitted)
        notes = apply(self._question.edits, cluster)
        if self._question.find_nodes is not None:
            cluster.add_copies(node_meant(cluster, self._question.find_nodes, "--find-nodes"), more_nodes)
        return cluster, notes

    def _materialize(self, cluster: Cluster, edit_notes: tuple[str, ...]) -> Materialized:
        """Make the pods of the workloads as their controllers and the API server would."""
        sizing = self._question.sizing
        making = Making(self._admission, cluster.others, self._dry_run, charges=not sizing.fill)
        if self._question.edits:
            stay = {pod.key for pod in (*cluster.pods, *cluster.evicted)}
            making.let_go(item for item in self._objects if isinstance(item, Pod) and item.key not in stay)
        asks = self._dry_run is not None
        placed = PlacedWorkloads(sizing, self._admission, cluster, making, now=self._now, server_checks=asks)
        workloads = [placed.workload(item, from_manifest=manifest) for item, manifest in self._items]
        if sizing.fill and not workloads:
            raise SchedError("--replicas max says how many pods, but of which? Name a manifest or a workload")
        of_workloads = (note for workload in workloads for note in workload.notes)
        nowhere = about_unknown_nodes(workloads, cluster.nodes)
        notes = (*self._notes, *edit_notes, *of_workloads, *making.notes, *nowhere)
        refused = tuple(_refused(pod, reason) for pod, reason in making.refused)
        self._made = making.made
        return Materialized(
            cluster=cluster,
            workloads=workloads,
            made=making.made,
            quotas=making.quotas,
            refused=refused,
            notes=notes,
        )

    def _enqueue(self, materialized: Materialized, before: Mapping[str, Pod]) -> tuple[Simulation, tuple[str, ...]]:
        """Return the schedulers' queue with the evicted pods and, if asked for, those that are pending."""
        cluster = materialized.cluster
        objects = with_made(cluster.objects, materialized.made)
        nodes, left_out = snapshot_of(objects, self._configuration_of(DEFAULT_SCHEDULER_NAME))
        simulation = Simulation(SeveralSchedulers(self._configuration_of, nodes), self._question.choices)
        evicted = sets_in_order(cluster.evicted)
        simulation.enqueue(
            QueuedPod(pod=pod, owner=owner_of(pod), waits_for=before.get(pod.metadata.uid)) for pod in evicted
        )
        pending = _pending_besides(materialized)
        if not self._question.with_pending:
            return simulation, (*left_out, *about_pending(pending))
        chosen = self._chosen(pending)
        simulation.enqueue(QueuedPod(pod=pod, owner=owner_of(pod)) for pod in chosen)
        return simulation, (*left_out, *about_unmatched(len(pending) - len(chosen)))

    def _chosen(self, pending: list[Pod]) -> list[Pod]:
        """Return the pods whose labels match. Raises SchedError if there is none, and nothing else to place."""
        wanted = self._question.label_selector
        if wanted is None:
            return pending
        selector = parse_selector(wanted)
        chosen = [pod for pod in pending if selector.matches(pod.metadata.labels)]
        if not chosen and not self._items:
            raise SchedError(f"no pending pod has labels that match {wanted}")
        return chosen

    def _run(
        self,
        simulation: Simulation,
        materialized: Materialized,
        before: Mapping[str, Pod],
        notes: tuple[str, ...],
        report: Report | None,
    ) -> WhatIfResult:
        workloads = materialized.workloads
        rollouts: tuple[RolledOut, ...] = ()
        try:
            if self._question.sizing.fill:
                from kubectl_sched.simulation.capacity_search import Filling  # few questions ask for it

                filling = Filling(list(workloads), materialized.quotas, materialized.cluster.pods)
                notes = (*notes, *filling.fill(simulation, report))
            else:
                rollouts = tuple(self._place(simulation, workloads, before, report))
                notes = (*notes, *about_order(simulation.placements, before))
        except KeyboardInterrupt:
            return WhatIfResult(simulated=simulation.result, warnings=(_INTERRUPTED, *notes), interrupted=True)
        promised = about_capacity(simulation.placements, simulation.nodes)
        batched = about_batching(simulation.placements)
        result = simulation.result
        simulated = replace(result, placements=(*result.placements, *materialized.refused))
        return WhatIfResult(simulated=simulated, rollouts=rollouts, warnings=(*notes, *promised, *batched))

    def _place(
        self, simulation: Simulation, workloads: Sequence[Workload], before: Mapping[str, Pod], report: Report | None
    ) -> Iterator[RolledOut]:
        for workload in workloads:
            if not workload.old:
                owner = workload.replicas.owner
                simulation.enqueue(
                    QueuedPod(pod=pod, owner=owner, waits_for=before.get(pod.metadata.uid) if before else None)
                    for pod in workload.pods
                )
        simulation.run(report)
        for workload in workloads:
            if workload.old:
                from kubectl_sched.simulation.rollout import roll_out

                source = workload.replicas.source
                owner = workload.replicas.owner or source.key
                plan = plan_of(source, owner, workload.pods, workload.old, self._admission.enabled, self._now)
                yield roll_out(simulation, plan, report)


def _refused(pod: Pod, reason: str) -> Placement:
    return Placement(pod=pod, owner=owner_of(pod), outcome=Outcome.ERROR, reason=reason, is_over_quota=True)


def _bound(pod: Pod, node: str) -> Pod:
    return pod if pod.spec.node_name else with_spec(pod, node_name=node)


def _pending_besides(materialized: Materialized) -> list[Pod]:
    """Return the cluster's pending pods that no workload of the question owns."""
    pending = [pod for pod in materialized.cluster.pods if pod.is_pending and pod.metadata.deletion_timestamp is None]
    if not pending:
        return []
    names = {pod.metadata.name for pod in pending}
    made = (pod for workload in materialized.workloads for pod in workload.pods)
    own = {pod.key for pod in made if pod.metadata.name in names}
    return [pod for pod in pending if pod.key not in own]

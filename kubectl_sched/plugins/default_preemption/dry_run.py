"""Selection of the victims on each node (SelectVictimsOnNode in default_preemption.go).

Upstream takes one node after the other: remove all pods of lower priority, see whether the pod fits, then give back one
after the other, the most important first, as long as it still fits. Nodes without a pod on which verdicts elsewhere
depend take each of these steps together, and the filters run once a step over all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.preemption import Candidate, by_importance, start_time
from kubectl_sched.framework.status import Code, Status, error, passing, unresolvable
from kubectl_sched.plugins.default_preemption.victims import Victim
from kubectl_sched.snapshot.host_ports import host_ports

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import PluginsRunner
    from kubectl_sched.framework.preemption import Importance
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.default_preemption.budgets import Budgets
    from kubectl_sched.plugins.default_preemption.victims import SingleVictims
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Rows

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


class Outcomes(Struct):
    """The candidates, and the status of every other row that was tried."""

    candidates: list[Candidate] = field(default_factory=list)
    statuses: dict[int, Status] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


class _OneNode:
    """One node as it changes during its trial."""

    def __init__(self, framework: PluginsRunner, pod: Pod, cluster: Snapshot, row: int, state: CycleState) -> None:
        self._framework = framework
        self._pod = pod
        self._cluster = cluster
        self._row = row
        self.state = state
        self.nodes = cluster.take(np.array([row], dtype=np.intp))

    def remove(self, victim: Victim) -> None:
        """The victim goes. Of its pods on other nodes only the plugins' states hear."""
        for pod, row in self._pods_of(victim):
            if row == self._row:
                index = self.nodes.existing_pods.find(pod.metadata.namespace, pod.metadata.name)
                assert index is not None  # noqa: S101 - a potential victim is on the node until it is taken off
                self.nodes = self.nodes.evict(index)
            self._framework.remove_pod(self.state, self._pod, pod, row, self._cluster)

    def add(self, victim: Victim) -> None:
        """The victim is given back."""
        for pod, row in self._pods_of(victim):
            if row == self._row:
                self.nodes = self.nodes.assume(pod, 0)
            self._framework.add_pod(self.state, self._pod, pod, row, self._cluster)

    def _pods_of(self, victim: Victim) -> list[tuple[Pod, int]]:
        existing = self._cluster.existing_pods
        return [(existing.pods[index], int(existing.rows[index])) for index in victim.indices]


class _Trial(Struct, eq=False):
    """One node's part: the pods to give back in this order, and those that turned out to be in the way."""

    row: int
    order: list[Victim]
    """The potential victims: those whose budget would be violated first."""
    violating: list[int]
    """For each of the first pods, the number of victims that violate a budget."""
    violated_budgets: tuple[str, ...]
    victims: list[Victim] = field(default_factory=list)
    violations: int = 0

    @property
    def indices(self) -> list[int]:
        """All pods of the potential victims."""
        return [index for victim in self.order for index in victim.indices]


class DryRun:
    """The dry run for one pod over one snapshot."""

    def __init__(
        self,
        framework: PluginsRunner,
        state: CycleState,
        pod: Pod,
        nodes: Snapshot,
        budgets: Budgets,
        victims: SingleVictims,
    ) -> None:
        self._framework = framework
        self._state = state
        self._pod = pod
        self._nodes = nodes
        self._budgets = budgets
        self._victims = victims
        self._outcomes = Outcomes()

    def run(self, rows: Rows) -> Outcomes:
        """Try these rows."""
        trials: list[_Trial] = []
        hopeful = self._victims.may_have_below(self._pod.priority, len(self._nodes))
        self._outcomes.statuses.update(dict.fromkeys(rows[~hopeful[rows]].tolist(), NO_VICTIMS))
        for row in rows[hopeful[rows]].tolist():
            try:
                potential = self._victims.below(self._pod.priority, row)
            except PluginError as failure:
                self._outcomes.errors.append(str(failure))
                continue
            if potential:
                trials.append(self._trial(row, potential))
            else:
                self._outcomes.statuses[row] = NO_VICTIMS
        alone: list[_Trial] = []
        together: list[_Trial] = []
        far_reaching = self._far_reaching(trials)
        for trial in trials:
            is_alone = (
                not far_reaching.isdisjoint(trial.indices)
                or any(len(victim.indices) > 1 for victim in trial.order)
                or self._frees_shared_ports(trial)
            )
            (alone if is_alone else together).append(trial)
        for trial in alone:
            self._try_alone(trial)
        if together:
            self._try_together(together)
        return self._outcomes

    def _far_reaching(self, trials: list[_Trial]) -> set[int]:
        """The potential victims on which verdicts on other nodes, too, may depend."""
        existing = self._nodes.existing_pods
        pods, codes = existing.pods, existing.identity.codes.tolist()
        answers: dict[int, bool] = {}

        def reaches_far(index: int) -> bool:
            other = pods[index]
            if other.spec.affinity is not None or other.spec.volumes:
                return self._framework.concerns_other_nodes(self._state, self._pod, other)
            if codes[index] not in answers:
                answers[codes[index]] = self._framework.concerns_other_nodes(self._state, self._pod, other)
            return answers[codes[index]]

        return {index for trial in trials for index in trial.indices if reaches_far(index)}

    def _frees_shared_ports(self, trial: _Trial) -> bool:
        """Report whether pods of the node share a host port, which then is free once one of them goes (freed_ports)."""
        if not host_ports(self._pod):
            return False
        pods = self._nodes.existing_pods
        ports = pods.column("host_ports", host_ports)
        used = [port for index in pods.on(trial.row) for port in set(ports[int(index)])]
        return len(used) != len(set(used))

    def _by_importance(self, victims: list[Victim]) -> list[Victim]:
        release = self._framework.handle.release
        return by_importance(
            victims, self._importance, unstarted_keep_their_order=release.unstarted_victims_keep_their_order
        )

    def _importance(self, victim: Victim) -> Importance:
        pods = self._nodes.existing_pods.pods
        started = min(start_time(pods[index]) for index in victim.indices)
        return -victim.priority, -victim.rank, -len(victim.indices), started

    def _trial(self, row: int, potential: list[Victim]) -> _Trial:
        pods = self._nodes.existing_pods.pods
        ordered = self._by_importance(potential)
        flags, violated = self._budgets.violating([pods[index] for victim in ordered for index in victim.indices])
        remaining = iter(flags)
        counts = [sum(next(remaining) for _ in victim.indices) for victim in ordered]
        counted = list(zip(ordered, counts, strict=True))
        order = [victim for victim, count in counted if count] + [victim for victim, count in counted if not count]
        return _Trial(row, order, [count for count in counts if count], violated)

    def _try_together(self, trials: list[_Trial]) -> None:
        """All nodes at once: each step gives one pod back to every node that has one left."""
        rows = np.array([trial.row for trial in trials], dtype=np.intp)
        gone = np.zeros(len(self._nodes.existing_pods), dtype=np.bool_)
        for trial in trials:
            gone[trial.indices] = True
        verdict = self._verdict(self._nodes.without(gone).take(rows))
        fitting = [trial for position, trial in enumerate(trials) if self._fits(trial, verdict[position])]
        for step in range(max((len(trial.order) for trial in fitting), default=0)):
            stepping = [trial for trial in fitting if step < len(trial.order)]
            gone[[trial.order[step].indices[0] for trial in stepping]] = False
            rows = np.array([trial.row for trial in stepping], dtype=np.intp)
            verdict = self._verdict(self._nodes.without(gone).take(rows))
            passes = passing(verdict)
            for position in np.flatnonzero(~passes).tolist():
                gone[stepping[position].order[step].indices[0]] = True
                self._in_the_way(stepping[position], step)
        for trial in fitting:
            self._conclude(trial)

    def _try_alone(self, trial: _Trial) -> None:
        """One node, with its pods, its ports and the PreFilter states of all plugins changed pod by pod."""
        node = _OneNode(self._framework, self._pod, self._nodes, trial.row, self._state.clone())
        try:
            for victim in sorted(trial.order, key=lambda victim: victim.indices):
                node.remove(victim)
            if not self._fits(trial, self._verdict(node.nodes, node.state)[0]):
                return
            for step, victim in enumerate(trial.order):
                node.add(victim)
                if not self._verdict(node.nodes, node.state)[0].is_success:
                    node.remove(victim)
                    self._in_the_way(trial, step)
        except PluginError as failure:
            self._failed(trial.row, error(str(failure)))
            return
        self._conclude(trial)

    def _verdict(self, nodes: Snapshot, state: CycleState | None = None) -> NodeToStatus:
        state = self._state if state is None else state
        verdict = self._framework.run_filters(state, self._pod, nodes)
        return self._framework.run_filters_with_nominated_pods(state, self._pod, nodes, verdict)

    def _fits(self, trial: _Trial, status: Status) -> bool:
        """Report whether the pod fits with all potential victims gone; if not, that is why preemption does not help."""
        if not status.is_success:
            self._failed(trial.row, status)
        return status.is_success

    def _failed(self, row: int, status: Status) -> None:
        self._outcomes.statuses[row] = status
        if status.code is Code.ERROR:
            self._outcomes.errors.append(status.message)

    def _in_the_way(self, trial: _Trial, step: int) -> None:
        trial.victims.append(trial.order[step])
        trial.violations += trial.violating[step] if step < len(trial.violating) else 0

    def _conclude(self, trial: _Trial) -> None:
        name = self._nodes.names[trial.row]
        if not trial.victims:
            self._failed(trial.row, error(f'expected at least one victim pod on node "{name}"'))
            return
        pods = self._nodes.existing_pods.pods
        leaving = trial.victims
        if trial.violating and len(trial.violating) < len(trial.order):
            leaving = self._by_importance(leaving)
        victims = [pods[index] for victim in leaving for index in victim.indices]
        violated = trial.violated_budgets if trial.violations else ()
        self._outcomes.candidates.append(
            Candidate(
                node_name=name, victims=tuple(victims), pdb_violations=trial.violations, violated_budgets=violated
            )
        )

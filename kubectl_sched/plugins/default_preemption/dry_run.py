"""Selection of the victims on each node (SelectVictimsOnNode in default_preemption.go).

Upstream takes one node after the other: remove all pods of lower priority, see whether the pod fits, then give back one
after the other, the most important first, as long as it still fits. Nodes without a pod on which verdicts elsewhere
depend take each of these steps together, and the filters run once a step over all of them.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.preemption_choice import Candidate
from kubectl_sched.framework.status import Code, Status, error, passing, unresolvable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import PluginsRunner
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.default_preemption.budgets import Budgets
    from kubectl_sched.plugins.default_preemption.victims import PotentialVictims, SingleVictims
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


_STEPS_A_POD: Final = 40
"""For each pod that is taken off one node or given back, beside the filters that are run then."""

_ARRAYS_A_TRY: Final = 10
"""Operations on arrays that make a version of the cluster."""


class WithoutVictims(Enum):
    """The outcome for a node where the pod would fit beside all potential victims."""

    ERROR = "the dry run fails (up to 1.37)"
    REFUSAL = "the node has no victims"
    CANDIDATE = "an extender may add victims"


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

    def remove(self, unit: tuple[int, ...]) -> None:
        """The pods go. Of those on other nodes only the plugins' states hear."""
        self.state.budget.spend(_STEPS_A_POD * len(unit))
        for pod, row in self._pods_of(unit):
            if row == self._row:
                index = self.nodes.existing_pods.find(pod.metadata.namespace, pod.metadata.name)
                assert index is not None  # noqa: S101 - a potential victim is on the node until it is taken off
                self.nodes = self.nodes.evict(index)
            self._framework.remove_pod(self.state, self._pod, pod, row, self._cluster)

    def add(self, unit: tuple[int, ...]) -> None:
        """The pods are given back."""
        self.state.budget.spend(_STEPS_A_POD * len(unit))
        for pod, row in self._pods_of(unit):
            if row == self._row:
                self.nodes = self.nodes.assume(pod, 0)
            self._framework.add_pod(self.state, self._pod, pod, row, self._cluster)

    def _pods_of(self, unit: tuple[int, ...]) -> list[tuple[Pod, int]]:
        existing = self._cluster.existing_pods
        return [(existing.pods[index], int(existing.rows[index])) for index in unit]


class _ManyNodes:
    """All nodes as they change, one pod a node at a time, when no pod has a say elsewhere."""

    def __init__(self, cluster: Snapshot) -> None:
        self._cluster = cluster
        self._usage = cluster.usage
        self._gone = np.zeros(len(cluster.existing_pods), dtype=np.bool_)

    def remove(self, indices: Rows) -> None:
        """These pods go."""
        self._gone[indices] = True
        self._usage = self._usage.less(self._cluster.usage_of(indices))

    def add(self, indices: Rows) -> None:
        """These pods are given back."""
        self._gone[indices] = False
        self._usage = self._usage.plus(self._cluster.usage_of(indices))

    def take(self, rows: Rows) -> Snapshot:
        """These nodes as they are now."""
        existing = self._cluster.existing_pods.without(self._gone)
        return replace(self._cluster, usage=self._usage, existing_pods=existing).take(rows)


class _Trial(Struct, eq=False):
    """One node's part: the pods to give back in this order, and those that turned out to be in the way."""

    row: int
    order: list[tuple[int, ...]]
    """The potential victims, each the indices of its pods: those whose budget would be violated first."""
    ranks: list[int]
    """The importance of each."""
    violating: list[int] = field(default_factory=list)
    """For each of the first, the number of pods that violate a budget."""
    violated_budgets: tuple[str, ...] = ()
    in_the_way: list[int] = field(default_factory=list)
    """The places in the order of those that did not fit beside the pod."""
    indices: list[int] = field(default_factory=list)
    """All pods of the potential victims, in the order."""

    def __post_init__(self) -> None:
        self.indices = [index for unit in self.order for index in unit]


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
        without_victims: WithoutVictims,
    ) -> None:
        self._without_victims = without_victims
        self._framework = framework
        self._state = state
        self._pod = pod
        self._nodes = nodes
        self._budgets = budgets
        self._victims = victims
        self._outcomes = Outcomes()

    def run(self, rows: Rows) -> Outcomes:
        """Try these rows."""
        hopeful = self._victims.may_have_below(self._pod.priority, len(self._nodes))
        self._outcomes.statuses.update(dict.fromkeys(rows[~hopeful[rows]].tolist(), NO_VICTIMS))
        rows = rows[hopeful[rows]]
        trials = self._trials(rows) if len(rows) else []
        alone: list[_Trial] = []
        together: list[_Trial] = []
        far_reaching = self._far_reaching(trials)
        for trial in trials:
            is_alone = (
                not far_reaching.isdisjoint(trial.indices)
                or len(trial.indices) > len(trial.order)
                or self._frees_shared_ports(trial)
            )
            (alone if is_alone else together).append(trial)
        for trial in alone:
            self._try_alone(trial)
        if together:
            self._try_together(together)
        return self._outcomes

    def _trials(self, rows: Rows) -> list[_Trial]:
        trials: list[_Trial] = []
        victims_on = self._victims.below(self._pod.priority, rows)
        for row in rows.tolist():
            try:
                potential = victims_on(row)
            except PluginError as failure:
                self._outcomes.errors.append(str(failure))
                continue
            if potential.units:
                trials.append(self._trial(row, potential))
            else:
                self._outcomes.statuses[row] = NO_VICTIMS
        return trials

    def _far_reaching(self, trials: list[_Trial]) -> set[int]:
        """The potential victims on which verdicts on other nodes, too, may depend."""
        if not self._framework.counts_other_pods(self._state):
            return set()
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
        if not self._nodes.ports_of(self._pod):
            return False
        ports = self._nodes.ports
        used = [port for index in self._nodes.existing_pods.on(trial.row) for port in set(ports[int(index)])]
        return len(used) != len(set(used))

    def _trial(self, row: int, potential: PotentialVictims) -> _Trial:
        units, ranks = potential
        trial = _Trial(row, units, ranks)
        if self._with_budget.isdisjoint(trial.indices):
            return trial
        pods = self._nodes.existing_pods.pods
        flags, violated = self._budgets.violating([pods[index] for index in trial.indices])
        remaining = iter(flags)
        counts = [sum(next(remaining) for _ in unit) for unit in units]
        order = sorted(range(len(units)), key=lambda position: not counts[position])
        return _Trial(
            row,
            [units[position] for position in order],
            [ranks[position] for position in order],
            [count for count in counts if count],
            violated,
        )

    @cached_property
    def _with_budget(self) -> frozenset[int]:
        """The indices of the pods that some budget selects."""
        identity = self._nodes.existing_pods.identity
        return frozenset(np.flatnonzero(identity.where(lambda each: self._budgets.select(*each))).tolist())

    def _try_together(self, trials: list[_Trial]) -> None:
        """All nodes at once: each step gives one pod back to every node that has one left."""
        nodes = _ManyNodes(self._nodes)
        nodes.remove(np.array([index for trial in trials for index in trial.indices], dtype=np.intp))
        verdict = self._verdict(nodes.take(_rows(trials)))
        fitting = [trial for position, trial in enumerate(trials) if self._fits(trial, verdict[position])]
        rows, lengths = _rows(fitting), np.array([len(trial.order) for trial in fitting], dtype=np.intp)
        indices = np.array([index for trial in fitting for index in trial.indices], dtype=np.intp)
        starts = np.cumsum(lengths) - lengths
        for step in range(int(lengths.max(initial=0))):
            self._state.budget.spend_on_arrays(_ARRAYS_A_TRY, len(self._nodes.existing_pods))
            stepping = np.flatnonzero(lengths > step)
            given_back = indices[starts[stepping] + step]
            nodes.add(given_back)
            passes = passing(self._verdict(nodes.take(rows[stepping])))
            nodes.remove(given_back[~passes])
            for position in stepping[~passes].tolist():
                fitting[position].in_the_way.append(step)
        for trial in fitting:
            self._conclude(trial)

    def _try_alone(self, trial: _Trial) -> None:
        """One node, with its pods, its ports and the PreFilter states of all plugins changed pod by pod."""
        node = _OneNode(self._framework, self._pod, self._nodes, trial.row, self._state.clone())
        try:
            for unit in sorted(trial.order):
                node.remove(unit)
            if not self._fits(trial, self._verdict(node.nodes, node.state)[0]):
                return
            for step, unit in enumerate(trial.order):
                node.add(unit)
                if not self._verdict(node.nodes, node.state)[0].is_success:
                    node.remove(unit)
                    trial.in_the_way.append(step)
        except PluginError as failure:
            self._failed(trial.row, error(str(failure)))
            return
        self._conclude(trial)

    def _verdict(self, nodes: Snapshot, state: CycleState | None = None) -> NodeToStatus:
        state = self._state if state is None else state
        state.budget.spend_on_arrays(_ARRAYS_A_TRY, len(nodes))
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

    def _conclude(self, trial: _Trial) -> None:
        name = self._nodes.names[trial.row]
        if not trial.in_the_way:
            self._conclude_without_victims(trial)
            return
        leaving = [trial.order[step] for step in trial.in_the_way]
        if trial.violating and len(trial.violating) < len(trial.order):
            leaving = self._victims.in_order(leaving, [trial.ranks[step] for step in trial.in_the_way]).units
        budgeted = [step for step in trial.in_the_way if step < len(trial.violating)] if trial.violating else ()
        violations = sum(trial.violating[step] for step in budgeted)
        pods = self._nodes.existing_pods.pods
        self._outcomes.candidates.append(
            Candidate(
                node_name=name,
                victims=tuple([pods[index] for unit in leaving for index in unit]),
                pdb_violations=violations,
                violated_budgets=trial.violated_budgets if violations else (),
            )
        )

    def _conclude_without_victims(self, trial: _Trial) -> None:
        name = self._nodes.names[trial.row]
        if self._without_victims is WithoutVictims.CANDIDATE:
            self._outcomes.candidates.append(Candidate(node_name=name, victims=(), pdb_violations=0))
        elif self._without_victims is WithoutVictims.REFUSAL:
            self._failed(trial.row, NO_VICTIMS)
        else:
            self._failed(trial.row, error(f'expected at least one victim pod on node "{name}"'))


def _rows(trials: Sequence[_Trial]) -> Rows:
    return np.array([trial.row for trial in trials], dtype=np.intp)

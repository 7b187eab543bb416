"""Many pods that differ in name and node alone, each judged as if it were pending, taken off its own node.

Each of them meets the same cluster but for one pod less on one node. So what looks at a node by itself says of all the
other nodes what it says of the whole cluster, and of the pod's own what it says of that node with one such pod less.
What looks further (PodTopologySpread, InterPodAffinity) is asked anew for each pod. Every decision equals a cycle from
scratch; where that cannot be had so simply (volumes, devices, nominated pods, nodes that PreFilter chose), there is no
OneOut and each pod has its whole cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import structs

from kubectl_sched.api.pod import ContainerStates, ContainerStatus
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import DependsOn, PreFilterPlugin
from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.framework.status import Code, passing
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.plain_pods import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import ScorePlugin
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers, Mask, Rows


def essence(pod: Pod) -> Pod:
    """The pod without what no plugin looks at in a pod of simple volumes; equal for pods that are judged alike."""
    spec, status = pod.spec, pod.status
    return structs.replace(
        pod,
        metadata=structs.replace(
            type(pod.metadata)(),
            namespace=pod.metadata.namespace,
            labels=pod.metadata.labels,
            owner_references=pod.metadata.owner_references,
            deletion_timestamp=pod.metadata.deletion_timestamp,
        ),
        spec=structs.replace(
            spec, node_name="", volumes=tuple([structs.replace(volume, name="") for volume in spec.volumes])
        ),
        status=structs.replace(
            status,
            phase="",
            reason="",
            message="",
            start_time=None,
            conditions=tuple([each for each in status.conditions if each.type.startswith("PodResize")]),
            container_statuses=tuple(map(_resources_alone, status.container_statuses)),
            init_container_statuses=tuple(map(_resources_alone, status.init_container_statuses)),
        ),
    )


def _resources_alone(status: ContainerStatus) -> ContainerStatus:
    return structs.replace(status, ready=False, image="", state=ContainerStates())


class Judged(NamedTuple):
    """The outcome for one pod: feasible nodes, the totals there, and each plugin's weighted points, by row."""

    feasible: Mask
    totals: Integers
    points: Mapping[str, Integers]


class OneOut:
    """The shared part of the cycles of pods like `pod`; `without` replays one of them off its own node."""

    def __init__(self, whole: ScheduleResult, framework: Framework) -> None:
        """`whole` is the cycle of one more such pod; raises PluginError where a plugin fails."""
        state = whole.state
        assert state is not None  # noqa: S101 - every cycle has one
        self.whole = whole
        self._pod, self._nodes, self._state, self._framework = whole.pod, whole.nodes, state.clone(), framework
        self._rows = np.arange(len(whole.nodes), dtype=np.intp)
        less = whole.nodes.with_usage_everywhere(whole.pod, -1)
        filters = [each for each in framework.filter_plugins if each.name in whole.verdicts]
        self._asked_anew = [each for each in filters if each.depends_on is DependsOn.CLUSTER]
        self._of_pods = [each for each in filters if each.depends_on is DependsOn.PODS_OF_NODE]
        shared = [each for each in filters if each.depends_on in {DependsOn.NODE, DependsOn.USAGE_OF_NODE}]
        self._passes = self._all_pass(whole.verdicts[each.name] for each in (*shared, *self._of_pods))
        self._passes_less = self._all_pass(
            each.filter(self._state, self._pod, less)
            if each.depends_on is DependsOn.USAGE_OF_NODE
            else whole.verdicts[each.name]
            for each in shared
        )
        self._scorers = [_Scorer(each, self, less) for each in framework.score_plugins]
        self._scorers = [each for each in self._scorers if not each.is_skipped]

    @classmethod
    def of(cls, whole: ScheduleResult) -> OneOut | None:
        """Prepare the replays after a cycle of one more such pod; None if each pod needs a whole cycle."""
        if whole.framework is None or whole.state is None or not _is_simple(whole):
            return None
        try:
            return cls(whole, whole.framework)
        except PluginError:
            return None

    def _all_pass(self, columns: Iterable[NodeToStatus]) -> Mask:
        passes = np.ones(len(self._rows), dtype=np.bool_)
        for column in columns:
            passes &= _passing(column)
        return passes

    def without(self, pod: Pod) -> Judged | None:
        """Replay one of the pods, which is on a node; None if it fits nowhere or a plugin fails."""
        row = self._nodes.row_of[pod.spec.node_name]
        needs_nodes = self._asked_anew or self._of_pods or any(each.is_asked_anew for each in self._scorers)
        nodes = self._nodes.remove_pod(pod.metadata.namespace, pod.metadata.name) if needs_nodes else self._nodes
        state = self._state.clone()
        try:
            feasible = self._feasible(state, nodes, row)
            rows = np.flatnonzero(feasible)
            return self._scored(state, nodes, feasible, rows, row) if len(rows) else None
        except PluginError:
            return None

    def _feasible(self, state: CycleState, nodes: Snapshot, row: int) -> Mask:
        feasible = self._passes.copy()
        feasible[row] = self._passes_less[row]
        for plugin in self._of_pods:
            feasible[row] &= _passing(plugin.filter(state, self._pod, nodes.take(np.array([row], dtype=np.intp))))[0]
        for plugin in self._asked_anew:
            assert isinstance(plugin, PreFilterPlugin)  # noqa: S101 - _is_simple
            code = plugin.pre_filter(state, self._pod, nodes).status.code
            if code is Code.SKIP:
                continue
            if code is not Code.SUCCESS:
                raise PluginError(plugin.name)
            feasible &= _passing(plugin.filter(state, self._pod, nodes))
        return feasible

    def _scored(self, state: CycleState, nodes: Snapshot, feasible: Mask, rows: Rows, row: int) -> Judged:
        totals: Integers = np.zeros(len(feasible), dtype=np.int64)
        points: dict[str, Integers] = {}
        if not self._framework.score_plugins:
            totals[rows] = 1
        for scorer in self._scorers:
            given = scorer.given(state, nodes, rows, row)
            if given is not None:
                points[scorer.plugin.name] = weighted = np.zeros(len(feasible), dtype=np.int64)
                weighted[rows] = given
                totals += weighted
        return Judged(feasible, totals, points)

    @property
    def parts(self) -> tuple[Pod, Snapshot, CycleState, Framework, Rows]:
        """The arguments of a scorer."""
        return self._pod, self._nodes, self._state, self._framework, self._rows


class _Scorer:
    """A score plugin, with its raw scores of all nodes as they are and with one of the pods less."""

    def __init__(self, plugin: ScorePlugin, one_out: OneOut, less: Snapshot) -> None:
        self.plugin = plugin
        self._pod, nodes, state, framework, rows = one_out.parts
        self._weight = framework.weights[plugin.name]
        self._preparing = next((each for each in framework.pre_score_plugins if each.name == plugin.name), None)
        self.is_asked_anew = plugin.depends_on is DependsOn.CLUSTER
        self.is_skipped = False
        if self.is_asked_anew:
            return
        if self._preparing is not None:
            self.is_skipped = self._preparing.pre_score(state, self._pod, nodes, rows).code is Code.SKIP
        if self.is_skipped:
            return
        self._raw = plugin.score(state, self._pod, nodes, rows)
        is_less = plugin.depends_on is DependsOn.USAGE_OF_NODE
        self._raw_less = plugin.score(state, self._pod, less, rows) if is_less else self._raw
        if plugin.depends_on is DependsOn.PODS_OF_NODE:
            raise PluginError(plugin.name)

    def given(self, state: CycleState, nodes: Snapshot, rows: Rows, row: int) -> Integers | None:
        """int64[len(rows)]: its points times its weight, None where it skips."""
        if self.is_asked_anew:
            if self._preparing is not None:
                status = self._preparing.pre_score(state, self._pod, nodes, rows)
                if status.code is Code.SKIP:
                    return None
                if not status.is_success:
                    raise PluginError(status.message)
            raw = self.plugin.score(state, self._pod, nodes, rows)
        else:
            raw = self._raw[rows]
            raw[np.searchsorted(rows, row) : np.searchsorted(rows, row, side="right")] = self._raw_less[row]
        return normalized_scores(self.plugin, state, self._pod, nodes, rows, raw) * self._weight


def _passing(column: NodeToStatus) -> Mask:
    if any(not status.is_success and not status.is_rejected for status in column.values):
        raise PluginError("a filter fails")
    return passing(column)


def _is_simple(whole: ScheduleResult) -> bool:
    framework, spec = whole.framework, whole.pod.spec
    assert framework is not None  # noqa: S101 - `of` asks
    filters = (each for each in framework.filter_plugins if each.name in whole.verdicts)
    return (
        whole.outcome in {Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE}
        and whole.pre_filter.is_success
        and whole.pre_filter_nodes is None
        and whole.verdict is not None
        and not whole.nodes.nominated
        and not whole.pod.status.nominated_node_name
        and is_plain(whole.pod)
        and spec.scheduling_group is None
        and spec.workload_ref is None
        and framework.handle.extender_client is None
        and all(each.depends_on is not DependsOn.CLUSTER or isinstance(each, PreFilterPlugin) for each in filters)
    )

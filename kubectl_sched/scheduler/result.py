"""The outcome of one scheduling cycle, with every verdict and every score behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, ScorePlugin
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.extenders import Extended
    from kubectl_sched.framework.interface import BindingAction, PostFilterResult
    from kubectl_sched.framework.runtime import Framework, PluginScores
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers, Mask, Rows


class Outcome(Enum):
    """The outcome of a cycle."""

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    GATED = "Gated"
    NO_PROFILE = "NoProfile"
    DELETING = "Deleting"
    ERROR = "Error"


@dataclass(frozen=True, eq=False, repr=False)
class ScheduleResult:
    """Arrays and columns have one entry for each row of `nodes`, those of scores one for each of `feasible`."""

    pod: Pod
    """As the cycle saw it: on no node."""

    nodes: Snapshot
    """The cluster as the cycle saw it: without the pod itself."""

    outcome: Outcome
    kubernetes_version: str = ""
    """The minor whose behaviour was replayed: `1.36`."""

    current_node: str | None = None
    """The node that the pod is bound to in truth."""

    framework: Framework | None = None
    """None where no profile serves the pod."""

    state: CycleState | None = None
    """The state that plugins keep from one extension point to the next; None if no cycle began."""

    placement: Rows | None = None
    """The rows to which the cycle of a group narrows the search; None for all."""

    runs_post_filter: bool = True
    """False where the cycle of a group sees to preemption by itself."""

    pre_enqueue: Status = SUCCESS
    pre_filter: Status = SUCCESS
    """The status of the pod as a whole; a rejection stands for every node."""

    pre_filter_nodes: frozenset[str] | None = None
    """The names of the nodes that PreFilter leaves, None for all."""

    narrowed_by: tuple[str, ...] = ()
    """The plugins that left only those, sorted."""

    verdicts: Mapping[str, NodeToStatus] = field(default_factory=dict)
    """Each filter plugin's own verdicts, in run order, nominated pods left aside."""

    verdict: NodeToStatus | None = None
    """The status that kube-scheduler reports for each node; None if the cycle ended earlier."""

    feasible: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """The rows of the nodes that the pod fits on, rising unless extenders give another order."""

    scores: tuple[PluginScores, ...] = ()
    totals: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The sum of all plugins' weighted scores."""

    nominated_first: str | None = None
    """The node that the pod was nominated to, where it fits there: it wins whatever the scores say."""

    message: str | None = None
    """The FitError of a pod that fits nowhere, without PostFilter's part; None if it fits or the cycle fails."""

    post_filter: PostFilterResult | None = None
    """The outcome of preemption; None if PostFilter did not run."""

    event: str | None = None
    """The same with what PostFilter said, or why the cycle fails: the FailedScheduling event, cut as events are."""

    error: str | None = None
    """The error that fails the whole cycle."""

    score_error: str | None = None
    """The error that fails scoring; kube-scheduler does not score a single feasible node, so it is no error then."""

    extended: Extended | None = None
    """The answers of the extenders; None if they were not asked."""

    @property
    def fits(self) -> bool:
        """Report whether a node was found."""
        return self.outcome is Outcome.SCHEDULABLE

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The names of all nodes tied at the highest total, sorted."""
        if not len(self.totals):
            return ()
        rows = self.feasible[self.totals == self.totals.max()]
        return tuple(sorted(self.nodes.names[row] for row in rows))

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        if self.framework is None:
            return False
        percentage = self.framework.profile.percentage_of_nodes_to_score
        searched = len(self.nodes)
        if self.pre_filter_nodes is not None:
            searched = len(self.pre_filter_nodes & self.nodes.row_of.keys())
        return len(self.feasible) > num_feasible_nodes_to_find(searched, percentage)

    @cached_property
    def total_of(self) -> Mapping[int, int]:
        """The total of each feasible row."""
        return dict(zip(self.feasible.tolist(), self.totals.tolist(), strict=False))

    @cached_property
    def position_of(self) -> Mapping[int, int]:
        """The position of each feasible row in `feasible`, and so in the arrays of scores."""
        return {row: position for position, row in enumerate(self.feasible.tolist())}

    @cached_property
    def rejection_masks(self) -> Mapping[str, Mask]:
        """For each filter plugin, the nodes that it keeps out on its own."""
        return {plugin: column.where(lambda status: not status.is_success) for plugin, column in self.verdicts.items()}

    def rejections(self, row: int) -> tuple[Status, ...]:
        """Every filter plugin's rejection of one node, in run order."""
        found = ((plugin, column[row]) for plugin, column in self.verdicts.items())
        return tuple(status.by(plugin) for plugin, status in found if not status.is_success)

    @property
    def pre_filter_evidence(self) -> tuple[Evidence, ...]:
        """The evidence behind the rejection of the pod as a whole."""
        plugin = self.framework.plugins.get(self.pre_filter.plugin or "") if self.framework else None
        if self.state is None or self.pre_filter.is_success or not isinstance(plugin, PreFilterPlugin):
            return ()
        return plugin.explain_pre_filter(self.state, self.pod, self.nodes)

    def filter_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:
        """The evidence behind one plugin's rejection of one node."""
        plugin = self.framework.plugins.get(plugin_name) if self.framework else None
        if self.state is None or not isinstance(plugin, FilterPlugin):
            return ()
        return plugin.explain_filter(self.state, self.pod, self.nodes, row)

    def score_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:
        """Return the evidence behind one plugin's points for one node."""
        plugin = self.framework.plugins.get(plugin_name) if self.framework else None
        if self.state is None or not isinstance(plugin, ScorePlugin):
            return ()
        return plugin.explain_score(self.state, self.pod, self.nodes, row)

    @cached_property
    def binding(self) -> tuple[BindingAction, ...]:
        """The actions that the end of the cycle would take on the first of the best nodes."""
        if self.framework is None or self.state is None or not self.best or self.error is not None:
            return ()
        row = self.nodes.row_of[self.nominated_first or self.best[0]]
        actions: list[BindingAction] = []
        for point in ("reserve", "permit", "preBind", "bind", "postBind"):
            for plugin in self.framework.binding_plugins(point):
                actions += (
                    action
                    for action in plugin.binding_actions(self.state, self.pod, self.nodes, row)
                    if action.extension_point == point
                )
        return tuple(actions)

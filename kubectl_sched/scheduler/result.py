"""The outcome of one scheduling cycle, with every verdict and every score behind it."""

from __future__ import annotations

from enum import Enum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.framework.plugin_error_boundary import error_of, is_unknown
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.extenders import Extended
    from kubectl_sched.framework.interface import BindingAction, PostFilterResult
    from kubectl_sched.framework.plugin_scores import PluginScores
    from kubectl_sched.framework.podgroup_info import NodeRanking
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.scheduler.explanation_budget import ExplanationBudget
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


UNKNOWN_EXIT_CODE: Final = 3


class Outcome(Enum):
    """The outcome of a cycle."""

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    GATED = "Gated"
    NO_PROFILE = "NoProfile"
    DELETING = "Deleting"
    ERROR = "Error"
    UNKNOWN = "Unknown"
    """Not all that decides could be judged."""


class Unknown(Record, frozen=True, kw_only=True):
    """A verdict that is missing, by a bug of ours or an ended budget.

    No node means all of them, no plugin the pod as a whole.
    """

    plugin: str | None
    node: str | None
    error: str


_OF_EVERY_EQUAL_POD = ("best", "position_of", "rejection_masks", "total_of", "unjudged_masks", "unknown")
"""The computed fields in which the pod has no part."""


class ScheduleResult(CachingRecord, frozen=True, kw_only=True):
    """Arrays and columns have one entry for each row of `nodes`, those of scores one for each of `feasible`."""

    pod: Pod
    """The pod as the cycle saw it: on no node."""

    nodes: Snapshot
    """The cluster as the cycle saw it: without the pod itself."""

    outcome: Outcome
    kubernetes_version: str = ""
    """The minor whose behaviour was replayed: `1.36`."""

    kubernetes_patch: str | None = None
    """The patch release whose behaviour was replayed, None if no patch of the minor is known to differ."""

    current_node: str | None = None
    """The node that the pod is bound to in truth."""

    placement: Rows | None = None
    """The rows to which the cycle of a group narrows the search; None for all."""

    ranking: NodeRanking | None = None
    """The order of nodes that comes before their scores while preemption of a group tries it; None for none."""

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
    """The FailedScheduling event, cut as events are: the message with what PostFilter said, or why the cycle fails."""

    error: str | None = None
    """The error that fails the whole cycle."""

    score_error: str | None = None
    """The error that fails scoring; kube-scheduler does not score a single feasible node, so it is no error then."""

    failure: str | None = None
    """The unexpected error that ended the replay of the pod, by a bug of ours; the outcome is ERROR then."""

    unread: str | None = None
    """The clause about kinds that could not be read, on which the decision rests; None where all was read."""

    failed_evidence: set[str] = field(default_factory=set)
    """The plugins whose evidence a bug kept from being shown, as far as any was asked for."""

    extended: Extended | None = None
    """The answers of the extenders; None if they were not asked."""

    judged_as: ScheduleResult | None = None
    """The result of the equal pod whose cycle this one repeats; None for a cycle of its own."""

    def of_equal_pod(self, pod: Pod) -> ScheduleResult:
        """Return the result for a pending pod that no plugin can tell from this one."""
        result = replace(self, pod=pod, judged_as=self.cycle)
        result.__dict__.update({name: getattr(self, name) for name in _OF_EVERY_EQUAL_POD})
        return result

    @property
    def cycle(self) -> ScheduleResult:
        """The result whose cycle was run: this one, or that of an equal pod."""
        return self.judged_as or self

    @property
    def budget_ended(self) -> str | None:
        """Return the clause that says what ended the cycle before everything was judged; None if nothing did."""
        return None

    @property
    def left_open(self) -> str | None:
        """Return the clause that says why not everything was judged: a kind was not read, or the budget ended."""
        return self.unread or self.budget_ended

    @property
    def tolerations(self) -> Tolerations:
        """The pod's tolerations as its cycle reads them; without a cycle no operator compares."""
        return Tolerations(each=self.pod.spec.tolerations)

    @property
    def fits(self) -> bool:
        """Report whether a node was found."""
        return self.outcome is Outcome.SCHEDULABLE

    @property
    def tied(self) -> Rows:
        """The rows of all nodes tied at the highest total."""
        return self.feasible[self.totals == self.totals.max()] if len(self.totals) else self.feasible[:0]

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The names of the tied nodes, sorted."""
        names = self.nodes.names
        return tuple(sorted([names[row] for row in self.tied.tolist()]))

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        return False

    @cached_property
    def total_of(self) -> Mapping[int, int]:
        """The total of each feasible row."""
        return dict(zip(self.feasible.tolist(), self.totals.tolist(), strict=False))

    @cached_property
    def position_of(self) -> Mapping[int, int]:
        """The position of each feasible row in `feasible`, and so in the arrays of scores."""
        return {row: position for position, row in enumerate(self.feasible.tolist())}

    @cached_property
    def feasible_mask(self) -> Mask:
        """bool[n]: the feasible nodes."""
        mask: Mask = np.zeros(len(self.nodes), dtype=np.bool_)
        mask[self.feasible] = True
        return mask

    @cached_property
    def rejection_masks(self) -> Mapping[str, Mask]:
        """For each filter plugin, the nodes that it keeps out on its own."""
        return {plugin: column.where(_keeps_out) for plugin, column in self.verdicts.items()}

    @cached_property
    def unjudged_masks(self) -> Mapping[str, Mask]:
        """The nodes that a plugin did not judge, for each plugin that left any out."""
        masks: dict[str, Mask] = {}
        for column in (*self.verdicts.values(), *((self.verdict,) if self.verdict is not None else ())):
            for plugin in {status.plugin or "" for status in column.values if is_unknown(status)}:
                mask = column.where(lambda status, name=plugin: is_unknown(status) and status.plugin == name)
                masks[plugin] = masks[plugin] | mask if plugin in masks else mask
        return {plugin: mask for plugin, mask in masks.items() if mask.any()}

    def unjudged_by(self, row: int) -> tuple[str, ...]:
        """The plugins that did not judge one node."""
        masks = self.unjudged_masks
        return tuple(plugin for plugin, mask in masks.items() if mask[row]) if masks else ()

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """All that was not judged, by a bug of ours or because the budget of the cycle ended."""
        return tuple(self._unknown())

    def _unknown(self) -> Iterator[Unknown]:
        if self.failure is not None:
            yield Unknown(plugin=None, node=None, error=self.failure)
        whole = self._unjudged_as_a_whole
        for plugin, status in whole.items():
            yield Unknown(plugin=plugin, node=None, error=error_of(status))
        for plugin, mask in self.unjudged_masks.items():
            if plugin in whole:
                continue
            errors = {self.nodes.names[row]: self._error_on(plugin, row) for row in np.flatnonzero(mask).tolist()}
            if mask.all() and len(set(errors.values())) == 1:
                yield Unknown(plugin=plugin, node=None, error=next(iter(errors.values())))
            else:
                yield from (Unknown(plugin=plugin, node=name, error=errors[name]) for name in sorted(errors))
        if self.post_filter is not None and is_unknown(self.post_filter.status):
            yield Unknown(plugin=self.post_filter.status.plugin, node=None, error=error_of(self.post_filter.status))

    @property
    def _unjudged_as_a_whole(self) -> Mapping[str, Status]:
        """The statuses of the plugins that judged no node."""
        return {}

    @property
    def has_met_a_bug(self) -> bool:
        """Report whether a bug of ours kept anything from being judged, or any evidence from being shown."""
        return bool(self.failed_evidence) or (self.left_open is None and bool(self.unknown))

    def _error_on(self, plugin: str, row: int) -> str:
        columns = (self.verdicts.get(plugin), self.verdict)
        found = (column[row] for column in columns if column is not None)
        return next(error_of(status) for status in found if is_unknown(status) and status.plugin == plugin)

    def rejections(self, row: int) -> tuple[Status, ...]:
        """Every filter plugin's rejection of one node, in run order."""
        return self.all_rejections[row]

    @cached_property
    def all_rejections(self) -> Column[tuple[Status, ...]]:
        """The rejections of every node: nodes that all plugins judge alike share one value."""
        found: Column[tuple[Status, ...]] = Column.filled(len(self.nodes), ())
        for plugin, column in self.verdicts.items():
            if any(map(_keeps_out, column.values)):
                found = found.combined(column).map(partial(_with_rejection, plugin))
        return found

    @property
    def pre_filter_evidence(self) -> tuple[Evidence, ...]:
        """The evidence behind the rejection of the pod as a whole."""
        return ()

    def filter_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:  # noqa: ARG002 - no plugin was asked
        """The evidence behind one plugin's rejection of one node."""
        return ()

    def score_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:  # noqa: ARG002 - no plugin was asked
        """Return the evidence behind one plugin's points for one node."""
        return ()

    @property
    def binding(self) -> tuple[BindingAction, ...]:
        """The actions that the end of the cycle would take on the first of the best nodes."""
        return ()

    @cached_property
    def explaining(self) -> ExplanationBudget:
        """The budget of everything that explains this result."""
        from kubectl_sched.scheduler.explanation_budget import ExplanationBudget

        return ExplanationBudget(self.pod)


def _with_rejection(plugin: str, found: tuple[tuple[Status, ...], Status]) -> tuple[Status, ...]:
    """Add the plugin's status to the rejections before it, if it is one."""
    before, status = found
    return (*before, status.by(plugin)) if _keeps_out(status) else before


def _keeps_out(status: Status) -> bool:
    """An unknown verdict keeps nobody out."""
    return not status.is_success and not is_unknown(status)

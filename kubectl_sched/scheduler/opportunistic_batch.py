"""Opportunistic batching: a pod equal to the one before it takes the next node of the order found for that one.

Answers to pkg/scheduler/framework/runtime/batch.go. The node of the pod before must be full for the new pod, or,
since 1.37, is scored again beside the others. An order is good for the very next pod, and for half a second.

Members of a group leave orders, and the pod after the group takes the last one. Up to 1.36 each member counts as a
cycle, though all run after the last is counted: none takes an order unless it is the only one. Since 1.37 a group is
one cycle, whose members take each other's orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.plugin_error_boundary import Unjudged
from kubectl_sched.framework.plugin_scores import normalized_scores
from kubectl_sched.framework.signing.pod_signature import PodSigner
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.schedule_one import cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers

_MAX_AGE_SECONDS: Final = 0.5


class CachedOrder(CachingRecord, frozen=True, kw_only=True):
    """The nodes that are left of a cycle's feasible ones, with their scores then; `last` is the node taken last."""

    framework: Framework
    signature: Fragments
    names: tuple[str, ...]
    totals: Integers
    raw: Mapping[str, Integers]
    """The raw scores by plugin, in the order of `names`."""

    last: str
    since: float
    cycle: int
    """The number of the cycle that took from the order last."""

    def without(self, name: str) -> CachedOrder:
        """Return the order after this node is taken from it."""
        place = self.names.index(name)
        return CachedOrder(
            framework=self.framework,
            signature=self.signature,
            names=self.names[:place] + self.names[place + 1 :],
            totals=np.delete(self.totals, place),
            raw={plugin: np.delete(scores, place) for plugin, scores in self.raw.items()},
            last=name,
            since=self.since,
            cycle=self.cycle,
        )


class Hint(NamedTuple):
    """The nodes that come next in the cached order, tied at its highest total, in name order.

    kube-scheduler takes one of them off the order by chance, and looks at it first unless the pod is nominated.
    """

    order: CachedOrder
    names: tuple[str, ...]
    total: int


class HintedNode(NamedTuple):
    """The node that was taken off the order."""

    hint: Hint
    name: str


class _Equal(NamedTuple):
    """A pod that was placed without a cycle of its own, as its predecessor's equal; `before` gives the cluster then."""

    pod: Pod
    before: Callable[[], Snapshot]
    framework: Framework
    node: str
    since: float
    cycle: int


class OpportunisticBatch:
    """The order of nodes that one scheduler keeps from each cycle for the next."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0, *, is_on: bool = True) -> None:
        """The clock gives seconds; without one no time passes between cycles."""
        self._clock = clock
        self._is_on = is_on
        self._cycle = 0
        self._order: CachedOrder | _Equal | None = None
        self._signers: dict[Framework, PodSigner] = {}

    def begin(self, popped: int = 1) -> None:
        """Begin a cycle for so many entities out of the queue: an order goes to the next one alone."""
        self._cycle += popped

    def signature(self, pod: Pod, nodes: Snapshot, framework: Framework) -> Fragments | None:
        """Return the pod's signature; None if it takes no part in batching."""
        signer = self._signers.get(framework)
        if signer is None:
            signer = self._signers[framework] = PodSigner(framework)
        return signer.sign(pod, nodes)

    def signs(self, result: CycleResult) -> bool:
        """Report whether the cycle's pod takes part in batching."""
        return self.signature(result.pod, result.nodes, result.framework) is not None

    def hint(self, result: ScheduleResult) -> Hint | None:
        """Return what the order of the cycle before says for the pod of this one."""
        if not is_popped(result):
            return None
        framework = result.framework
        known = self._order
        if known is None or framework is not known.framework or not _is_filtered(result):
            return None
        found = self._hint(known, framework, result)
        if found is None and framework.handle.release.unusable_order_is_dropped:
            self.forget()
        return found

    def forget(self) -> None:
        """Drop the order."""
        self._order = None

    def _hint(self, known: CachedOrder | _Equal, framework: Framework, result: CycleResult) -> Hint | None:
        if self._cycle != known.cycle + 1 and not (self._cycle == known.cycle and _members_share(framework)):
            return None
        signature = self.signature(result.pod, result.nodes, framework)
        order = self._order_of(known, signature) if isinstance(known, _Equal) else known
        if order is None or not order.names or signature != order.signature:
            return None
        return _hint(order, result) if self._clock() <= order.since + _MAX_AGE_SECONDS else None

    def _order_of(self, equal: _Equal, signature: Fragments | None) -> CachedOrder | None:
        """Return the order that the equal pod's own cycle leaves, if that matters."""
        nodes = equal.before()
        if signature is None or self.signature(equal.pod, nodes, equal.framework) != signature:
            return None
        result = cycle(equal.pod, nodes, equal.framework)
        return _order_after(result, signature, equal.node, equal.since, equal.cycle)

    def passed_over(self, hinted: HintedNode | None) -> None:
        """Take the hinted node off the order though the cycle found none: the next member may go on with the others."""
        if hinted is not None:
            order = hinted.hint.order
            self._order = replace(order.without(hinted.name), last=order.last)

    def placed(self, result: CycleResult, node: str, hinted: HintedNode | None) -> None:
        """Remember that the cycle's pod was given the node: the hinted one, or another."""
        if not self._is_on:
            return
        if hinted is not None and hinted.name == node:
            self._order = replace(hinted.hint.order.without(node), cycle=self._cycle)
            return
        signature = self.signature(result.pod, result.nodes, result.framework)
        alone = result.nominated_first is not None
        self._order = (
            None if signature is None or alone else _order_after(result, signature, node, self._clock(), self._cycle)
        )

    def placed_equally(self, pod: Pod, before: Callable[[], Snapshot], framework: Framework, node: str) -> None:
        """Remember that the pod was given the node without a cycle of its own; `before` gives the cluster then."""
        self._order = _Equal(pod, before, framework, node, self._clock(), self._cycle)


def is_popped(result: ScheduleResult) -> TypeGuard[CycleResult]:
    """Report whether the pod comes to a cycle: a profile serves it, and no PreEnqueue plugin holds it back."""
    return isinstance(result, CycleResult) and result.pre_enqueue.is_success


def _is_filtered(result: ScheduleResult) -> bool:
    """Report whether the cycle came to Filter."""
    is_gone = result.pod.metadata.deletion_timestamp is not None
    return not is_gone and result.verdict is not None and result.pre_filter.is_success


def is_taken(hinted: HintedNode, result: ScheduleResult) -> bool:
    """Report whether the cycle ends with the hinted node: it is still there and passes, and no node is nominated."""
    row = result.nodes.row_of.get(hinted.name)
    if row is None or result.verdict is None or result.pod.status.nominated_node_name:
        return False
    return result.verdict[row].is_success


def _members_share(framework: Framework) -> bool:
    """Report whether the members of a group have one cycle, so that one takes the order of the one before it."""
    return framework.handle.release.groups_are_queued and framework.handle.features.enabled("GenericWorkload")


def _order_after(
    result: CycleResult, signature: Fragments, node: str, since: float, cycle_number: int
) -> CachedOrder | None:
    """Return the order of the nodes besides the one that was taken; None where scoring failed or nothing is left."""
    framework, names = result.framework, result.nodes.names
    if result.score_error is not None or len(result.feasible) < 2:
        return None
    order = CachedOrder(
        framework=framework,
        signature=signature,
        names=tuple([names[row] for row in result.feasible.tolist()]),
        totals=result.totals,
        raw={each.plugin: each.raw for each in result.scores},
        last="",
        since=since,
        cycle=cycle_number,
    )
    return order.without(node)


def _hint(order: CachedOrder, result: CycleResult) -> Hint | None:
    """Return the next nodes of the order, unless the node taken last still has to be compared with them."""
    framework = order.framework
    rescores = framework.handle.release.hints_rescore_last_node
    if rescores and result.pod.status.nominated_node_name:
        return None
    row = result.nodes.row_of.get(order.last)
    if row is None:
        return None
    verdicts = (column[row] for column in result.verdicts.values())
    last = next((status for status in verdicts if not status.is_success), SUCCESS)
    if last.is_success:
        rescored = _rescored(order, row, result) if rescores else None
        if rescored is None:
            return None
        order = rescored
    elif not last.is_rejected:
        return None
    highest = int(order.totals.max())
    tied = (order.names[place] for place in np.flatnonzero(order.totals == highest).tolist())
    return Hint(order, tuple(sorted(tied)), highest)


def _rescored(order: CachedOrder, row: int, result: CycleResult) -> CachedOrder | None:
    """Return the order with the node taken last among the others again; None where a node is gone or scoring fails."""
    framework, pod, nodes = order.framework, result.pod, result.nodes
    names = (*order.names, order.last)
    places = [nodes.row_of.get(name, -1) for name in names]
    if -1 in places:
        return None
    rows, state = np.array(places, dtype=np.intp), result.state.clone()
    raw: dict[str, Integers] = {}
    totals = np.zeros(len(rows), dtype=np.int64)
    try:
        framework.run_pre_score(state, pod, nodes, rows)
        for fresh in framework.run_scores(state, pod, nodes, np.array([row], dtype=np.intp)):
            before = order.raw.get(fresh.plugin, np.zeros(len(order.names), dtype=np.int64))
            raw[fresh.plugin] = np.append(before, fresh.raw)
        for plugin in framework.score_plugins:
            if plugin.name in raw:
                points = normalized_scores(plugin, state, pod, nodes, rows, raw[plugin.name])
                totals += points * framework.weights[plugin.name]
    except (PluginError, Unjudged, BudgetEnded):
        return None
    return CachedOrder(
        framework=framework,
        signature=order.signature,
        names=names,
        totals=totals,
        raw=raw,
        last=order.last,
        since=order.since,
        cycle=order.cycle,
    )

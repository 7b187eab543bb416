"""Verdicts and raw scores of PodTopologySpread for one more of many equal pods, from counts that each raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.golang import natural_logarithm, round_half_away
from kubectl_sched.framework.replicas import CountingHelp
from kubectl_sched.framework.status import SKIP, SUCCESS
from kubectl_sched.plugins.pod_topology_spread import filtering, scoring
from kubectl_sched.plugins.pod_topology_spread.constraints import selects_itself
from kubectl_sched.plugins.pod_topology_spread.scoring import is_counted, own_counts
from kubectl_sched.snapshot.replica_counts import ReplicaCounts, ReplicaRawScores, ReplicaVerdicts

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.status import Status
    from kubectl_sched.plugins.pod_topology_spread.constraints import Constraints
    from kubectl_sched.plugins.pod_topology_spread.filtering import Spread
    from kubectl_sched.plugins.pod_topology_spread.scoring import SoftSpread
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask, Rows

_NEVER = 2**40
"""The count of a node that lacks the topology key: no skew allows as many pods."""


class _Skew:
    """One hard constraint: the most pods that a domain may have before one more comes to it."""

    def __init__(self, spread: Spread, pod: Pod, nodes: Snapshot, raises: Mask) -> None:
        constraint = spread.constraint
        column, without = nodes.label(constraint.topology_key), nodes.table.code_without(constraint.topology_key)
        counts = spread.matches.of_values(column.values).copy()
        if without is not None:
            counts[without] = _NEVER
        self.counts = ReplicaCounts(column.codes, counts, raises)
        self._existing = np.flatnonzero(spread.nodes.of_values(column.values) > 0).tolist()
        self._fewest = spread.fewest
        self._has_too_few_domains = spread.domain_count < constraint.min_domains
        self._most = constraint.max_skew + spread.minimum - selects_itself(pod, constraint)
        self._left = self._at_minimum()
        self.key = self._passing()

    def _at_minimum(self) -> int:
        """The number of domains with the fewest pods."""
        counts = self.counts.counts
        return len([None for domain in self._existing if counts[domain] == self._fewest])

    def _passing(self) -> int:
        """A bit for each domain that passes; for domains of single nodes the most pods that pass."""
        if not self.counts.are_shared:
            return self._most
        return sum([1 << domain for domain, count in enumerate(self.counts.counts) if count <= self._most])

    def place(self, row: int) -> None:
        """One more of the pods runs on the row's node."""
        if not self.counts.raises[row]:
            return
        counts, domain = self.counts.counts, self.counts.domain_of[row]
        count = counts[domain] = counts[domain] + 1
        if count - 1 == self._fewest and not self._has_too_few_domains:
            self._left -= 1
            if not self._left:
                self._fewest, self._most = count, self._most + 1
                self._left = self._at_minimum()
                self.key = self._passing()
                return
        if count > self._most and self.counts.are_shared:
            self.key &= ~(1 << domain)

    def passes(self, row: int) -> bool:
        """Report whether the node's domain takes one more of the pods."""
        return self.counts.counts[self.counts.domain_of[row]] <= self._most


class SpreadVerdicts(ReplicaVerdicts):
    """A node passes where each hard constraint allows one more of the pods."""

    def __init__(self, skews: Sequence[_Skew]) -> None:
        super().__init__([skew.counts for skew in skews])
        self._skews = skews
        self.key = tuple([skew.key for skew in skews])

    def place(self, row: int) -> None:
        """Count one more pod by each constraint."""
        for skew in self._skews:
            skew.place(row)
        self.key = tuple([skew.key for skew in self._skews])

    def passes(self, row: int) -> bool:
        """Ask each constraint."""
        return all(skew.passes(row) for skew in self._skews)


class SpreadRawScores(ReplicaRawScores):
    """The matching pods of each soft constraint, times a weight that grows with its domains among feasible nodes."""

    def __init__(self, counts: Sequence[ReplicaCounts], spreads: Sequence[SoftSpread]) -> None:
        super().__init__(counts)
        self._least = [float(spread.constraint.max_skew - 1) for spread in spreads]
        self.depends_on_feasible_count = any(each.are_of_nodes for each in counts)

    def of(self, rows: Sequence[int], feasible_count: int) -> list[int]:
        """Sum floats in the order of the constraints, as Score does."""
        weighed = []
        for counts, least in zip(self.counts, self._least, strict=True):
            domain_of = counts.domain_of
            domain_count = feasible_count if counts.are_of_nodes else len({domain_of[row] for row in rows})
            weighed.append((counts.counts, domain_of, natural_logarithm(domain_count + 2), least))
        scores = []
        for row in rows:
            score = 0.0
            for values, domain_of, weight, least in weighed:
                score += values[domain_of[row]] * weight + least
            scores.append(int(round_half_away(score)))
        return scores


def _counts(spread: SoftSpread, counted: Mask, pod: Pod, nodes: Snapshot) -> ReplicaCounts:
    """The matching pods of each domain; all pods of a node count by the hostname key."""
    counts_itself = is_counted(pod, pod, spread.constraint)
    if spread.matches is None:
        everywhere = np.full(len(nodes), counts_itself)
        return ReplicaCounts(np.arange(len(nodes), dtype=np.int32), own_counts(pod, nodes, spread), everywhere)
    column = nodes.label(spread.constraint.topology_key)
    return ReplicaCounts(
        column.codes, spread.matches.of_values(column.values), counted & counts_itself, tells_domains=True
    )


class SpreadHelp(CountingHelp):
    """Counts the pods of each domain, which equal pods raise alike."""

    def __init__(self, source: Constraints) -> None:
        self._source = source

    def verdicts(self, state: CycleState, pod: Pod, nodes: Snapshot) -> SpreadVerdicts:
        """Count the matching pods for each hard constraint."""
        spreads = state.read(filtering.STATE).spreads
        counted = self._source.counted_nodes(pod, nodes, [spread.constraint for spread in spreads])
        return SpreadVerdicts(
            [
                _Skew(spread, pod, nodes, mask & selects_itself(pod, spread.constraint))
                for spread, mask in zip(spreads, counted, strict=True)
            ]
        )

    def raw_scores(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaRawScores | None:
        """Count the matching pods for each soft constraint; None if a node lacks a topology key."""
        known = state.get(scoring.STATE)
        if known is None:
            return ReplicaRawScores(())
        constraints = [spread.constraint for spread in known.spreads]
        if any(nodes.table.code_without(each.topology_key) is not None for each in constraints):
            return None
        counted = self._source.counted_nodes(pod, nodes, constraints)
        return SpreadRawScores(
            [_counts(*each, pod, nodes) for each in zip(known.spreads, counted, strict=True)], known.spreads
        )

    def counts_in_score(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether a soft constraint selects the other pod."""
        known = state.get(scoring.STATE)
        return known is not None and any(is_counted(pod, other, spread.constraint) for spread in known.spreads)

    def pre_score_with(
        self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot, rows: Rows, amount: int
    ) -> Status:
        """Count one more pod, or one less. Which soft constraints there are depends on the pod alone."""
        before = state.get(scoring.STATE)
        if before is None:
            return SKIP
        after = scoring.with_pod(before, pod, changed, nodes, row, self._source, amount)
        state.write(scoring.STATE, scoring.weighed(after, nodes, rows))
        return SUCCESS

    def narrow(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Hashable:
        """Weigh constraints by their domains among the feasible nodes, whose numbers raw scores depend on."""
        before = state.get(scoring.STATE)
        if before is None:
            return None
        after = scoring.weighed(before, nodes, rows)
        state.write(scoring.STATE, after)
        return tuple(spread.domain_count for spread in after.spreads)

"""Karpenter's methods of removing a node, each node by itself (emptiness.go, drift.go, singlenodeconsolidation.go).

What Karpenter keeps in memory is left aside: nominations for pending pods, commands under way, capacity buffers.
Several nodes at once (multinodeconsolidation.go) are not replayed either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.core import ZONE
from kubectl_sched.api.meta import find_condition
from kubectl_sched.node_provisioning.karpenter.disruption.balanced_score import BALANCED, pool_totals, score
from kubectl_sched.node_provisioning.karpenter.disruption.candidates import CandidateJudge
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_budgets import (
    DRIFTED,
    EMPTY,
    UNDERUTILIZED,
    allowed_disruptions,
)
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_times import consolidate_after
from kubectl_sched.node_provisioning.karpenter.disruption.removal_simulation import simulate_removal
from kubectl_sched.node_provisioning.karpenter.disruption.replacement import cheaper_replacement
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.disruption.candidates import Candidate, Obstacle
    from kubectl_sched.node_provisioning.karpenter.disruption.removal_simulation import Simulated
    from kubectl_sched.node_provisioning.karpenter.disruption.replacement import Replacement
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

NOTHING, DELETE, REPLACE = "no-op", "delete", "replace"
METHODS: Final = (EMPTY, DRIFTED, UNDERUTILIZED)
BLOCKED, UNCONSOLIDATABLE, APPROVED = "DisruptionBlocked", "Unconsolidatable", "ConsolidationApproved"


class MethodVerdict(CachingRecord, frozen=True, kw_only=True):
    """One method's word on a node."""

    reason: str
    decision: str = NOTHING
    is_candidate: bool = False
    allowed: int | None = 0
    """The nodes that the NodePool's budgets let go for this reason now; None if that depends on an unknown time."""

    obstacles: tuple[Obstacle, ...] = ()
    """The things for which the node is no candidate for any method; Karpenter names the first."""

    said: tuple[tuple[str, str], ...] = ()
    """The events that Karpenter has for the node, besides those of obstacles: reason and message."""

    simulated: Simulated | None = None
    """The cluster without the node, if that was asked for."""

    replacement: Replacement | None = None
    savings: float = 0.0
    """The price of the node less that of its replacement."""

    @property
    def events(self) -> tuple[tuple[str, str], ...]:
        """The events that Karpenter has for the node; of those of obstacles it has the first."""
        return (*((BLOCKED, each.said) for each in self.obstacles), *self.said)


class DisruptionReplay:
    """Karpenter's disruption controller over one state of a cluster; the instance types are by NodePool."""

    def __init__(
        self,
        cluster: Cluster,
        types: Mapping[str, Sequence[InstanceType]],
        options: Options,
        *,
        seed: int | None = None,
    ) -> None:
        self._cluster = cluster
        self._types = types
        self._options = options
        self._seed = seed
        self._judge = CandidateJudge(cluster, types, options)
        self._graceful: dict[str, Candidate] = {}
        for state in cluster.state_nodes:
            if not self._judge.obstacles(state) and not self._judge.pod_obstacles(state):
                self._graceful[state.name] = self._judge.candidate(state)
        self._totals = pool_totals(cluster, self._graceful, types, options)
        self._allowed: dict[tuple[str, str], int | None] = {}

    def verdicts(self, state: StateNode) -> tuple[MethodVerdict, ...]:
        """Return the verdict of each method on a node of a NodePool, in the order in which Karpenter asks them."""
        return tuple(self._verdict(state, reason) for reason in METHODS)

    def allowed(self, pool: NodePool, reason: str) -> int | None:
        """Return how many more nodes of a NodePool may go for a reason; None if that depends on an unknown time."""
        key = pool.name, reason
        if key not in self._allowed:
            nodes, now, reboots = self._cluster.state_nodes, self._cluster.at, self._options.release.reboots_nodes
            self._allowed[key] = allowed_disruptions(pool, nodes, reason, now, counts_reboots=reboots)
        return self._allowed[key]

    def pod_obstacles(self, state: StateNode) -> list[Obstacle]:
        """Return the pods that keep a node from being a candidate."""
        return self._judge.pod_obstacles(state)

    def _verdict(self, state: StateNode, reason: str) -> MethodVerdict:
        obstacles = self._judge.obstacles(state)
        if obstacles:
            return MethodVerdict(reason=reason, obstacles=tuple(obstacles))
        of_pods = self._judge.pod_obstacles(state)
        is_bounded = state.claim is not None and bool(state.claim.spec.termination_grace_period)
        if of_pods and not (reason == DRIFTED and is_bounded):
            return MethodVerdict(reason=reason, obstacles=tuple(of_pods))
        candidate = self._judge.candidate(state)
        wanted = _wants(candidate, reason)
        if wanted is not True:
            return MethodVerdict(reason=reason, said=((UNCONSOLIDATABLE, wanted),) if wanted else ())
        allowed = self.allowed(candidate.pool, reason)
        verdict = MethodVerdict(reason=reason, is_candidate=True, allowed=allowed)
        if allowed == 0:
            return verdict
        if reason == EMPTY:
            return replace(verdict, decision=DELETE, savings=candidate.price)
        return self._drifted(candidate, verdict) if reason == DRIFTED else self._consolidated(candidate, verdict)

    def _simulated(self, candidate: Candidate, *, honors_consolidate_after: bool) -> Simulated | None:
        return simulate_removal(
            self._cluster,
            candidate.state,
            self._types,
            self._options,
            honors_consolidate_after=honors_consolidate_after,
            seed=self._seed,
        )

    def _drifted(self, candidate: Candidate, verdict: MethodVerdict) -> MethodVerdict:
        """Replace a drifted node whatever its replacements cost (Drift.ComputeCommands)."""
        simulated = self._simulated(candidate, honors_consolidate_after=False)
        if simulated is None:
            return verdict
        if simulated.errors:
            return replace(verdict, said=((BLOCKED, simulated.said),), simulated=simulated)
        return replace(verdict, decision=REPLACE if simulated.claims else DELETE, simulated=simulated)

    def _consolidated(self, candidate: Candidate, verdict: MethodVerdict) -> MethodVerdict:
        """Remove a node that others have room for, or one cheaper node, as far as its policy finds it worth it."""
        is_balanced = candidate.pool.spec.disruption.consolidation_policy == BALANCED
        totals = self._totals.get(candidate.pool.name)
        if not is_balanced or totals is None:
            return self._moved(candidate, verdict)
        if totals.cost > 0 and not score(candidate.price, candidate, totals).is_approved:
            return verdict
        found = self._moved(candidate, verdict)
        if found.decision == NOTHING:
            return found
        scored = score(found.savings, candidate, totals)
        if not scored.is_approved:
            return replace(found, decision=NOTHING, replacement=None, savings=0.0)
        return replace(found, said=(*found.said, (APPROVED, scored.said)))

    def _moved(self, candidate: Candidate, verdict: MethodVerdict) -> MethodVerdict:
        """Find room for the node's pods, or one cheaper node (computeConsolidation)."""
        simulated = self._simulated(candidate, honors_consolidate_after=True)
        if simulated is None:
            return verdict
        found = replace(verdict, simulated=simulated)
        if simulated.errors:
            return _unconsolidatable(found, simulated.said)
        if len(simulated.claims) > 1:
            return _unconsolidatable(found, f"Can't remove without creating {len(simulated.claims)} candidates")
        if not simulated.claims:
            return replace(found, decision=DELETE, savings=candidate.price)
        made = cheaper_replacement(candidate, simulated.claims[0], spot_to_spot=self._options.replaces_spot_by_spot)
        if isinstance(made, str):
            return _unconsolidatable(found, made)
        return replace(found, decision=REPLACE, replacement=made, savings=candidate.price - made.price)


def _wants(candidate: Candidate, reason: str) -> bool | str:
    """Report whether a method takes a candidate (ShouldDisrupt), or why not where Karpenter says it."""
    if candidate.pool.spec.replicas is not None:
        return False
    if reason == DRIFTED:
        return _is_true(candidate, DRIFTED)
    said = _missing_for_price(candidate) if reason == UNDERUTILIZED else ""
    said = said or _against_policy(candidate, reason)
    return said or (candidate.is_empty is (reason == EMPTY) and _is_true(candidate, "Consolidatable"))


def _against_policy(candidate: Candidate, reason: str) -> str:
    """Return what of the NodePool's policy forbids the consolidation, in Karpenter's words; empty if nothing does."""
    pool = candidate.pool
    if consolidate_after(pool) is None:
        return f'NodePool "{pool.name}" has consolidation disabled'
    is_only_empty = pool.spec.disruption.consolidation_policy == "WhenEmpty"
    if reason == EMPTY or candidate.is_empty or not is_only_empty:
        return ""
    return f'NodePool "{pool.name}" has consolidation policy WhenEmpty, but node is not empty'


def _missing_for_price(candidate: Candidate) -> str:
    """Return which of instance type, capacity type and zone a price cannot be told without, in Karpenter's words."""
    labels = candidate.state.labels
    if candidate.instance_type is None:
        return f'Instance Type "{labels.get(INSTANCE_TYPE, "")}" not found'
    missing = next((key for key in (CAPACITY_TYPE, ZONE) if key not in labels), None)
    return f'Node does not have label "{missing}"' if missing is not None else ""


def _is_true(candidate: Candidate, kind: str) -> bool:
    claim = candidate.state.claim
    found = find_condition(claim.status.conditions, kind) if claim is not None else None
    return found is not None and found.status == "True"


def _unconsolidatable(verdict: MethodVerdict, said: str) -> MethodVerdict:
    """Return the verdict with an event of Karpenter's, which begins with a capital letter."""
    return replace(verdict, said=((UNCONSOLIDATABLE, said),))

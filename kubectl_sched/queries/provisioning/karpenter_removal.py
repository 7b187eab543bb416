"""Karpenter's word on the removal of a node, as its disruption controller would have it (see karpenter/disruption)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.meta import find_condition
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_budgets import (
    DRIFTED,
    EMPTY,
    UNDERUTILIZED,
    InvalidBudget,
    is_active,
)
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_times import (
    consolidate_after,
    consolidate_after_left,
    expires_at,
)
from kubectl_sched.node_provisioning.karpenter.disruption.methods import (
    APPROVED,
    DELETE,
    NOTHING,
    UNCONSOLIDATABLE,
    DisruptionReplay,
)
from kubectl_sched.node_provisioning.karpenter.provisioner import usable_pools
from kubectl_sched.node_provisioning.karpenter.state_node import StateNode
from kubectl_sched.queries.provisioning.karpenter_setting import setting
from kubectl_sched.queries.provisioning.removal_verdict import (
    BUDGET,
    HELD,
    KARPENTER,
    NODE,
    POD,
    REMOVABLE,
    ROOM,
    UNKNOWN,
    Reason,
    Removal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.karpenter import DisruptionBudget, NodeClaim
    from kubectl_sched.node_provisioning.karpenter.disruption.candidates import Obstacle
    from kubectl_sched.node_provisioning.karpenter.disruption.methods import MethodVerdict
    from kubectl_sched.sources.dump.dump import Dump

_MEMORY: Final = "whether the node is nominated for a pending pod is in Karpenter's memory"
_TOGETHER: Final = "whether Karpenter would remove it together with other nodes is not replayed"
_PRICES: Final = "prices are not known: --instance-types FILE names them"
_MOST_TYPES: Final = 3


class KarpenterRemovals:
    """Karpenter's disruption controller over a dump."""

    def __init__(self, dump: Dump, instance_types: tuple[bytes, str] | None) -> None:
        self._cluster = Cluster(dump.objects, dump.at)
        self._known = setting(self._cluster, instance_types)
        self._pools = {each.name: each for each in self._cluster.of(NodePool)}
        self._pods = {each.key: each for each in self._cluster.of(Pod)}
        self._simulates = bool(usable_pools(self._cluster.of(NodePool)))
        self._budgets = {each.key: each for each in self._cluster.of(PodDisruptionBudget)}
        types = dict.fromkeys(self._pools, self._known.types)
        self._states = {each.node.name: each for each in self._cluster.state_nodes if each.node is not None}
        self._replay = DisruptionReplay(self._cluster, types, self._known.options)

    def of(self, node: Node) -> Removal:
        """Judge the removal of a node of a NodePool."""
        state = self._states.get(node.name) or StateNode(node, None)
        pool = self._pools.get(state.node_pool)
        if state.claim is None or not self._pools:
            return self._as_far_as_read(node, state, pool)
        verdicts = self._replay.verdicts(state)
        facts = tuple(self._facts(state, pool))
        going = next((each for each in verdicts if self._is_sure(each)), None)
        if going is not None:
            how = self._how(going)
            return Removal(by=KARPENTER, verdict=REMOVABLE, reasons=(), facts=facts, unknown=(_MEMORY,), how=how)
        reasons = tuple(self._reasons(state, pool, verdicts))
        unknown = tuple(self._unknown(verdicts))
        verdict = HELD if reasons else UNKNOWN
        return Removal(by=KARPENTER, verdict=verdict, reasons=reasons, facts=facts, unknown=unknown)

    def _is_sure(self, verdict: MethodVerdict) -> bool:
        """Report whether the node would go, whatever the prices and the time are where they are not known."""
        is_approved = any(reason == APPROVED for reason, _ in verdict.said)
        is_priced = self._known.knows_all_types or not (verdict.replacement or is_approved)
        return verdict.decision != NOTHING and verdict.allowed is not None and is_priced

    def _as_far_as_read(self, node: Node, state: StateNode, pool: NodePool | None) -> Removal:
        """Judge a node whose NodeClaim, or all NodePools, were not read: what the rest of what was read forbids."""
        reasons = []
        unknown = [_MEMORY]
        if node.metadata.annotations.do_not_disrupt == "true":
            reasons.append(Reason(text="the node is annotated karpenter.sh/do-not-disrupt", kind=NODE))
        if not self._pools:
            unknown.insert(0, "no NodePool was read, so neither its policy nor its budgets are known")
        elif pool is None:
            reasons.append(Reason(text=f"its NodePool {state.node_pool} was not found", kind=NODE))
        elif consolidate_after(pool) is None:
            reasons.append(_disabled(pool))
        reasons += [self._of_obstacle(state, each) for each in self._replay.pod_obstacles(state)]
        if state.claim is None:
            text = f"no NodeClaim of {node.name} was read, so neither Consolidatable nor Drifted is known"
            unknown.insert(0, text)
        verdict = HELD if reasons else UNKNOWN
        return Removal(by=KARPENTER, verdict=verdict, reasons=tuple(reasons), unknown=tuple(unknown))

    def _how(self, going: MethodVerdict) -> str:
        """Return how the node would go, a clause."""
        if going.reason == EMPTY:
            return "it is empty"
        if going.reason == DRIFTED:
            made = len(going.simulated.claims) if going.simulated is not None else 0
            return f"it is drifted, and {made} new nodes would take its pods" if made else "it is drifted"
        if going.decision == DELETE or going.replacement is None:
            return "other nodes have room for its pods"
        names = [each.name for each in going.replacement.types]
        more = f" or {len(names) - _MOST_TYPES} more" if len(names) > _MOST_TYPES else ""
        cheapest = ", ".join(names[:_MOST_TYPES])
        saving = f", saving {going.savings:.4g} an hour" if going.replacement.price else ""
        return f"a cheaper node would take its pods: {cheapest}{more}{saving}"

    def _reasons(self, state: StateNode, pool: NodePool | None, verdicts: Sequence[MethodVerdict]) -> Iterator[Reason]:
        obstacles = max((each.obstacles for each in verdicts), key=len)
        for each in obstacles:
            yield self._of_obstacle(state, each)
        if obstacles or pool is None or state.claim is None:
            return
        yield from _of_pool(pool, state.claim, verdicts, self._cluster.at)
        asked = [each for each in verdicts if each.is_candidate]
        for verdict in asked:
            if verdict.allowed == 0:
                yield self._exhausted(pool, verdict.reason)
            elif self._simulates and self._known.knows_all_types:
                yield from self._of_simulation(verdict)
        if not self._simulates and any(each.allowed != 0 and each.reason != EMPTY for each in asked):
            yield Reason(text="no NodePool is ready, so Karpenter removes empty nodes alone")

    def _of_obstacle(self, state: StateNode, obstacle: Obstacle) -> Reason:
        if obstacle.pod is None:
            return Reason(text=_node_text(obstacle.said, state), kind=NODE, said=obstacle.said)
        if not obstacle.budget:
            text = "annotated karpenter.sh/do-not-disrupt"
            return Reason(text=text, pod=obstacle.pod, kind=POD, said=obstacle.said)
        budget = self._budgets[obstacle.budget]
        if "multiple" in obstacle.said:
            text = "it has several budgets, and an eviction takes one only"
        else:
            allowed = budget.status.disruptions_allowed
            text = f"pdb prevents pod evictions ({budget.name}, {allowed} disruptions allowed)"
        return Reason(text=text, pod=obstacle.pod, kind=BUDGET, said=obstacle.said)

    def _exhausted(self, pool: NodePool, reason: str) -> Reason:
        """Describe the budgets that let no more node go now."""
        limits = [f"nodes: {each.nodes}" for each in pool.spec.disruption.budgets if self._limits(each, reason)]
        text = f"NodePool {pool.name} has a budget that allows no disruption ({', '.join(limits) or 'unreadable'})"
        said = f"No allowed disruptions for disruption reason {reason} due to blocking budget"
        return Reason(text=text, said=said)

    def _limits(self, budget: DisruptionBudget, reason: str) -> bool:
        if budget.reasons is not None and reason not in budget.reasons:
            return False
        try:
            return is_active(budget, self._cluster.at) is not False
        except InvalidBudget:
            return True

    def _of_simulation(self, verdict: MethodVerdict) -> Iterator[Reason]:
        """Yield the pods that find no room, or why no node would take the place of this one."""
        simulated = verdict.simulated
        if simulated is not None and simulated.errors:
            for key, error in simulated.errors.items():
                yield Reason(
                    text=f"it would find no node: {error}", pod=self._pods.get(key), kind=ROOM, said=simulated.said
                )
            return
        for reason, said in verdict.said:
            if reason == UNCONSOLIDATABLE:
                yield Reason(text=f"{said[0].lower()}{said[1:]}", kind=ROOM, said=said)
        if not verdict.said and verdict.decision == NOTHING:
            yield Reason(text="its removal would save too little for the policy Balanced", kind=ROOM)

    def _unknown(self, verdicts: Sequence[MethodVerdict]) -> Iterator[str]:
        asked = [each for each in verdicts if each.is_candidate]
        if any(each.allowed is None for each in asked):
            yield "budgets have schedules, and the time of this state is not known"
        if self._simulates and not self._known.knows_all_types:
            for verdict in asked:
                if verdict.allowed != 0:
                    yield from _open(verdict)
        if not any(each.obstacles for each in verdicts):
            yield _TOGETHER
        yield _MEMORY

    def _facts(self, state: StateNode, pool: NodePool | None) -> Iterator[tuple[str, str]]:
        if pool is None or state.claim is None:
            return
        now, disruption = self._cluster.at, pool.spec.disruption
        yield "nodePool", pool.name
        yield "consolidationPolicy", disruption.consolidation_policy
        left = consolidate_after_left(pool, state.claim, now)
        over = f" (over in {left:.0f} s)" if left is not None and left > 0 else ""
        yield "consolidateAfter", f"{disruption.consolidate_after}{over}"
        for budget in disruption.budgets:
            why = f" for {', '.join(budget.reasons)}" if budget.reasons else ""
            when = f" from {budget.schedule} for {budget.duration}" if budget.schedule else ""
            yield "budget", f"{budget.nodes} nodes at once{why}{when}{_activity(budget, now)}"
        allowed = self._replay.allowed(pool, UNDERUTILIZED)
        if allowed is not None and disruption.budgets:
            yield "allowedDisruptions", str(allowed)
        drifted = find_condition(state.claim.status.conditions, DRIFTED)
        is_drifted = drifted is not None and drifted.status == "True"
        yield "drifted", (drifted.reason or "yes") if drifted is not None and is_drifted else "no"
        yield "expireAfter", _expiry(state.claim)


def _of_pool(pool: NodePool, claim: NodeClaim, verdicts: Sequence[MethodVerdict], now: str | None) -> Iterator[Reason]:
    """Yield what of the NodePool's policy and of the NodeClaim's conditions forbids the removal."""
    if any(each.is_candidate for each in verdicts):
        return
    said = {text for each in verdicts for reason, text in each.said if reason == UNCONSOLIDATABLE}
    if pool.spec.replicas is not None:
        yield Reason(text=f"NodePool {pool.name} is static: it keeps {pool.spec.replicas} nodes")
        return
    if consolidate_after(pool) is None:
        yield _disabled(pool)
        return
    for text in sorted(said):
        if "WhenEmpty" in text:
            plain = f"NodePool {pool.name} has consolidationPolicy WhenEmpty, and the node is not empty"
            yield Reason(text=plain, said=text)
        else:
            yield Reason(text=f"{text[0].lower()}{text[1:]}", kind=NODE, said=text)
    condition = find_condition(claim.status.conditions, "Consolidatable")
    if not said and (condition is None or condition.status != "True"):
        left = consolidate_after_left(pool, claim, now)
        more = f", over in {left:.0f} s" if left is not None and left > 0 else ""
        after = pool.spec.disruption.consolidate_after
        yield Reason(text=f"its NodeClaim is not Consolidatable yet: consolidateAfter is {after}{more}")


def _disabled(pool: NodePool) -> Reason:
    said = f'NodePool "{pool.name}" has consolidation disabled'
    return Reason(text=f"NodePool {pool.name} has consolidation disabled (consolidateAfter: Never)", said=said)


def _node_text(said: str, state: StateNode) -> str:
    """Return plain words for an obstacle of the node itself."""
    plain = {
        "Node isn't initialized": "the node is not initialized yet",
        "Node is deleting or marked for deletion": "the node is being deleted",
        "Nodeclaim does not have an associated node": "its NodeClaim has no node yet",
    }
    if said.startswith("Disruption is blocked"):
        return "the node is annotated karpenter.sh/do-not-disrupt"
    if said.startswith("NodePool not found"):
        return f"its NodePool {state.node_pool} was not found"
    return plain.get(said, said)


def _open(verdict: MethodVerdict) -> Iterator[str]:
    """Yield what the prices and the instance types that are not known would decide."""
    simulated = verdict.simulated
    lacking = 0 if simulated is None else len(simulated.errors) + sum(len(each.pods) for each in simulated.claims)
    if lacking:
        yield (f"{lacking} of its pods need a new node: Karpenter replaces it by a cheaper one only, and {_PRICES}")
    elif verdict.decision == NOTHING:
        yield f"the policy Balanced weighs what a removal saves, and {_PRICES}"


def _activity(budget: DisruptionBudget, now: str | None) -> str:
    if not (budget.schedule or budget.duration):
        return ""
    try:
        active = is_active(budget, now)
    except InvalidBudget:
        return " (cannot be read: no node goes)"
    return "" if active is None else " (now)" if active else " (not now)"


def _expiry(claim: NodeClaim) -> str:
    end = expires_at(claim)
    return f"{claim.spec.expire_after or 'not set'}{f', at {end:%Y-%m-%d %H:%M} UTC' if end is not None else ''}"

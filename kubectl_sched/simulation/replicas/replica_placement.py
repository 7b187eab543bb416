"""Many pods that differ in name alone, one after the other: after each, only what it changed is judged again.

Most of a what-if is replicas. After one of them has a node, the verdicts and raw scores of most plugins change on that
node alone; PodTopologySpread and InterPodAffinity bring their counts up to date. Every placement equals a cycle from
scratch. Each pod has its own whole cycle with devices, shared volumes, nominated pods, nodes that PreFilter chose, or a
plugin that does not say what it depends on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.framework.interface import PreFilterExtensions
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.status import passing
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.simulation.likeness import Likeness, filters_of, is_plain, likeness, may_share
from kubectl_sched.simulation.placements import TIED_SHOWN, Ties
from kubectl_sched.simulation.replicas.all_nodes import AllNodes
from kubectl_sched.simulation.replicas.node_ranking import NodeRankings
from kubectl_sched.simulation.replicas.ordinal_labels import Ordinals
from kubectl_sched.simulation.replicas.own_node import OwnNodes
from kubectl_sched.simulation.replicas.placed_replicas import PlacedReplicas
from kubectl_sched.simulation.replicas.ranking import NameOrder, RankingInputs
from kubectl_sched.simulation.replicas.replica_scores import ReplicaScores, can_be_followed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.simulation.replicas.ranking import Ranking
    from kubectl_sched.simulation.replicas.replica_claims import ReplicaClaims
    from kubectl_sched.snapshot import Snapshot


_NODES_A_POD = 300
"""To rank so many nodes takes as long as to judge all nodes again after one pod."""


class Choice(NamedTuple):
    """The node that one of the pods was given, and those that tied at its total."""

    row: int
    ties: Ties
    total: int
    is_sampled: bool


class EqualPods:
    """The nodes for one more of the pods; `assume` brings them up to date.

    All nodes are judged again for each pod until so many have come that it pays to rank them once.
    """

    def __init__(self, result: CycleResult, alike: _Alike, cluster: PlacedReplicas, *, get_labels: bool) -> None:
        self.pod = alike.pod
        self.framework = framework = result.framework
        self.cluster = cluster
        self.names = cluster.nodes.names
        self._alike = alike
        self._inputs = inputs = _inputs(result, alike, cluster, get_labels=get_labels)
        self._own_nodes = OwnNodes(self.pod, cluster, inputs.state, filters_of(result), inputs.scores.of_requests)
        self._ranking: Ranking = AllNodes(inputs, alike.kind)
        self._pods_until_ranked = 1 + len(cluster.nodes) // _NODES_A_POD
        self._is_ever_ranked = not get_labels
        self.is_spent = False
        """Report whether the next pod needs a whole cycle, whichever it is."""

        self._looked_for = num_feasible_nodes_to_find(
            len(cluster.nodes), framework.profile.percentage_of_nodes_to_score
        )
        self.counts_pods = inputs.scores.look_at_pods or any(map(_is_counting, filters_of(result)))
        """Report whether a plugin of this cycle looks at pods on other nodes."""

    @classmethod
    def after(
        cls, result: ScheduleResult, following: Pod | None = None, *, get_labels: bool = False
    ) -> EqualPods | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle, or `following` does.

        `get_labels` says that a pod may get further labels with its node, so that others may begin to count it.
        """
        if not _can_be_followed(result):
            return None
        framework, first, objects = result.framework, result.pod, result.nodes.objects
        ordinals = Ordinals(first, result.nodes)
        pod, nodes = ordinals.one_more(first, result.nodes)
        if pod is not first:
            result = cycle(pod, nodes, framework)
            if not _can_be_followed(result):
                return None
        claims = None
        if not is_plain(pod):
            from kubectl_sched.simulation.replicas.replica_claims import ReplicaClaims  # most pods have no claims

            claims = ReplicaClaims.after(result)
            if claims is None:
                return None
        alike = _Alike(first, pod, ordinals, claims)
        if claims is not None and following is not None and not alike.has(following):
            return None
        cluster = PlacedReplicas(alike.pod, nodes if claims is None else claims.nodes, objects, claims)
        return cls(result, alike, cluster, get_labels=get_labels)

    def turn_to(self, pod: Pod) -> bool:
        """Answer for this pod from now on; False if it is none of them, or needs a whole cycle."""
        if self.is_spent or not self._alike.has(pod):
            return False
        claims = self._alike.claims
        if claims is None:
            return True
        claims.turn_to(pod)
        return self._ranking.turn_to(claims.kind)

    @property
    def is_settled(self) -> bool:
        """Report whether no node's total depends on which others are feasible."""
        return self._alike.claims is None and not self._inputs.scores.look_at_others

    @property
    def has_feasible(self) -> bool:
        """Report whether one more of the pods fits anywhere."""
        return len(self._ranking) > 0

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        return len(self._ranking) > self._looked_for

    def best(self) -> tuple[Sequence[int], int]:
        """Return the rows of the nodes tied at the highest total, in name order, and that total."""
        places, total = self._ranking.best()
        order = self._inputs.order
        return (places if order.by_name is None else [order.rows[place] for place in places]), total

    def place(self, pod: Pod, choose: Callable[[Ties], int]) -> Choice:
        """Let one of the pods run on one of the tied nodes, whose index `choose` returns."""
        places, total = self._ranking.best()
        order = self._inputs.order
        ties = Ties(order.names, places[:TIED_SHOWN], len(places))
        row = order.rows[places[choose(ties)]]
        choice = Choice(row, ties, total, self.is_sampled)
        self.assume(pod, row)
        return choice

    def assume(self, pod: Pod, row: int) -> None:
        """Let one of the pods run on the row's node."""
        self.cluster.add(pod, row)
        self._alike.place(pod, row)
        self._count(pod, row)

    def follow(self, nodes: Snapshot, added: Sequence[tuple[Pod, int]]) -> None:
        """Go on with a snapshot in which pods of these run on these rows, too: not more than one if `counts_pods`."""
        self.cluster.replace(nodes)
        for pod, row in added:
            self._count(pod, row)

    def _count(self, pod: Pod, row: int) -> None:
        """Count one more of the pods on the row's node."""
        if not self._ranking.place(pod, row, self._own_nodes.one_more_on(row)):
            self.is_spent = True
        self._pods_until_ranked -= 1
        if self._is_ever_ranked and not self._pods_until_ranked:
            ranked = self._ranked()
            self._ranking = self._ranking if ranked is None else ranked

    def _ranked(self) -> Ranking | None:
        """The nodes as ranked once for all further pods; None if they cannot be."""
        inputs, kind = self._inputs, self._alike.kind
        if not inputs.filters and not inputs.scores.count_replicas:
            has_own_points = kind is None or (kind.points is None and not inputs.scores.look_at_others)
            return NodeRankings(inputs, kind) if has_own_points else None
        if inputs.pod is not inputs.first or self.cluster.nodes.cluster is not None:
            return None
        from kubectl_sched.simulation.replicas.group_ranking import group_ranking  # few pods need it

        return group_ranking(inputs)


class _Alike:
    """Tells the pods that are like the first one, and what they have for themselves alone."""

    def __init__(self, first: Pod, pod: Pod, ordinals: Ordinals, claims: ReplicaClaims | None) -> None:
        """`pod` is one more of them, but for its claims."""
        self.first = first
        self.pod = pod if claims is None else claims.pod
        self.claims = claims
        self._ordinals = ordinals
        self._likeness = self._likeness_of(pod)

    def _likeness_of(self, pod: Pod) -> Likeness:
        return likeness(pod, self._ordinals.unasked, with_volumes=self.claims is None)

    def has(self, pod: Pod) -> bool:
        """Report whether the pod is one of them."""
        return (
            self._likeness_of(pod) == self._likeness
            and self._ordinals.are_alike(pod)
            and (self.claims is None or self.claims.kind_of(pod) is not None)
        )

    @property
    def kind(self) -> ClaimKind | None:
        """The kind of the claims of the pod that is judged."""
        return None if self.claims is None else self.claims.kind

    def place(self, pod: Pod, row: int) -> None:
        """Take what the pod has for itself alone as in use; it has the row's node."""
        self._ordinals.place(pod)
        if self.claims is not None:
            self.claims.place(pod, row)


def _can_be_followed(result: ScheduleResult) -> TypeGuard[CycleResult]:
    """Report whether what one more pod changes in the cycle's verdicts and scores can be told."""
    if result.outcome is not Outcome.SCHEDULABLE or not may_share(result):
        return False
    # A plugin that has nothing to filter has nothing to score either, unless it has help for that.
    scored = {each.plugin for each in result.scores} - result.state.skip_filter_plugins
    return all(can_be_followed(each) for each in result.framework.score_plugins if each.name in scored)


def _is_counting(plugin: FilterPlugin) -> bool:
    return isinstance(plugin, PreFilterExtensions)


def _inputs(result: CycleResult, alike: _Alike, cluster: PlacedReplicas, *, get_labels: bool) -> RankingInputs:
    framework = result.framework
    state = result.state.clone(CycleBudget(UNLIMITED))
    pod, first, filters = alike.pod, alike.first, filters_of(result)
    counting = [
        each
        for each in filters
        if isinstance(each, PreFilterExtensions) and (get_labels or each.concerns(state, pod, first))
    ]
    judged_elsewhere = {each.name for each in counting}
    scored_elsewhere: frozenset[str] = frozenset()
    if alike.claims is not None:
        judged_elsewhere |= {each.name for each in filters if each.depends_on is DependsOn.CLAIMS}
        scored_elsewhere = frozenset(
            each.name for each in framework.score_plugins if each.depends_on is DependsOn.CLAIMS
        )
    passes = np.ones(len(cluster.nodes), dtype=np.bool_)
    for name, verdict in result.verdicts.items():
        if name not in judged_elsewhere:
            passes &= passing(verdict)
    scores = ReplicaScores(result, framework, state, (pod, first), cluster, scored_elsewhere)
    return RankingInputs(pod, first, state, cluster, counting, passes, scores, NameOrder(cluster.nodes))

"""Many pods that differ in name alone, one after the other: after each, only what it changed is judged again.

Most of a what-if is replicas. After one of them has a node, the verdicts and raw scores of most plugins change on that
node alone; PodTopologySpread and InterPodAffinity bring their counts up to date and judge all nodes again. Every
placement equals a cycle from scratch. Where that cannot be had so simply (devices, volumes that others have, too,
nominated pods, nodes that PreFilter chose, a plugin that does not say what it depends on), there is no EqualPods and
each pod has its whole cycle.
"""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.framework.interface import DependsOn, PreFilterExtensions
from kubectl_sched.framework.status import passing
from kubectl_sched.plugins.inter_pod_affinity.terms import terms_of
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.simulation.placements import TIED_SHOWN, Ties
from kubectl_sched.simulation.pods_without_claims import counts_nobody, is_plain
from kubectl_sched.simulation.replicas.node_ranking import NodeRankings
from kubectl_sched.simulation.replicas.ordinal_labels import Ordinals
from kubectl_sched.simulation.replicas.replica_scorer import Feasible, remember
from kubectl_sched.simulation.replicas.replica_scores import ReplicaScores, can_be_followed
from kubectl_sched.simulation.replicas.verdicts_by_usage import UsageLevels
from kubectl_sched.snapshot.host_ports import host_ports

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.replicas.group_ranking import GroupRanking
    from kubectl_sched.simulation.replicas.node_ranking import FewNodes, NodeRanking
    from kubectl_sched.simulation.replicas.replica_claims import ReplicaClaims
    from kubectl_sched.simulation.replicas.verdicts_by_usage import UsageLevel
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask, Rows
    from kubectl_sched.snapshot.objects import Objects


_NODES_A_POD = 100
"""To put so many nodes into groups takes as long as to judge all nodes again after one pod."""


def are_equal(one: Pod, other: Pod, unasked: frozenset[str] = frozenset()) -> bool:
    """Report whether no plugin can tell the pods apart: they differ in name, uid and creation time at most.

    And in labels that no selector asks for. Claims are called after their pods, which the reasons that tell of them
    then name.
    """
    mine, theirs = one.metadata, other.metadata
    return (
        not one.spec.resource_claims
        and not [volume for volume in one.spec.volumes if volume.ephemeral is not None]
        and (one.spec is other.spec or one.spec == other.spec)
        and (mine.labels == theirs.labels or _are_equal_but_for(unasked, mine.labels, theirs.labels))
        and mine.namespace == theirs.namespace
        and mine.owner_references == theirs.owner_references
        and mine.deletion_timestamp == theirs.deletion_timestamp
        and one.status == other.status
    )


def _are_equal_but_for(unasked: frozenset[str], mine: Labels, theirs: Labels) -> bool:
    if not unasked or mine.keys() != theirs.keys():
        return False
    return not [key for key, value in mine.items() if theirs[key] != value and key not in unasked]


class Choice(NamedTuple):
    """The node that one of the pods was given, and those that tied at its total."""

    row: int
    ties: Ties
    total: int
    is_sampled: bool


class _OfPods(NamedTuple):
    """A plugin that looks at the pods of a node: its verdict on each, and for how many more pods that holds."""

    plugin: FilterPlugin
    passes: list[bool]
    spare: list[int]


class EqualPods:
    """The verdicts and scores of all nodes for one more of the pods; `assume` brings them up to date."""

    def __init__(
        self,
        result: ScheduleResult,
        framework: Framework,
        state: CycleState,
        ordinals: Ordinals,
        claims: ReplicaClaims | None,
        objects: Objects,
    ) -> None:
        self.pod = result.pod if claims is None else claims.pod
        self._nodes = result.nodes if claims is None else claims.nodes
        self.names = self._nodes.names
        self._added: list[tuple[Pod, int]] = []
        self._nodes_after: Snapshot | None = None
        self._claims = claims
        self.framework = framework
        self._looked_for = num_feasible_nodes_to_find(len(self.nodes), framework.profile.percentage_of_nodes_to_score)
        self._state = state.clone(CycleBudget(UNLIMITED))
        self._ordinals = ordinals
        self._objects = objects
        self._in_name_order = result.nodes.table.in_name_order
        filters = [each for each in framework.filter_plugins if each.name in result.verdicts]
        counting = [each for each in filters if isinstance(each, PreFilterExtensions)]
        self._counting = [each for each in counting if each.concerns(self._state, self.pod, self.pod)]
        of_pods = [each for each in filters if each.depends_on is DependsOn.PODS_OF_NODE]
        of_usage = [each for each in filters if each.depends_on is DependsOn.USAGE_OF_NODE]
        passes = {name: passing(column) for name, column in result.verdicts.items()}
        for each in filters if claims is not None else ():
            if each.depends_on is DependsOn.CLAIMS:
                del passes[each.name]
        self._counted = {each.name: passes.pop(each.name) for each in self._counting}
        everywhere = np.ones(len(self.nodes), dtype=np.bool_)
        self._passes_others = np.logical_and.reduce([*passes.values(), everywhere])
        self._others_changed = 0
        self._of_pods = [
            _OfPods(each, passes.pop(each.name).tolist(), each.spare(result.pod, result.nodes).tolist())
            for each in of_pods
        ]
        steady = (mask for name, mask in passes.items() if name not in {each.name for each in of_usage})
        self._passes_steadily: list[bool] = np.logical_and.reduce([*steady, everywhere]).tolist()
        self._known_passes: dict[str, dict[Hashable, Mask]] = {each.name: {} for each in self._counting}
        self._keys = {each.name: each.verdict_key(self._state, self.pod, self.nodes) for each in self._counting}
        self._known_feasible: dict[Hashable, Feasible] = {}
        self._feasible = self._feasible_now()
        of_claims = frozenset(each.name for each in framework.score_plugins if each.depends_on is DependsOn.CLAIMS)
        self._scores = ReplicaScores(
            result, framework, self._state, self._feasible, frozenset() if claims is None else of_claims
        )
        self._scored = self._feasible
        self.counts_pods = bool(counting) or self._scores.counts_pods
        """Report whether a plugin of this cycle looks at pods on other nodes."""
        self._usage = UsageLevels(self.pod, self.nodes, state, of_usage, self._scores.of_usage)
        self._leaves_other_nodes = not (self._counting or terms_of(self.pod) is not None or host_ports(self.pod))
        """No verdict on another node changes with one more of the pods, but for those on claims."""

        self._rankings: NodeRankings | None = None
        self._ranking: NodeRanking | FewNodes | GroupRanking | None = None
        self._groups: GroupRanking | None = None
        self._is_of_one_kind = True
        self._is_settled = False
        self._pods_until_groups = 1 + len(self.nodes) // _NODES_A_POD

    @classmethod
    def after(cls, result: ScheduleResult, following: Pod | None = None) -> EqualPods | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle, or `following` does."""
        framework, objects = result.framework, result.nodes.objects
        if framework is None or not _is_simple(result):
            return None
        ordinals = Ordinals(result.pod, result.nodes)
        pod, nodes = ordinals.one_more(result.pod, result.nodes)
        if pod is not result.pod:
            result = cycle(pod, nodes, framework)
        state = result.state
        if state is None or not _is_simple(result):
            return None
        filters = (each for each in framework.filter_plugins if each.name in result.verdicts)
        if any(each.depends_on is DependsOn.CLUSTER and not isinstance(each, PreFilterExtensions) for each in filters):
            return None
        scored = {each.plugin for each in result.scores} - state.skip_filter_plugins
        scorers = (each for each in framework.score_plugins if each.name in scored)
        # One that has nothing to filter has nothing to score either, unless it says so by PreScoreExtensions.
        if not all(map(can_be_followed, scorers)):
            return None
        claims, may_follow = None, is_plain(pod)
        if not may_follow:
            from kubectl_sched.simulation.replicas.replica_claims import ReplicaClaims  # most pods have no claims

            claims = ReplicaClaims.after(result)
        if claims is not None:
            alike = None if following is None else claims.of_nobody(following)
            may_follow = following is None or (alike is not None and are_equal(claims.pod, alike, ordinals.unasked))
        return cls(result, framework, state, ordinals, claims, objects) if may_follow else None

    def stands_for(self, pod: Pod) -> bool:
        """Report whether the pod is one of them."""
        ordinals = self._ordinals
        alike = pod if self._claims is None else self._claims.of_nobody(pod)
        return alike is not None and are_equal(self.pod, alike, ordinals.unasked) and ordinals.are_alike(pod)

    def turn_to(self, pod: Pod) -> bool:
        """Answer for this pod from now on; False if it is none of them."""
        if not self.stands_for(pod):
            return False
        if self._claims is not None:
            before = self._claims.kind
            self._claims.turn_to(pod)
            self._is_of_one_kind &= self._claims.kind is before
            self._ranking = self._ranked() if self._rankings is not None else None
            if self._ranking is None:
                self._feasible = self._feasible_now()
                if self._feasible is not self._scored and len(self._feasible.rows):
                    self._scores.move(self.nodes, self._feasible)
                    self._scored = self._feasible
        return True

    @property
    def is_settled(self) -> bool:
        """Report whether no node's total depends on which others are feasible."""
        return self._claims is None and self._scores.are_settled

    @property
    def has_feasible(self) -> bool:
        """Report whether one more of the pods fits anywhere."""
        return self._feasible_count > 0

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        return self._feasible_count > self._looked_for

    @property
    def _feasible_count(self) -> int:
        return len(self._feasible.rows if self._ranking is None else self._ranking)

    def best(self) -> tuple[Rows, int]:
        """The nodes tied at the highest total, in name order, and that total."""
        self._stop_ranking()
        rows = self._feasible.by_name
        is_as_listed = self._feasible.is_all and self._in_name_order is None
        totals = self._scores.totals()
        if self._claims is not None and self._claims.kind.points is not None:
            totals = totals + self._claims.kind.points
        totals = totals if is_as_listed else totals.take(rows)
        highest = int(np.maximum.reduce(totals))
        tied = (totals == highest).nonzero()[0]
        return tied if is_as_listed else rows.take(tied), highest

    def place(self, pod: Pod, choose: Callable[[Ties], int]) -> Choice:
        """Let one of the pods run on one of the tied nodes, whose index `choose` returns."""
        ranking = self._ranking = self._ranked() if self._ranking is None else self._ranking
        if ranking is None:
            tied, total = self.best()
            ties = Ties(self.names, tied[:TIED_SHOWN].tolist(), len(tied))
            row = int(tied[choose(ties)])
            choice = Choice(row, ties, total, self.is_sampled)
            self.assume(pod, row)
            return choice
        places, total = ranking.best()
        rankings = ranking.nodes
        ties = Ties(rankings.names, places[:TIED_SHOWN], len(places))
        row = rankings.rows[places[choose(ties)]]
        choice = Choice(row, ties, total, self.is_sampled)
        self._note(pod, row)
        self._added.append((pod, row))
        level = self._usage.one_more_on(row)
        after = self._scores.with_usage(row, level.points)
        if level.passes & self._passes_pods_of(row):
            rankings.change(row, after)
            if self._claims is None:  # a pod with claims has its kind's ranking follow first
                ranking.follow()
            if ranking.is_spent:
                self._stop_ranking()
        else:
            self._fill_up(row, after)
        return choice

    def _ranked(self) -> NodeRanking | FewNodes | GroupRanking | None:
        """The nodes as ranked by their totals for the kind of the pod; None if it can change more than its own node's.

        The points of a node may depend on which others are feasible, which differ between kinds.
        """
        kind = None if self._claims is None else self._claims.kind
        if self._rankings is None and self._leaves_other_nodes and self._scores.counts_replicas is False:
            self._rankings = NodeRankings(self._scores.totals(), self._passes_others, self._in_name_order, self.names)
            self._is_settled = self._scores.are_settled
        if kind is not None and (
            kind.points is not None or not (self._is_settled or (self._is_of_one_kind and not kind.version))
        ):
            self._rankings = None
        return self._ranked_in_groups() if self._rankings is None else self._rankings.of(kind)

    def _ranked_in_groups(self) -> NodeRanking | FewNodes | GroupRanking | None:
        """The nodes as ranked in groups; None if plugins that count pods have no numbers for that, or groups are many.

        They are made once so many pods have come that it pays, and given up for good when they become too many.
        """
        nodes = self.nodes
        self._pods_until_groups -= 1
        if self._pods_until_groups or self._claims is not None or nodes.cluster is not None:
            return None
        from kubectl_sched.simulation.replicas.group_ranking import group_ranking  # few pods need it

        asked = self._state, self.pod, nodes
        ranking = group_ranking(self._counting, self._scores, asked, self._passes_others, self._in_name_order)
        if ranking is not None:
            self._rankings, self._ranking, self._groups = ranking.nodes, ranking, ranking
            if ranking.is_spent:
                self._stop_ranking()
        return self._ranking

    def _fill_up(self, row: int, total: int) -> None:
        """The row's node takes no further pod."""
        self._passes_others[row] = False
        self._others_changed += 1
        if self._rankings is not None and self._ranking is not None:
            self._rankings.change(row, total)
            self._ranking.follow()
        if self._scores.are_settled:
            return
        self._feasible = self._feasible_now()
        if len(self._feasible.rows):
            self._scored = self._feasible
            # Nobody else asks for the cluster with all pods, which takes long to make.
            nodes = self.nodes if self._scores.counts_pods else self._nodes
            if self._scores.change_with(nodes, self._feasible):
                self._rankings = self._ranking = None

    def _stop_ranking(self) -> None:
        rankings, ranking, groups = self._rankings, self._ranking, self._groups
        self._rankings = self._ranking = None
        if groups is not None and ranking is groups:
            self._leave_groups(groups.nodes.changed)
        elif rankings is not None:
            self._feasible = self._feasible_now()

    def _leave_groups(self, rows: Sequence[int]) -> None:
        """Bring up to date what was left to groups since they were made: one more pod on each row's node."""
        for plugin in self._counting:
            for row in rows:
                plugin.add_pod(self._state, self.pod, self.pod, row, self.nodes)
        self._count_again()
        self._feasible = self._feasible_now()
        if len(self._feasible.rows):
            self._scored = self._feasible
        self._scores.take_back(rows, self.nodes, self._scored)

    def _feasible_now(self) -> Feasible:
        """The nodes that pass. Pods that spread make the same few sets of nodes feasible in turn."""
        kind = None if self._claims is None else self._claims.kind
        of_kind = () if kind is None else (kind, kind.version)
        keys: tuple[Hashable, ...] = (self._others_changed, of_kind, *self._keys.values())
        known = self._known_feasible.get(keys)
        if known is not None:
            return known
        mask = self._passes_others.copy()
        if kind is not None:
            mask &= kind.passes
        for passes in self._counted.values():
            mask &= passes
        key = mask.tobytes() if None in keys else keys
        known = self._known_feasible.get(key)
        if known is None:
            known = Feasible(mask, self._in_name_order)
            remember(self._known_feasible, key, known)
        return known

    def assume(self, pod: Pod, row: int) -> None:
        """Let one of the pods run on the row's node, and judge anew what depends on that."""
        self._nodes = self.nodes.assume(pod, row)
        self._note(pod, row)
        self._judge_again(pod, row)

    def _note(self, pod: Pod, row: int) -> None:
        self._nodes_after = None
        self._ordinals.place(pod)
        if self._claims is not None:
            self._claims.place(pod, row)

    @property
    def nodes(self) -> Snapshot:
        """The cluster with all of the pods that have a node, and with what is nobody's."""
        if self._added:
            self._nodes = self._nodes.assume_equal(self._added)
            self._added = []
        return self._nodes

    @property
    def nodes_after(self) -> Snapshot:
        """The cluster with all that the pods have reserved, and with nothing of nobody's."""
        if self._nodes_after is None:
            nodes = self.nodes
            if nodes.objects is not self._objects:
                nodes = replace(nodes, objects=self._objects)
            self._nodes_after = nodes if self._claims is None else self._claims.reserved(nodes)
        return self._nodes_after

    def follow(self, nodes: Snapshot, added: Sequence[tuple[Pod, int]]) -> None:
        """Go on with a snapshot in which some of the pods run on these rows, unless `counts_pods`."""
        self._nodes = nodes
        for pod, row in added:
            self._judge_again(pod, row)

    def _judge_again(self, pod: Pod, row: int) -> None:
        self._stop_ranking()
        level = self._usage.one_more_on(row)
        if self._filter_again(pod, row, level):
            self._feasible = self._feasible_now()
        # Other pods may have feasible nodes where one more of this kind has none.
        feasible = self._feasible if len(self._feasible.rows) else self._scored
        self._scores.update(pod, row, self.nodes, feasible, level.points, moved=feasible is not self._scored)
        self._scored = feasible

    def _filter_again(self, added: Pod, row: int, level: UsageLevel) -> bool:
        """Report whether any verdict may have changed."""
        for plugin in self._counting:
            plugin.add_pod(self._state, self.pod, added, row, self.nodes)
        changed = self._count_again()
        verdict = level.passes & self._passes_steadily[row] & self._passes_pods_of(row)
        if verdict != self._passes_others[row]:
            self._others_changed += 1
            self._passes_others[row] = verdict
            return True
        return changed

    def _count_again(self) -> bool:
        """Report whether any verdict of plugins that count pods may have changed."""
        before = list(self._counted.values())
        for plugin in self._counting:
            key = self._keys[plugin.name] = plugin.verdict_key(self._state, self.pod, self.nodes)
            self._counted[plugin.name] = self._passing_now(plugin, key)
        return any(map(is_not, before, self._counted.values()))

    def _passes_pods_of(self, row: int) -> bool:
        """Ask the plugins that look at the pods of a node about one more of them there."""
        verdict = True
        for plugin, passes, spare in self._of_pods:
            if spare[row]:
                spare[row] -= 1
            else:
                one = self.nodes.take(np.array([row]))
                passes[row] = bool(passing(plugin.filter(self._state, self.pod, one))[0])
            verdict &= passes[row]
        return verdict

    def _passing_now(self, plugin: FilterPlugin, key: Hashable) -> Mask:
        """bool[n]: the nodes that pass; the plugin is asked only if it has not been lately for the same key."""
        known = self._known_passes[plugin.name]
        passes = None if key is None else known.get(key)
        if passes is None:
            passes = passing(plugin.filter(self._state, self.pod, self.nodes))
            if key is not None:
                remember(known, key, passes)
        return passes


def _is_simple(result: ScheduleResult) -> bool:
    spec = result.pod.spec
    return (
        result.outcome is Outcome.SCHEDULABLE
        and result.pre_filter_nodes is None
        and result.nominated_first is None
        and result.score_error is None
        and not result.nodes.nominated
        and spec.scheduling_group is None
        and spec.workload_ref is None
        and not counts_nobody(result.pod)
    )

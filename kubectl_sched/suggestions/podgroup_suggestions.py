"""Changes after which a group fits that does not: a smaller gang, more nodes, another group gone. Each is a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.scheduling import GangSchedulingPolicy, PodGroup
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.group_membership import is_member
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.suggestions.remedies.more_nodes import more_like
from kubectl_sched.suggestions.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.podgroup_info import Group, PodGroupInfo
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.snapshot import Snapshot

_SHAPES = 4
"""Nodes of no more than so many shapes are copied."""

_MOST_NODES = 32
_GROUPS = 8
"""No more than so many groups are tried to be evicted, the smallest first."""


class PodGroupSuggestion(CachingRecord, frozen=True, kw_only=True):
    """The change in words that follow `it would fit`, and the group's cycle after it."""

    text: str
    result: PodGroupResult


def suggest_for_podgroup(result: PodGroupResult, scheduler: Scheduler) -> tuple[PodGroupSuggestion, ...]:
    """Return what was found of each kind, what costs the owner least first; nothing for a group that fits by itself."""
    if result.outcome is not Outcome.UNSCHEDULABLE or result.is_waiting_on_preemption:
        return ()
    trying = _Trying(result=result, scheduler=scheduler)
    return (*trying.more_nodes(), *trying.evicted_group(), *trying.smaller_gang())


class _Trying(CachingRecord, frozen=True, kw_only=True):
    result: PodGroupResult
    scheduler: Scheduler

    def _fits(self, group: Group, nodes: Snapshot) -> PodGroupResult | None:
        found = explain_podgroup(group, Scheduler(self.scheduler.configuration, nodes))
        return found if found.outcome is Outcome.SCHEDULABLE else None

    def smaller_gang(self) -> Iterator[PodGroupSuggestion]:
        """The largest minCount that fits now, of a tree the largest minGroupCount."""
        info, nodes, group = self.result.info, self.scheduler.nodes, self.result.info.group
        field, already = ("minGroupCount", 0) if info.is_tree else ("minCount", len(info.scheduled))
        most = max((each.fits for each in self.result.placements), default=0) + already
        for count in range(min(most, (info.min_count or 0) - 1), 0, -1):
            gang = msgspec.convert({field: count}, GangSchedulingPolicy)
            policy = structs.replace(group.spec.scheduling_policy, gang=gang)
            smaller = with_spec(group, scheduling_policy=policy)
            changed = structs.replace(nodes, objects=nodes.objects.with_these(type(smaller), [smaller]))
            found = self._fits(smaller, changed)
            if found is not None:
                fewer = f"it then starts with fewer {'groups' if info.is_tree else 'pods'}"
                yield PodGroupSuggestion(
                    text=f"with {field} {count} instead of {info.min_count} ({fewer})", result=found
                )
                return

    def more_nodes(self) -> Iterator[PodGroupSuggestion]:
        """The fewest copies of one node after which the group fits."""
        found = [fewest for row in self._shapes() if (fewest := self._fewest_like(row)) is not None]
        if found:
            yield min(found, key=lambda each: each[0])[1]

    def _fewest_like(self, row: int) -> tuple[int, PodGroupSuggestion] | None:
        """Double the number until the group fits, then halve the way back."""
        low, high, found = 0, 1, self._with_nodes(row, 1)
        while found is None and high < _MOST_NODES:
            low, high = high, 2 * high
            found = self._with_nodes(row, high)
        if found is None:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            fewer = self._with_nodes(row, middle)
            low, high, found = (middle, high, found) if fewer is None else (low, middle, fewer)
        return high, found

    def _with_nodes(self, row: int, count: int) -> PodGroupSuggestion | None:
        tried = next((each.result for place in self.result.placements for each in place.attempts), None)
        way = more_like(tried, row, count) if tried is not None else None
        if tried is None or way is None:
            return None
        nodes = Trial(pod=tried.pod, nodes=self.scheduler.nodes, framework=tried.framework).changed(way).nodes
        found = self._fits(self.result.info.group, nodes)
        text = f"{way[0].text} ({way[0].caution})"
        return None if found is None else PodGroupSuggestion(text=text, result=found)

    def _shapes(self) -> list[int]:
        """A row of each shape of nodes, which differ in more than their names."""
        found: dict[object, int] = {}
        for row, node in enumerate(self.scheduler.nodes.node_objects):
            labels = frozenset((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME)
            shape = labels, frozenset(node.status.allocatable.items()), tuple(map(str, node.spec.taints))
            found.setdefault(shape, row)
        return list(found.values())[:_SHAPES]

    def evicted_group(self) -> Iterator[PodGroupSuggestion]:
        """The smallest running group whose pods make room as they go."""
        nodes, own = self.scheduler.nodes, set(_leaves(self.result.info))
        pods = nodes.existing_pods.pods
        running = {
            group.key: (group, [index for index, pod in enumerate(pods) if is_member(pod, group)])
            for group in nodes.objects.all(PodGroup)
            if group.key not in own
        }
        smallest = sorted((each for each in running.values() if each[1]), key=lambda each: len(each[1]))
        for group, indices in smallest[:_GROUPS]:
            found = self._fits(self.result.info.group, nodes.remove(*indices))
            if found is not None:
                where = f"in {found.domain} " if found.domain is not None else ""
                text = f"{where}once group {group.key} is evicted (this ends {_pods(len(indices))})"
                yield PodGroupSuggestion(text=text, result=found)
                return


def _leaves(info: PodGroupInfo) -> Iterator[str]:
    """The keys of the PodGroups of a tree, or of the group itself."""
    if not info.is_tree:
        yield info.group.key
    for child in info.children:
        yield from _leaves(child)


def _pods(number: int) -> str:
    return "its pod" if number == 1 else f"its {number:,} pods"

"""Replays many bound pods, each removed from its own node first. Equal pods of one owner share work."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.queries.deciding_plugin import Rejudged, ReplaySummary
from kubectl_sched.scheduler.member_result import CyclesOfGroups
from kubectl_sched.simulation.bulk_replay import BulkReplay
from kubectl_sched.simulation.likeness import Likeness, is_plain, likeness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers

_KINDS_OF_ONE_OWNER = 4
"""The unlike pods of an owner that are remembered: a DaemonSet's are all unlike, a rollout's are of two kinds."""

_OWNERS = 64
"""The owners that are remembered. Pods are mostly listed by name, and so by owner."""

_Owner: TypeAlias = tuple[str, str, str, str]


class _Alike:
    """Pods that are judged alike."""

    def __init__(self, kind: Likeness) -> None:
        self.kind = kind
        self.whole: ScheduleResult | None = None
        self.bulk_replay: BulkReplay | None = None


class Rejudging:
    """Asks the scheduler in force for each pod."""

    def __init__(self, schedulers: ClusterSchedulers, pods: Iterable[Pod]) -> None:
        """`pods` are all that will be asked about: what one of them is alone in is not worth preparing for more."""
        self._schedulers = schedulers
        self._pods_of = Counter(owner for pod in pods if (owner := _owner_of(pod)) is not None)
        self._owners: dict[_Owner, list[_Alike]] = {}
        self._groups = CyclesOfGroups()

    def of(self, pod: Pod) -> Rejudged:
        """Replay the pod, taken off its node, a pending one of a group with its part of the group's cycle.

        The outcome equals that of a cycle of its own.
        """
        whole = partial(self._schedulers.cycle, pod)
        if pod.spec.scheduling_group is not None and not pod.spec.node_name:
            return _own(self._groups.part_of(whole(), self._schedulers.scheduler(pod)))
        alike = self._alike(pod)
        return self._shared(pod, alike) or _own(whole()) if alike is not None else _own(whole())

    def _alike(self, pod: Pod) -> _Alike | None:
        """The pods like this one, None if it is its owner's only one, or one of too many kinds."""
        owner = _owner_of(pod)
        if owner is None or self._pods_of[owner] == 1 or not is_plain(pod):
            return None
        kinds = self._owners.setdefault(owner, [])
        kind = likeness(pod)
        found = next((each for each in kinds if each.kind == kind), None)
        if found is None and len(kinds) < _KINDS_OF_ONE_OWNER:
            found = _Alike(kind)
            kinds.append(found)
        if len(self._owners) > _OWNERS:
            del self._owners[next(iter(self._owners))]
        return found

    def _shared(self, pod: Pod, alike: _Alike) -> Rejudged | None:
        scheduler = self._schedulers.scheduler(pod)
        if alike.whole is None:
            alike.whole = scheduler.cycle(pod, scheduler.nodes)
            alike.bulk_replay = BulkReplay.of(alike.whole)
        if alike.bulk_replay is None:
            return None
        nodes, whole = scheduler.nodes, partial(self._schedulers.cycle, pod)
        if nodes.existing_pods.find(pod.metadata.namespace, pod.metadata.name) is None:
            return Rejudged(summary=ReplaySummary.of(alike.whole), whole=whole)
        judged = alike.bulk_replay.without(pod)
        return Rejudged.shared(judged, nodes, whole) if judged is not None else None


def _own(result: ScheduleResult) -> Rejudged:
    return Rejudged(summary=ReplaySummary.of(result), whole=lambda: result)


def _owner_of(pod: Pod) -> _Owner | None:
    owner = pod.metadata.controller
    return (pod.metadata.namespace, owner.kind, owner.name, scheduler_name_of(pod)) if owner is not None else None

"""The pods of a snapshot that name a PodGroup, counted by group (pkg/scheduler/backend/cache/podgroupstate.go)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_sched.api.pod import Pod


class GroupMembers:
    """Groups are named by namespace and name; pods by their keys."""

    def __init__(self, placed: Iterable[Pod], waiting: Iterable[Pod]) -> None:
        self._placed: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._waiting: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_scheduler: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for pod in placed:
            if (named := pod.spec.scheduling_group) is not None:
                self._placed[pod.metadata.namespace, named.pod_group_name or ""].add(pod.key)
        for pod in waiting:
            if (named := pod.spec.scheduling_group) is not None:
                group = pod.metadata.namespace, named.pod_group_name or ""
                self._waiting[group].add(pod.key)
                self._by_scheduler[group][pod.spec.scheduler_name] += 1

    def placed(self, namespace: str, name: str) -> AbstractSet[str]:
        """Return those that have a node."""
        return self._placed.get((namespace, name), frozenset())

    def waiting(self, namespace: str, name: str) -> AbstractSet[str]:
        """Return those that have none."""
        return self._waiting.get((namespace, name), frozenset())

    def waiting_by_scheduler(self, namespace: str, name: str) -> Mapping[str, int]:
        """Count those that have none by their schedulerName, as their specs have it."""
        return self._by_scheduler.get((namespace, name), {})

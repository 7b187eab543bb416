from __future__ import annotations

from kubectl_sched.plugins.priority_sort import PrioritySort
from tests.plugins.clusters import make, pod


def test_priority_comes_before_age_and_age_before_pods_that_are_not_created_yet() -> None:
    waiting = [
        pod("unborn"),
        pod("late", metadata={"creationTimestamp": "2026-02-01T00:00:00Z"}),
        pod("early", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"}),
        pod("negative", metadata={"creationTimestamp": "2025-01-01T00:00:00Z"}, priority=-1),
        pod("important", priority=1000),
    ]
    ordered = sorted(waiting, key=make(PrioritySort).queue_key)
    assert [each.name for each in ordered] == ["important", "early", "late", "unborn", "negative"]


def test_no_priority_is_priority_zero() -> None:
    plugin = make(PrioritySort)
    assert plugin.queue_key(pod("a")) == plugin.queue_key(pod("b", priority=0))

"""The condition that a group's cycle writes into each group (updatePodGroupCondition).

Up to 1.37 CompositePodGroups have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.meta import find_condition
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.binding.writer import STRATEGIC_MERGE_PATCH, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.podgroup_result import Condition, PodGroupResult


def conditions_of(result: PodGroupResult) -> Iterator[tuple[Group, Condition]]:
    """Yield each group of the cycle that gets a condition."""
    for child in result.children:
        yield from conditions_of(child)
    if result.condition is not None:
        yield result.info.group, result.condition


def condition_patch(group: Group, condition: Condition, path: str) -> Request | None:
    """Return the patch of the group at that path; None if the condition stands there already."""
    entry = _entry(group, condition, time_now())
    if entry is None:
        return None
    body = {"metadata": {"uid": group.metadata.uid}, "status": {"conditions": [entry]}}
    return Request(method="PATCH", path=f"{path}/status", body=body, content=STRATEGIC_MERGE_PATCH)


def _entry(group: Group, wanted: Condition, now: str) -> dict[str, object] | None:
    """The condition as a strategic patch has it, None if it stands there already (meta.SetStatusCondition)."""
    old = find_condition(group.status.conditions, wanted.type)
    generation = group.metadata.generation
    said = (wanted.status, wanted.reason, wanted.message, generation)
    if old is not None and (old.status, old.reason, old.message, old.observed_generation) == said:
        return None
    return {
        "type": wanted.type,
        "status": wanted.status,
        "observedGeneration": generation,
        "lastTransitionTime": old.last_transition_time if old is not None and old.status == wanted.status else now,
        "reason": wanted.reason,
        "message": wanted.message,
    }

"""The shortest plan of evictions after which the pod fits and every evicted pod lands again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.simulation.evictable_pods import EvictionRules
from kubectl_sched.simulation.relocation import Relocation
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.nearest_nodes import has_room_when_empty, rejections
from kubectl_sched.suggestions.room_candidates import Bounds
from kubectl_sched.suggestions.room_search import RoomSearch
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial
from kubectl_sched.suggestions.verified import verified

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.relocation import Step
    from kubectl_sched.suggestions.suggestion import Suggestion

_BOUNDS: Final = Bounds(moves=2, nodes=16, pods=8, evictions=48)
_NODES_LOOKED_AT: Final = 64
_WANTED: Final = frozenset({Promise.FITS, Promise.TIES, Promise.WINS})


def move(result: ScheduleResult, scheduler: Scheduler, profile: str | None) -> Suggestion | None:
    """Return the shortest plan for a pod that fits nowhere; None if none is found within bounds that nobody feels."""
    pod = result.pod
    if (
        not isinstance(result, CycleResult)
        or result.current_node is not None
        or not result.pre_filter.is_success
        or pod.is_daemon
        or result.explaining.is_over
    ):
        return None
    counts, away = rejections(result)
    near = np.lexsort((away, counts))
    near = near[(counts > 0)[near] & has_room_when_empty(result)[near]][:_NODES_LOOKED_AT]
    if not len(near):
        return None
    objects = result.nodes.objects
    rules = EvictionRules(objects, [*objects.all(PersistentVolumeClaim), *objects.all(PersistentVolume)], pod.priority)
    found = RoomSearch(Relocation(scheduler, profile, result.explaining), rules, _BOUNDS).find(result, near)
    if found.plan is None:
        return None
    change = Change(
        kind=Kind.MOVE,
        text=f"once {_in_words(found.plan.steps)}",
        step=f"make room: {_in_words(found.plan.steps)}",
        moves=found.plan.steps,
        caution="what moves starts anew",
    )
    return verified(Trial.of(result), (change,), None, _WANTED)


def _in_words(steps: tuple[Step, ...]) -> str:
    moves = [f"{step.pod.key} moves from {step.node} to {step.lands}" for step in steps if step.pod is not None]
    return first_few(moves)

"""Choice of the node to preempt on (pkg/scheduler/framework/preemption/preemption.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.pod import Pod

V = TypeVar("V")
Importance: TypeAlias = tuple[int, int, int, str]
"""Less is more important: priority, rank and number of pods, each negated, and the earliest start."""

_NOW = "~"
"""Sorts after every RFC 3339 time: a missing startTime means the time of asking."""

_PRIORITY_OFFSET = 2**31
"""Added to each priority in the sum, so that many victims of negative priority do not look cheaper than few."""


class Candidate(Record, frozen=True, kw_only=True):
    """A node where the pod would fit once its victims (the most important first) are gone."""

    node_name: str
    victims: tuple[Pod, ...]
    pdb_violations: int
    violated_budgets: tuple[str, ...] = ()


class Choice(Record, frozen=True, kw_only=True):
    """The candidates left after the last criterion that told them apart, and what that criterion was."""

    tied: tuple[Candidate, ...]
    decided_by: str | None


def start_time(pod: Pod) -> str:
    """When the kubelet took the pod on."""
    return pod.status.start_time or _NOW


def by_importance(
    victims: Sequence[V], importance: Callable[[V], Importance], *, unstarted_keep_their_order: bool
) -> list[V]:
    """The most important first, as sort.Slice leaves them (util.MoreImportantPod, since 1.37 MoreImportantVictim).

    A pod that never started is given the time of asking. Up to 1.36 it is asked anew for each comparison, so of two
    such pods the first that a comparison names seems older; later each is asked once, in the order listed.
    """
    keyed = [(importance(victim), index, victim) for index, victim in enumerate(victims)]
    if len({key for key, *_ in keyed}) == len(keyed):
        return [victim for *_, victim in sorted(keyed, key=lambda each: each[0])]

    def is_more_important(left: tuple[Importance, int, V], right: tuple[Importance, int, V]) -> bool:
        if left[0] == right[0] and left[0][-1] == _NOW:
            return left[1] < right[1] if unstarted_keep_their_order else True
        return left[0] < right[0]

    return [victim for *_, victim in go_sort(keyed, is_more_important)]


def _highest_priority(candidate: Candidate) -> int:
    return candidate.victims[0].priority


def _earliest_start(candidate: Candidate) -> str:
    """util.GetEarliestPodStartTime: the earliest start among the victims of the highest priority."""
    highest = max(victim.priority for victim in candidate.victims)
    return min(start_time(victim) for victim in candidate.victims if victim.priority == highest)


_CRITERIA: tuple[tuple[str, Callable[[Candidate], int | str], bool], ...] = (
    ("the fewest PodDisruptionBudget violations", lambda candidate: candidate.pdb_violations, False),
    ("the lowest priority of the most important victim", _highest_priority, False),
    (
        "the lowest sum of the victims' priorities",
        lambda candidate: sum(victim.priority + _PRIORITY_OFFSET for victim in candidate.victims),
        False,
    ),
    ("the fewest victims", lambda candidate: len(candidate.victims), False),
    ("the latest start of the most important victims", _earliest_start, True),
)
"""For each criterion: its words, its measure, and whether the largest wins instead of the smallest."""


def pick_one_node(candidates: Sequence[Candidate]) -> Choice:
    """Criterion after criterion until one candidate is left; the last tie falls to chance in kube-scheduler."""
    left = tuple(candidates)
    decided_by = None
    for words, measure, largest in _CRITERIA:
        if len(left) == 1:
            break
        measured = [measure(candidate) for candidate in left]
        best = max(measured) if largest else min(measured)
        kept = tuple(candidate for candidate, each in zip(left, measured, strict=True) if each == best)
        if len(kept) < len(left):
            decided_by = words
        left = kept
    return Choice(tied=left, decided_by=decided_by)

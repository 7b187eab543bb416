"""Choice of the node to preempt on (pkg/scheduler/framework/preemption/preemption.go)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.pod import Pod

UNSTARTED = "~"
"""Sorts after every RFC 3339 time: a missing startTime means the time of asking."""

_LONGEST_KEPT = 256
"""The most victims of a node whose order is kept for other nodes with victims as important."""

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
    """The time at which the kubelet took the pod on."""
    return pod.status.start_time or UNSTARTED


def rank(place: int, *, is_unstarted: bool) -> int:
    """A victim's importance as one number, less for a more important one: odd where no kubelet has taken its pod on."""
    return 2 * place + is_unstarted


def order_of_importance(ranks: Sequence[int], *, unstarted_keep_their_order: bool) -> Sequence[int]:
    """The positions, the most important victim's first, as sort.Slice leaves them (util.MoreImportantPod).

    A pod that never started is given the time of asking. Up to 1.36 it is asked anew for each comparison, so of two
    such pods the first that a comparison names seems older; later (MoreImportantVictim) each is asked once, in the
    order listed.
    """
    if len(set(ranks)) == len(ranks):
        return sorted(range(len(ranks)), key=ranks.__getitem__)
    order = _order_of_tied if len(ranks) <= _LONGEST_KEPT else _order_of_tied.__wrapped__
    return order(tuple(ranks), unstarted_keep_their_order)


@lru_cache(maxsize=1024)
def _order_of_tied(ranks: tuple[int, ...], unstarted_keep_their_order: bool) -> tuple[int, ...]:
    def is_more_important(left: int, right: int) -> bool:
        if ranks[left] == ranks[right] and ranks[left] % 2:
            return left < right if unstarted_keep_their_order else True
        return ranks[left] < ranks[right]

    return tuple(go_sort(list(range(len(ranks))), is_more_important))


def _highest_priority(candidate: Candidate) -> int:
    return candidate.victims[0].priority


def _earliest_start(candidate: Candidate) -> str:
    """util.GetEarliestPodStartTime: the earliest start among the victims of the highest priority."""
    highest = max(victim.priority for victim in candidate.victims)
    return min(start_time(victim) for victim in candidate.victims if victim.priority == highest)


_CRITERIA: tuple[tuple[str, Callable[[Candidate], int | str], bool], ...] = (
    (
        "it has the fewest victims that a PodDisruptionBudget protects",
        lambda candidate: candidate.pdb_violations,
        False,
    ),
    ("its most important victim has the lowest priority", _highest_priority, False),
    (
        "its victims' priorities add up to the least",
        lambda candidate: sum(victim.priority + _PRIORITY_OFFSET for victim in candidate.victims),
        False,
    ),
    ("it has the fewest victims", lambda candidate: len(candidate.victims), False),
    ("its most important victims started last", _earliest_start, True),
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

"""Who wins from how many of kube-scheduler's starts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import count, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult

_WINNERS_SHOWN = 3


def sampling_words(result: ScheduleResult) -> str | None:
    """`n7 in 48 % of starts, n9 in 31 %; order approximated by age`; None where it was not asked for."""
    sampling = result.sampling
    if sampling is None:
        return None
    if sampling.start_index is not None:
        return (
            f"From start {sampling.start_index:,} it finds {count(len(result.feasible), 'feasible node')} and looks no "
            "further; order approximated by age"
        )
    told = [
        f"{safe(name)} in {_percent(share)}{' of starts' if index == 0 else ''}"
        for index, (name, share) in enumerate(sampling.wins[:_WINNERS_SHOWN])
    ]
    more = len(sampling.wins) - _WINNERS_SHOWN
    if more > 0:
        told.append(f"{count(more, 'other')} in {_percent(sum(share for _, share in sampling.wins[_WINNERS_SHOWN:]))}")
    if sampling.failing:
        told.append(f"the cycle fails in {_percent(sampling.failing)}")
    return f"{', '.join(told)}; order approximated by age"


def sampling_notes(results: Sequence[ScheduleResult]) -> list[str]:
    """A line for each of several pods."""
    told = ((result, sampling_words(result)) for result in results)
    return [f"{result.pod.key}: {words}" for result, words in told if words is not None]


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")

"""Says from what share of kube-scheduler's possible starting nodes each node would win."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import count, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation

_WINNERS_SHOWN = 3


def sampling_words(explanation: Explanation) -> str | None:
    """`n7 in 48 % of starts, n9 in 31 %; order approximated by age`; None if it was not asked for."""
    sampling, result = explanation.sampling, explanation.result
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
    if sampling.failure_share:
        told.append(f"the cycle fails in {_percent(sampling.failure_share)}")
    return f"{', '.join(told)}; order approximated by age"


def sampling_notes(explanations: Sequence[Explanation]) -> list[str]:
    """A line for each of several pods."""
    found = ((each.pod.key, sampling_words(each)) for each in explanations)
    return [f"{key}: {words}" for key, words in found if words is not None]


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")

"""Ways that need nobody's doing: pods that are ending anyway, preemption that succeeds, a node that is on its way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from kubectl_sched.api.apimachinery.timestamps import seconds_between, to_the_second
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.suggestion import Manual
from kubectl_sched.suggestions.verified import verified, verified_preemption

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.gates.gate import Need
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.suggestion import Promise, Suggestion
    from kubectl_sched.suggestions.trial import Trial

TIME_TO_END: Final = 60
"""Seconds after its grace period within which a kubelet and the API server end a pod."""

_NAMED = 2
_OTHERS_FIRST = "another pod may take the room first"


def waits(
    result: ScheduleResult, base: Trial, row: int | None, wanted: frozenset[Promise], now: str | None
) -> Iterator[Suggestion]:
    """Yield what makes room by itself for a pod that fits nowhere, or not on the row's node; `now` is the moment.

    A pod that should have ended by then is nothing to wait for: somebody has to see what holds it.
    """
    post_filter = result.post_filter
    if post_filter is not None and post_filter.nominated_node:
        change = Change(
            kind=Kind.WAIT,
            text="kube-scheduler preempts for it at its next attempt",
            caution=f"this ends {_in_words(post_filter.victims)}" if post_filter.victims else None,
        )
        preempting = verified_preemption(base, change, row, result)
        if preempting is not None:
            yield preempting
            return
    pods = result.nodes.existing_pods.pods
    leaving = [pods[index] for index in np.flatnonzero(result.nodes.existing_pods.terminating).tolist()]
    overdue = [pod for pod in leaving if _overdue(pod, now) > 0]
    in_time = [pod for pod in leaving if _overdue(pod, now) == 0]
    for going, once_gone in ((in_time, _once_gone), (leaving if overdue else (), partial(_once_finished, now=now))):
        of_all = verified(base, (once_gone(going),), row, wanted) if going else None
        if of_all is None:
            continue
        there = [pod for pod in going if pod.spec.node_name == of_all.node]
        of_node = verified(base, (once_gone(there),), row, wanted) if there else None
        yield of_node or of_all
        return


def _overdue(pod: Pod, now: str | None) -> float:
    """Return the seconds since a pod that is ending should have ended, its grace period over; 0 if it is in time."""
    late = seconds_between(pod.metadata.deletion_timestamp, now)  # which has the grace period in it
    return late - TIME_TO_END if late is not None and late > TIME_TO_END else 0


def _once_gone(pods: Sequence[Pod]) -> Change:
    one, due = len(pods) == 1, _due(pods)
    by = f" (by {due} at the latest)" if due else ""
    text = f"once {_in_words(pods)}, which {'is' if one else 'are'} ending{by}, {'is' if one else 'are'} gone"
    return Change(kind=Kind.WAIT, text=text, evicts=tuple(pods), caution=_OTHERS_FIRST)


def _due(pods: Sequence[Pod]) -> str:
    return max(to_the_second(pod.metadata.deletion_timestamp or "") for pod in pods)


def _once_finished(pods: Sequence[Pod], now: str | None) -> Change:
    late = [pod for pod in pods if _overdue(pod, now) > 0] or list(pods)
    held = {finalizer: None for pod in late for finalizer in pod.metadata.finalizers}
    nodes = {pod.spec.node_name: None for pod in late}
    holder = (
        f"finalizer {first_few(list(held))} holds on"
        if held
        else f"the kubelet of {first_few(list(nodes))} has not ended"
    )
    one = len(pods) == 1
    whom = "it" if len(late) == 1 else "them"
    was = f"should have ended by {_due(late)}, and {holder} {'to ' if held else ''}{whom}"
    return Change(
        kind=Kind.FINISH,
        text=f"once {_in_words(pods)} {'is' if one else 'are'} gone: {_in_words(late)} {was}",
        evicts=tuple(pods),
    )


def _in_words(pods: Sequence[Pod]) -> str:
    if len(pods) > _NAMED:
        return f"{pods[0].key} and {len(pods) - 1} others"
    return " and ".join(pod.key for pod in pods)


def after(suggestion: Suggestion, needs: Sequence[Need]) -> Suggestion:
    """Return the suggestion to wait for a gate's controller with what that needs first, which somebody has to do."""
    if not needs:
        return suggestion
    told = first_few([need.once for need in needs])

    def ungated(change: Change) -> Change:
        if change.kind is not Kind.WAIT or not change.text.startswith(f"once {needs[0].controller} lifts "):
            return change
        return structs.replace(change, kind=Kind.UNGATE, text=f"once {told} and {change.text.removeprefix('once ')}")

    changes = tuple(map(ungated, suggestion.changes))
    if changes == suggestion.changes:
        return suggestion
    by_hand = (Manual(instruction=need.instruction) for need in needs)
    return structs.replace(suggestion, changes=changes, manual=(*by_hand, *suggestion.manual))

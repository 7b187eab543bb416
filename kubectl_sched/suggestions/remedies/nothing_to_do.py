"""Ways that need nobody's doing: pods that are ending anyway, preemption that succeeds, a node that is on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.suggestions.change import Change, Kind, Manual
from kubectl_sched.suggestions.verified import verified, verified_preemption

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.gates.gate import Need
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Promise, Suggestion
    from kubectl_sched.suggestions.trial import Trial

_NAMED = 2
_OTHERS_FIRST = "another pod may take the room first"


def waits(result: ScheduleResult, base: Trial, row: int | None, wanted: frozenset[Promise]) -> Iterator[Suggestion]:
    """Yield what makes room by itself for a pod that fits nowhere, or not on the row's node."""
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
    of_all = verified(base, (_once_gone(leaving),), row, wanted) if leaving else None
    if of_all is None:
        return
    there = [pod for pod in leaving if pod.spec.node_name == of_all.node]
    of_node = verified(base, (_once_gone(there),), row, wanted) if there else None
    yield of_node or of_all


def _once_gone(pods: Sequence[Pod]) -> Change:
    one = len(pods) == 1
    text = f"once {_in_words(pods)}, which {'is' if one else 'are'} ending, {'is' if one else 'are'} gone"
    return Change(kind=Kind.WAIT, text=text, evicts=tuple(pods), caution=_OTHERS_FIRST)


def _in_words(pods: Sequence[Pod]) -> str:
    if len(pods) > _NAMED:
        return f"{pods[0].key} and {len(pods) - 1} others"
    return " and ".join(pod.key for pod in pods)


def awaited(suggestion: Suggestion, autoscaler: str) -> Suggestion:
    """Return the suggestion of a new node as one to wait for, which the autoscaler has said that it adds."""
    (change,) = suggestion.changes
    text = f"once the node is there that {autoscaler} adds, if it is like {change.node_name}"
    return structs.replace(suggestion, changes=(structs.replace(change, kind=Kind.WAIT, text=text, caution=None),))


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

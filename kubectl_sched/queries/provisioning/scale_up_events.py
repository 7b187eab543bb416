"""Causes in cluster-autoscaler's events that people see to: a maximum, a limit, or a node that does not come."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import seconds_between, to_the_second
from kubectl_sched.api.core import Event
from kubectl_sched.diagnostics.awaited_changes import TIME_TO_ADD
from kubectl_sched.diagnostics.gates.gate import quoted
from kubectl_sched.diagnostics.messages.scale_up_text import CLUSTER_AUTOSCALER, scale_up_reasons
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.verified import stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.sources.pod_surroundings import Surroundings
    from kubectl_sched.suggestions.suggestion import Suggestion

_STATUS: Final = ("ConfigMap", "cluster-autoscaler-status")
_FAILURES: Final = frozenset({"FailedToScaleUpGroup", "ScaleUpFailed", "ScaleUpTimedOut"})
_GROWING: Final = pattern(r"\{(\S+) (\d{1,9})->(\d{1,9}) \(max: (\d{1,9})\)\}")
_GROUPS_NAMED: Final = 2
_LIMITS: Final = {
    "max node group size reached": "raise the maximum of a node group",
    "max total nodes in cluster reached": "raise --max-nodes-total of cluster-autoscaler",
    "max cluster cpu limit reached": "raise --cores-total of cluster-autoscaler",
    "max cluster memory limit reached": "raise --memory-total of cluster-autoscaler",
    "max cluster cpu, memory limit reached": "raise --cores-total and --memory-total of cluster-autoscaler",
}
"""Limits to raise, by the reasons of the event NotTriggerScaleUp."""

_REFUSED: Final = frozenset({"in backoff after failed scale-up", "scale-up execution failed"})


def growing_groups(text: str) -> str:
    """Return ` to group a, from 1 to 2 of at most 5 nodes` of the event TriggeredScaleUp; empty if it names none."""
    found = [
        f"{name}, from {before} to {after} of at most {most} nodes"
        for name, before, after, most in _GROWING.findall(text)[:_GROUPS_NAMED]
    ]
    return f" to group {' and '.join(found)}" if found else ""


def left_to_people(found: Explanation, now: str | None) -> Iterator[Suggestion]:
    """Yield what somebody has to change or look at before cluster-autoscaler adds a node for the pod."""
    newest = found.observed.autoscalers[0] if found.observed is not None and found.observed.autoscalers else None
    if newest is None or newest.component != CLUSTER_AUTOSCALER:
        return
    when = f"its event {newest.reason} at {to_the_second(newest.last_seen)}"
    if newest.reason == "TriggeredScaleUp":
        age = seconds_between(newest.last_seen, now)
        if age is not None and age > TIME_TO_ADD:
            yield _look(f"in {int(age // 60)} minutes no node has come{growing_groups(newest.text)} ({when})", found)
        return
    reasons = scale_up_reasons(newest.text)
    for each in reasons:
        if each.reason in _LIMITS:
            groups = f"{each.groups} {'group' if each.groups == 1 else 'groups'}: " if each.groups else ""
            text = f"{_LIMITS[each.reason]}: cluster-autoscaler says {groups}{each.reason} ({when})"
            yield stated(Change(kind=Kind.CHANGE_POOL, text=text))
    if any(each.reason in _REFUSED for each in reasons):
        yield _look(f"the cloud gave a node group no node, and cluster-autoscaler tries again later ({when})", found)


@lru_cache(maxsize=1)
def _newest_failure(around: Surroundings) -> Event | None:
    """Return the newest event of a failed scale-up, once for all pods that are explained."""
    failures = (
        each
        for each in around.dump.others
        if isinstance(each, Event)
        and (each.about.kind, each.about.name) == _STATUS
        and each.reason in _FAILURES
        and each.component == CLUSTER_AUTOSCALER
    )
    return max(failures, key=lambda each: each.last_seen, default=None)


def _look(fact: str, found: Explanation) -> Suggestion:
    """Ask whoever runs the cluster to look at the cloud, with the newest failure that cluster-autoscaler told of."""
    newest = _newest_failure(found.around) if found.around is not None else None
    said = (
        f"; {newest.reason} at {to_the_second(newest.last_seen)}: {quoted(newest.text)}" if newest is not None else ""
    )
    return stated(Change(kind=Kind.REPAIR, text=f"look at the node group in the cloud: {fact}{said}"))

"""The changes that help all pods of one cause: the ladder of a single pod, or what was replayed for each of several."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.queries.ladder import coming_node, ladder
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.pending_together import together as pending_together
from kubectl_sched.suggestions.change import Change, Kind, Rung
from kubectl_sched.suggestions.for_all import ForAll, suggest_for_all
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.verified import stated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.queries.explain import PodExplainer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.suggestions.suggestion import Suggestion

_HELPED = frozenset({Outcome.UNSCHEDULABLE, Outcome.GATED})


class GroupHelp:
    """Searches what helps groups of pods of one cluster; `now` is the moment that its state is of."""

    def __init__(self, explainer: PodExplainer, schedulers: ClusterSchedulers, now: str | None) -> None:
        self._explainer = explainer
        self._schedulers = schedulers
        self._now = now

    def of(
        self, explanations: Sequence[Explanation], missing: Mapping[NeverCreated, Explanation]
    ) -> tuple[tuple[ForAll, ...], Together | None]:
        """Return the suggestions, best advice first, and the pods that fit now placed one after the other."""
        if missing:
            return tuple(_for_missing(missing)), None
        results = [each.result for each in explanations]
        schedulers = {self._schedulers.scheduler(result.pod) for result in results}
        in_groups = any(isinstance(result, MemberResult) for result in results)
        is_open = any(result.unknown or result.pod.has_ended for result in results)
        if len(schedulers) != 1 or in_groups or is_open:
            return (), None
        if results[0].fits:
            return (), pending_together(results, schedulers.pop(), self._schedulers.profile)
        if len(explanations) == 1:
            return tuple(map(_for_one, self._explainer.suggestions(self._with_new_nodes(explanations[0])))), None
        return self._for_several(explanations), None

    def _with_new_nodes(self, found: Explanation) -> Explanation:
        return self._explainer.with_new_nodes(found)

    def _for_several(self, explanations: Sequence[Explanation]) -> tuple[ForAll, ...]:
        results = [each.result for each in explanations]
        first, outcome = explanations[0], results[0].outcome
        profile = self._schedulers.profile
        if any(each.sets_fields for each in explanations):
            return ()
        scheduler = self._schedulers.scheduler(first.pod)
        found = suggest_for_all(results, scheduler, profile, first.needs, self._now) if outcome in _HELPED else ()
        found = found or tuple(self._stated_of(first, len(explanations)))
        if outcome is Outcome.UNSCHEDULABLE:
            coming = coming_node(self._with_new_nodes(first), self._now)
            return found if coming is None else _while_it_comes(coming, found, len(results))
        return found

    def _stated_of(self, first: Explanation, pods: int) -> Iterator[ForAll]:
        """Yield what has to be there for the first pod, such as a scheduler or a claim, as all pods lack it."""
        for each in ladder(first, None, self._schedulers, self._now):
            if each.promise is Promise.STATED:
                yield ForAll(suggestion=each, pods=pods, per_node={})


def _for_one(suggestion: Suggestion) -> ForAll:
    is_placed = suggestion.promise is not Promise.STATED
    return ForAll(suggestion=suggestion, pods=1, per_node={suggestion.node: 1} if is_placed else {})


def _for_missing(missing: Mapping[NeverCreated, Explanation]) -> Iterator[ForAll]:
    """Yield what lets pods be created that never were: the same for all workloads of one cause."""
    pods = sum(each.missing or 1 for each in missing)
    needs = dict.fromkeys(need for explanation in missing.values() for need in explanation.needs)
    helps = Counter(each.obstacle.helps for each in missing if each.obstacle.helps)
    texts = [*(need.instruction for need in needs), *helps]
    for text in texts:
        commands = (command for each in missing if each.obstacle.helps == text for command in each.obstacle.commands)
        suggestion = stated(Change(kind=Kind.PROVIDE, text=text))
        yield ForAll(suggestion=structs.replace(suggestion, commands=tuple(commands)), pods=pods, per_node={})
    if not texts:
        owners = (gate.owner for explanation in missing.values() for gate in explanation.gates)
        for who in dict.fromkeys(owner.controller for owner in owners if owner is not None):
            change = Change(kind=Kind.WAIT, text=f"{who} starts it once it admits it")
            yield ForAll(suggestion=stated(change), pods=pods, per_node={})


def _while_it_comes(coming: Suggestion, found: tuple[ForAll, ...], pods: int) -> tuple[ForAll, ...]:
    """Put the node that an autoscaler adds first; while it comes nobody ends and no other node is bought."""
    kept = (each for each in found if each.suggestion.rung not in {Rung.PAY.value, Rung.ENDS.value})
    return (ForAll(suggestion=coming, pods=pods, per_node={}), *kept)

"""Changes that help all pods of a group: a suggestion for one of them, replayed for every one in the queue's order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation, owner_of
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.commands import steps
from kubectl_sched.suggestions.remedies.more_nodes import more_like
from kubectl_sched.suggestions.remedies.nothing_to_do import after
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.gates.gate import Need
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.suggestions.change import Change, Way
    from kubectl_sched.suggestions.suggestion import Suggestion

_MOST_NODES = 1000
"""No more new nodes than this are tried."""

_EXAMINED = 3
"""Of how many templates of a group suggestions are searched, as long as none places all pods."""


class ForAll(Record, frozen=True, kw_only=True):
    """A suggestion with what came of it for the pods of a group."""

    suggestion: Suggestion
    pods: int
    per_node: Mapping[str, int]
    """By node: how many of the pods land there, in the order in which they do."""

    @property
    def placed(self) -> int:
        """The number of pods that get a node."""
        return sum(self.per_node.values())

    @property
    def places_all(self) -> bool:
        """Report whether no pod of the group is left."""
        return self.placed == self.pods


def suggest_for_all(
    results: Sequence[ScheduleResult],
    scheduler: Scheduler,
    profile: str | None = None,
    needs: Sequence[Need] = (),
    now: str | None = None,
) -> tuple[ForAll, ...]:
    """Return the suggestions for the pods' common cause that place them all; if there is none, those that place some.

    They are searched for the pods that stand for most of the others. What is changed in a pod is changed in each, and
    is only offered for pods of several templates if it means the same in all of them. `profile` is one for all pods
    instead of their own; `needs` are what the controller of their gate has to be given first, `now` is the moment of
    the state.
    """
    judged = Counter(result.cycle for result in results)
    pods = [result.pod for result in results]
    is_one_template = len(judged) == 1 or len({(pod.namespace, owner_of(pod) or pod.key) for pod in pods}) == 1
    found: dict[tuple[str, ...], ForAll] = {}
    for first, _ in judged.most_common(_EXAMINED):
        if not isinstance(first, CycleResult):
            continue
        for suggestion in suggest(first, now=now):
            words = tuple(change.text for change in suggestion.changes)
            if words not in found and (is_one_template or all(map(_suits_any_template, suggestion.changes))):
                found[words] = _for_all(suggestion, pods, first, scheduler, profile)
        if any(each.places_all for each in found.values()):
            break
    helpful = [
        structs.replace(each, suggestion=after(each.suggestion, needs)) for each in found.values() if each.placed
    ]
    return tuple(each for each in helpful if each.places_all) or tuple(sorted(helpful, key=lambda each: -each.placed))


def _suits_any_template(change: Change) -> bool:
    return change.pod is None or change.kind in {Kind.WAIT, Kind.UNGATE, Kind.TOLERATE, Kind.TOLERATE_RESERVED}


def _for_all(
    suggestion: Suggestion, pods: Sequence[Pod], first: CycleResult, scheduler: Scheduler, profile: str | None
) -> ForAll:
    choices = Choices(profile=profile, requeue_victims=suggestion.promise is Promise.PREEMPTS)

    def placed_over(nodes: Snapshot) -> Mapping[str, int]:
        return _placed([_changed(pod, suggestion.changes) for pod in pods], nodes, scheduler, choices)

    base = Trial.of(first)
    copied = next((each.node_name for each in suggestion.changes if each.adds and each.kind is Kind.ADD_NODE), None)
    if copied is None:
        per_node = placed_over(base.changed(suggestion.changes).nodes)
        return ForAll(suggestion=_reaching_all(suggestion, pods, base), pods=len(pods), per_node=per_node)
    row = first.nodes.row_of[copied]
    tried: dict[int, tuple[Way, Mapping[str, int]]] = {}

    def is_enough(count: int) -> bool:
        way = more_like(first, row, count) or ()
        tried[count] = way, placed_over(base.changed(way).nodes)
        return sum(tried[count][1].values()) == len(pods)

    way, per_node = tried[_fewest(is_enough, min(len(pods), _MOST_NODES))]
    return ForAll(suggestion=structs.replace(suggestion, changes=way), pods=len(pods), per_node=per_node)


def _reaching_all(suggestion: Suggestion, pods: Sequence[Pod], base: Trial) -> Suggestion:
    """The suggestion with the commands for all pods, where each is changed by itself."""
    if all(change.pod is None for change in suggestion.changes):
        return suggestion
    trials = (structs.replace(base, pod=pod) for pod in pods)
    found = [steps(trial, trial.changed(suggestion.changes), suggestion.changes) for trial in trials]
    commands = dict.fromkeys(command for each, _ in found for command in each)
    manual = dict.fromkeys(each for _, by_hand in found for each in by_hand)
    return structs.replace(suggestion, commands=tuple(commands), manual=tuple(manual))


def _changed(pod: Pod, changes: Sequence[Change]) -> Pod:
    for change in changes:
        if change.pod is not None:
            pod = change.pod(pod)
    return pod


def _placed(pods: Sequence[Pod], nodes: Snapshot, scheduler: Scheduler, choices: Choices) -> Mapping[str, int]:
    """Return how many of the pods land on each node, one after the other in the queue's order."""
    simulation = Simulation(scheduler, choices)
    simulation.nodes = nodes
    simulation.enqueue(QueuedPod(pod=pod, owner=owner_of(pod)) for pod in pods)
    simulation.run()
    own = {pod.key for pod in pods}
    landed = (each.node for each in simulation.placements if each.node is not None and each.pod.key in own)
    return dict(Counter(landed))


def _fewest(is_enough: Callable[[int], bool], most: int) -> int:
    """Return the smallest number that is enough, or the greatest that may be tried: doubled, then halved between."""
    enough, too_few = 1, 0
    while not is_enough(enough):
        if enough >= most:
            return most
        too_few, enough = enough, min(enough * 2, most)
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough

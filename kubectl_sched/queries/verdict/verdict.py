"""The verdict on one pod: what decides about it, in one clause that every format shows behind the pod's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.diagnostics.last_message import is_of_another_plugin
from kubectl_sched.framework.plugin_error_boundary import is_unknown
from kubectl_sched.queries.unreadable_kinds import is_decided_without, kinds_in_words
from kubectl_sched.queries.verdict.constraint import as_a_whole, constraint_of
from kubectl_sched.queries.verdict.narrowing import narrowed
from kubectl_sched.queries.verdict.wording import LONGEST_NAME, first_short, node_name
from kubectl_sched.record import Record
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_sched.diagnostics.gates.gate import Gate
    from kubectl_sched.diagnostics.last_message import Said
    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.diagnostics.replay_against_history import History
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.scheduler.result import ScheduleResult

_A_BUG: Final = "not known, by a bug in kubectl-sched"


class PodFacts(Record, frozen=True, kw_only=True):
    """The facts about a pod that a verdict rests on, named as in an Explanation."""

    result: ScheduleResult
    stage: Stage | None = None
    history: History | None = None
    gates: tuple[Gate, ...] = ()
    is_ungated: bool = False
    """The replay was also done as the pod's controller would let it go."""

    missing: tuple[UnreadableKind, ...] = ()
    said: Said | None = None
    clauses: tuple[str, ...] = ()
    """A fact beside the cycle that explains its outcome or spoils the pod's start, the fullest clause first."""


def verdict_of(facts: PodFacts) -> str:
    """Return at most 100 characters without the pod's name: what decides about the pod, or where it goes."""
    result = facts.result
    if result.failure is not None:
        return first_short(f"{_A_BUG}: {result.failure}", _A_BUG)
    if facts.missing and (result.unread is not None or not is_decided_without(result, facts.missing)):
        return first_short(*_unread(facts))
    stage = facts.stage.name if facts.stage is not None else ""
    by_stage = () if result.outcome is Outcome.UNKNOWN else tuple(_BY_STAGE.get(stage, _no_stage)(facts))
    clauses = by_stage or _by_hand(facts) or (*_by_fact(facts), *_of_outcome(result))
    if facts.said is not None and not by_stage and result.outcome is Outcome.SCHEDULABLE:
        clauses = (*_by_fact(facts), *_fits(result, was_refused=True))
    return first_short(*clauses)


def cycle_verdict(result: ScheduleResult) -> str:
    """Return the verdict of the replay alone, whatever else is known of the pod."""
    return first_short(*_of_outcome(result))


def _of_outcome(result: ScheduleResult) -> Iterable[str]:
    return _BY_OUTCOME[result.outcome](result)


def _by_fact(facts: PodFacts) -> Iterable[str]:
    """Yield why the pod fits nowhere, or where it fits and what spoils its start there, by a fact beside the cycle."""
    result = facts.result
    if result.outcome is Outcome.UNSCHEDULABLE and not result.current_node:
        yield from facts.clauses
    elif result.outcome is Outcome.SCHEDULABLE and not result.current_node:
        best = result.best if result.nominated_first is None else (result.nominated_first,)
        where = _named(result, best[0]) if len(best) == 1 else f"{len(best):,} nodes"
        yield from (f"fits on {where}, but {clause}" for clause in facts.clauses)


def _no_stage(_: PodFacts) -> Iterable[str]:
    return ()


def _never_created(facts: PodFacts) -> Iterable[str]:
    if facts.is_ungated or any(gate.owner for gate in facts.gates):
        held = tuple(_held(facts))
        if held:
            return held
    return tuple(f"never created: {fact}" for fact in _evidence(facts)[:1]) or ("never created",)


def _refused(facts: PodFacts) -> Iterable[str]:
    told = (f"its kubelet refused it: {fact}" for fact in _evidence(facts)[:1])
    return (*told, f"its kubelet refused it: {facts.result.pod.status.reason}")


def _unserved(facts: PodFacts) -> Iterable[str]:
    who = _scheduler(facts.result)
    return (f"no scheduler serves schedulerName {who}", "no scheduler serves its schedulerName")


def _ended(facts: PodFacts) -> Iterable[str]:
    told = _evidence(facts)
    return (f"has ended: {'; '.join(told)}", *(f"has ended: {fact}" for fact in told[:1]), "has ended")


def _troubled(facts: PodFacts) -> Iterable[str]:
    """Yield first what keeps a bound pod from running, where anything does."""
    from kubectl_sched.diagnostics.pod_trouble import is_silent  # most questions are about pending pods

    result = facts.result
    node = _named(result, result.current_node or "")
    row = result.nodes.row_of.get(result.current_node or "")
    for trouble in (*facts.clauses, *(facts.stage.trouble if facts.stage is not None else ())):
        if _by_hand(facts):
            yield f"{trouble}; spec.nodeName was set by hand"
        elif row is None or not is_silent(result.nodes.node_objects[row]):
            yield f"{trouble}; scheduling is fine: it {_is_on(result)} {node}"
            yield f"{trouble}; scheduling is fine"
        yield trouble


def _evidence(facts: PodFacts) -> tuple[str, ...]:
    return facts.stage.evidence if facts.stage is not None else ()


def _held(facts: PodFacts) -> Iterable[str]:
    """Yield who holds the pod back, with the first of their own words."""
    for gate in facts.gates:
        if gate.owner is None:
            continue
        queue = gate.queue
        where = f" in LocalQueue {queue.local_queue}" if queue is not None and queue.local_queue else ""
        if queue is not None and queue.cluster_queue:
            where = f" in ClusterQueue {queue.cluster_queue}"
        who = f"held by {gate.owner.controller}{where}"
        told = [need.fact for need in gate.needs] + [each.message for each in gate.says if each.message]
        for fact in told[:1]:
            last = fact.rpartition(": ")[2]  # Kueue begins with the pod sets and ends with the reason
            yield from (f"{who}: {fact}", f"{who}: {last}", f"held by {gate.owner.controller}: {last}")
        yield who
        return
    names = [gate.gate for gate in facts.gates if gate.gate]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"gated: waits for {names[0]}{more} to be removed"
        yield f"gated: waits for {len(names)} gates to be removed"


def _by_hand(facts: PodFacts) -> tuple[str, ...]:
    """The clauses about a pod that was bound without a scheduler; none for others."""
    history, result = facts.history, facts.result
    if history is None or history.verdict != "NotScheduled":
        return ()
    how = "its kubelet placed it" if result.pod.is_static else "spec.nodeName was set by hand"
    node = _named(result, result.current_node or "")
    return (f"on {node} without a scheduler: {how}", f"no scheduler was asked: {how}")


def _scheduler(result: ScheduleResult) -> str:
    return result.pod.spec.scheduler_name or "(empty)"


def _is_on(result: ScheduleResult) -> str:
    return "runs on" if result.pod.status.phase == "Running" else "is bound to"


def _named(result: ScheduleResult, name: str) -> str:
    short = node_name(name, result.nodes)
    return short if len(short) <= LONGEST_NAME else "one node"


def _unprofiled(result: ScheduleResult) -> Iterable[str]:
    who = _scheduler(result)
    return (f"no scheduler profile has schedulerName {who}", "no scheduler profile has its schedulerName")


def _deleting(result: ScheduleResult) -> Iterable[str]:
    from kubectl_sched.diagnostics.pod_trouble import not_ready  # as above

    pod = result.pod
    since = to_the_second(pod.metadata.deletion_timestamp or "")
    row = result.nodes.row_of.get(result.current_node or "")
    lost = not_ready(result.nodes.node_objects[row]) if row is not None else None
    if lost is not None:
        yield f"is being deleted since {since}; its node {_named(result, result.current_node or '')} is not ready"
    if pod.metadata.finalizers and (row is None or pod.has_ended):
        yield f"is being deleted since {since}; finalizer {pod.metadata.finalizers[0]} holds it"
    yield from (f"is being deleted since {since}; kube-scheduler leaves it alone", "is being deleted")


def _gated(result: ScheduleResult) -> Iterable[str]:
    plugin = result.pre_enqueue.plugin
    said = result.pre_enqueue.message
    return (f"gated: {said}" if said else "", f"gated by {plugin}")


def _failing(result: ScheduleResult) -> Iterable[str]:
    yield from (f"the scheduling cycle fails: {end}" for end in _ends(result.error or ""))
    yield "the scheduling cycle fails"


def _ends(text: str) -> Iterable[str]:
    """Yield an error, then its ends, which name the fault itself; none is cut in its middle."""
    parts = text.rstrip(".").split(": ")
    yield from filter(None, (": ".join(parts[start:]) for start in range(len(parts))))


def _unread(facts: PodFacts) -> Iterable[str]:
    """Yield the clauses about kinds that are missing, and what the plugins say that need not look at them."""
    result, missing = facts.result, facts.missing
    first = missing[0]
    if first.kind == "Node":
        yield f"{first.text} (`{first.rule}` has them), so nothing can be judged"
        yield f"{first.text}, so nothing can be judged"
        return
    clause = kinds_in_words(missing) if len(missing) <= 2 else f"{first.text}, nor {len(missing) - 1} more kinds"
    if result.outcome is Outcome.UNSCHEDULABLE and is_decided_without(result, missing) and result.verdict is not None:
        yield from (f"{why}; {clause}" for why in constraint_of(result, narrowed(result)))
    needs = f", which {first.plugins[0]} needs"
    passing = int(result.verdict.where(is_unknown).sum()) if result.verdict is not None else 0
    nodes = f"; {passing:,} {'nodes pass' if passing > 1 else 'node passes'} all else" if passing else ""
    start = "not known" if result.outcome is Outcome.UNKNOWN else "not known here"
    yield f"{start}: {clause}{needs}{nodes}"
    yield f"{start}: {clause}{nodes}"
    yield f"{start}: {clause}"


def _unknown(result: ScheduleResult) -> Iterable[str]:
    return (f"not known: {result.left_open}" if result.left_open else "", "not known")


def _fits(result: ScheduleResult, *, was_refused: bool = False) -> Iterable[str]:
    """Yield the clauses about where the pod lands, the fullest first; of a bound pod, first where it is."""
    if result.nominated_first is not None:
        return (f"lands on {_named(result, result.nominated_first)}, to which it is nominated",)
    if result.current_node:
        return _bound(result, result.current_node)
    number, whole, best = len(result.feasible), len(result.nodes), result.best
    of = f"the only one of {whole:,} nodes that it fits" if number == 1 else f"the best of {number:,} nodes"
    where = f"{_named(result, best[0])}, {'the only node' if whole == 1 else of}"
    if len(best) > 1:
        where = f"one of {len(best):,} nodes, tied at {int(result.totals.max()):,} points"
    return (*_despite(result), f"{_now(result, was_refused=was_refused)}{where}", f"lands on {where}", f"lands on {of}")


def _bound(result: ScheduleResult, own: str) -> Iterable[str]:
    """Yield where a bound pod is, and where it would land now."""
    is_there = f"{'was bound to' if result.pod.has_ended else _is_on(result)} {_named(result, own)}"
    best, row = result.best, result.nodes.row_of.get(own)
    if own in best:
        again = f", one of {len(best):,} nodes that are tied now" if len(best) > 1 else " and would land there again"
        return (f"{is_there}{again}", is_there)
    now = _named(result, best[0]) if len(best) == 1 else f"one of {len(best):,} other nodes"
    if row is None:
        return (f"{is_there}, which is not there; it would land on {now}", f"{is_there}, which is not there")
    if row not in result.total_of:
        return (f"{is_there}, which would reject it now; it would land on {now}", f"{is_there}; now it would not fit")
    lead = int(result.totals.max()) - result.total_of[row]
    return (f"{is_there}; now it would land on {now}, {lead:,} points ahead", f"{is_there}; now elsewhere")


def _despite(result: ScheduleResult) -> Iterable[str]:
    """Yield what else the pod's scheduler said last, where no lack of room is what it waits for."""
    condition = result.pod.condition("PodScheduled")
    if condition is None or condition.status != "False" or result.pod.has_ended:
        return
    if condition.reason == "SchedulerError":
        yield from (f"fits now; its scheduler's last attempt failed: {end}" for end in _ends(condition.message))
        yield "fits now; its scheduler's last attempt failed"
    elif condition.reason == "Unschedulable" and is_of_another_plugin(condition.message):
        yield from (f"fits, but its scheduler said: {end}" for end in _ends(condition.message))
        yield "fits by kube-scheduler's own plugins; its scheduler has others"


def _now(result: ScheduleResult, *, was_refused: bool) -> str:
    """Say first that a pod which was refused fits now, and what it waits for."""
    condition = result.pod.condition("PodScheduled")
    is_told = condition is not None and condition.status == "False" and condition.reason == "Unschedulable"
    if (is_told or was_refused) and not result.pod.has_ended:
        return "fits now and waits for the next attempt: "
    return "lands on "


def _fits_nowhere(result: ScheduleResult) -> Iterable[str]:
    if not len(result.nodes):
        return ("fits nowhere: there are no nodes",)
    if isinstance(result, MemberResult) and len(result.feasible):
        kind, said = result.podgroup.info.kind, result.podgroup.status.message
        return (f"finds a node, but its {kind} does not fit: {said}", f"finds a node, but its {kind} does not fit")
    if not result.pre_filter.is_success:
        return as_a_whole(result)
    clauses = constraint_of(result, narrowed(result))
    found = result.post_filter
    preemption = found.nominated_node if found is not None else None
    if found is not None and preemption and not any(victim.is_static for victim in found.victims):
        ahead = f"preemption makes room on {_named(result, preemption)}"
        return (*(f"{clause}; {ahead}" for clause in clauses), *clauses)
    if result.current_node and not result.pod.has_ended:
        where = f"{_is_on(result)} {_named(result, result.current_node)}; would fit nowhere now"
        return (*(f"{where}: {clause}" for clause in clauses), where)
    return clauses


_BY_STAGE: Final[Mapping[str, Callable[[PodFacts], Iterable[str]]]] = {
    "NotCreated": _never_created,
    "RefusedByKubelet": _refused,
    "NoScheduler": _unserved,
    "Gated": _held,
    "Finished": _ended,
    "Running": _troubled,
    "Bound": _troubled,
}
"""Clauses for the stages in which something besides the cycle decides; none where the cycle does after all."""

_BY_OUTCOME: Final[Mapping[Outcome, Callable[[ScheduleResult], Iterable[str]]]] = {
    Outcome.NO_PROFILE: _unprofiled,
    Outcome.DELETING: _deleting,
    Outcome.GATED: _gated,
    Outcome.ERROR: _failing,
    Outcome.UNKNOWN: _unknown,
    Outcome.SCHEDULABLE: _fits,
    Outcome.UNSCHEDULABLE: _fits_nowhere,
}

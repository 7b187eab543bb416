"""Sentences about a group of pending pods: the cause, what helps all of them, what they wait for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import meaning
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.suggestion import Promise

if TYPE_CHECKING:
    from kubectl_sched.queries.triage import Group
    from kubectl_sched.suggestions.for_all import ForAll

_GATES = re.compile(r"waiting for scheduling gates: \[(?P<gates>.*)\]")
_EVENTS_SHOWN = 3
_VERDICTS_COMPARED = 16


def summary(group: Group) -> str:
    """`12 pods of 3 workloads: no gpu node has 1 GPU free; 2 more nodes like gpu-1 place all`."""
    return "; ".join(filter(None, (cause_of_pods(group), what_helps(group))))


def cause_of_pods(group: Group) -> str:
    """`12 pods of 3 workloads: no gpu node has 1 GPU free`."""
    return f"{pods_in_words(group)}: {cause_in_words(group)}"


def pods_in_words(group: Group) -> str:
    """`3 pods of 1 workload`; `2 pods` if nothing manages any of them."""
    if any(each.missing is None for each in group.missing):
        return count(len(group.workloads), "workload")
    is_managed = any(not name.startswith("Pod/") for _, name in group.workloads)
    pods = count(group.size, "pod")
    return f"{pods} of {count(len(group.workloads), 'workload')}" if is_managed else pods


def cause_in_words(group: Group) -> str:
    """Return the cause, short enough for a table's cell."""
    cause, outcome = group.cause, Outcome(group.cause.outcome)
    if group.missing:
        return _never_created(group)
    if is_refused(group) or (outcome is Outcome.UNSCHEDULABLE and not _is_of_podgroup(group)):
        return _verdicts(group)
    if outcome is Outcome.SCHEDULABLE and not cause.reasons:
        return _fits_now(group)
    if not cause.reasons or outcome in {Outcome.UNKNOWN, Outcome.DELETING}:
        return _without_reasons(group, outcome)
    first = group.explanations[0].result
    if isinstance(first, MemberResult) and _is_of_podgroup(group):
        return f"group {safe(podgroup_headline(first.podgroup))}"
    told = ", ".join(dict.fromkeys(_in_words(reason) for reason in cause.reasons))
    return f"the scheduling cycle fails: {told}" if outcome is Outcome.ERROR else told


def is_refused(group: Group) -> bool:
    """Report whether the pods are bound, and their kubelet refused them."""
    return any(pod.has_ended for pod in group.pods)


def fits_now(group: Group) -> bool:
    """Report whether the pods need nothing but kube-scheduler's next attempt, which is no failure."""
    is_as_judged = not group.missing and not is_refused(group) and not group.cause.reasons
    return is_as_judged and group.cause.outcome == Outcome.SCHEDULABLE.value


def _never_created(group: Group) -> str:
    missing, explanation = next(iter(group.missing.items()))
    if explanation.gates:
        says = (each.message for gate in explanation.gates for each in gate.says if each.message)
        said, verdict = safe(next(says, "")), safe(explanation.verdict)
        return verdict if not said or said in verdict else f"{verdict}, which says: {said}"
    told = (missing.obstacle.clause, missing.obstacle.detail if len(group.missing) == 1 else "")
    return f"never created: {safe('; '.join(filter(None, told)))}"


def _without_reasons(group: Group, outcome: Outcome) -> str:
    result = group.explanations[0].result
    if outcome is Outcome.UNKNOWN:
        return f"not judged: {result.left_open or 'not everything that decides is known'}"
    if outcome is Outcome.DELETING:
        return "being deleted"
    return "rejected without a reason" if len(result.nodes) else "there are no nodes"


def _is_of_podgroup(group: Group) -> bool:
    first = group.explanations[0].result
    return isinstance(first, MemberResult) and first.pre_enqueue.is_success


def _verdicts(group: Group) -> str:
    """Return the verdict of most pods, and that others ask for other amounts or are for other nodes."""
    first, *others = group.judged
    verdict = safe(first.verdict)
    if not others or all(each.verdict == first.verdict for each in others[:_VERDICTS_COMPARED]):
        return verdict
    if first.pod.is_daemon:
        return f"{verdict} (and {count(len(others), 'more node')})"
    is_short = group.cause.plugins == ("NodeResourcesFit",)
    return f"{verdict} ({'some ask for other amounts' if is_short else 'some differ in detail'})"


def _fits_now(group: Group) -> str:
    pods = group.size
    if pods == 1:
        return "fits now"
    if group.together is None or group.together.placed == pods:
        return "all fit now"
    return f"each fits now, together {group.together.placed:,} of them"


def _in_words(reason: str) -> str:
    gates = _GATES.fullmatch(reason)
    if gates is not None:
        return f"gated by {safe(gates['gates']).replace(' ', ', ')}"
    known = meaning(reason)
    title = known.title if known is not None else ""
    # A place in the spelling, such as a claim's name, tells more than the title.
    return f"{title[:1].lower()}{title[1:]}" if title and '"' not in reason else safe(reason)


def what_helps(group: Group) -> str:
    """Return the first advice for the group and how many of its pods it places; empty if none was found."""
    return help_in_words(group.suggestions[0]) if group.suggestions else ""


def help_in_words(found: ForAll) -> str:
    """`2 more nodes like gpu-1 place all`, `each would fit if it tolerated a=b:NoSchedule`."""
    suggestion = found.suggestion
    text = safe(" and ".join(change.text for change in suggestion.changes))
    if suggestion.promise is Promise.STATED:
        return f"nothing to do: {text}" if suggestion.comes_by_itself else text
    if suggestion.comes_by_itself:
        preempts = suggestion.promise is Promise.PREEMPTS
        if preempts and not found.places_all:
            return f"preemption makes room for {_whom(found)}, and not for the others"
        does = f"preemption makes room for {_whom(found)}" if preempts else f"{_who(found)} would fit {text}"
        return f"nothing to do: {does}"
    if suggestion.adds_nodes:
        verb = "places" if text.startswith("with one ") else "place"
        return f"{text.removeprefix('with ')} {verb} {_whom(found)}"
    if suggestion.promise is Promise.PREEMPTS:
        return f"{_who(found)} would preempt others {text}"
    return f"{_who(found)} would fit {text}"


def _whom(found: ForAll) -> str:
    if found.pods == 1:
        return "it"
    return "all" if found.places_all else f"{found.placed:,} of {found.pods:,}"


def _who(found: ForAll) -> str:
    if found.pods == 1:
        return "it"
    return "each" if found.places_all else f"{found.placed:,} of {found.pods:,}"


def waits_for(group: Group) -> str | None:
    """Return what the pods of the group wait for, with how many of them where not all do; None if for nothing."""
    total = group.size
    told = [
        safe(what) if number == total else f"{number:,} of {total:,}: {safe(what)}"
        for what, number in group.waiting_for
    ]
    return "; ".join(told[:_EVENTS_SHOWN]) or None

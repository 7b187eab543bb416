"""Sentences about a group of pending pods: the cause, what helps all of them, what they wait for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import meaning
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.change import Promise
from kubectl_sched.suggestions.nearest_nodes import last_rows

if TYPE_CHECKING:
    from kubectl_sched.queries.triage import Group
    from kubectl_sched.suggestions.for_all import ForAll

_INSUFFICIENT = "Insufficient "
_UNTOLERATED = re.compile(r"node\(s\) had untolerated taint ?\{(?P<key>[^:}]*): (?P<value>[^}]*)\}")
_GATES = re.compile(r"waiting for scheduling gates: \[(?P<gates>.*)\]")
_REASONS_SHOWN = 3


def summary(group: Group) -> str:
    """`12 pods of 3 workloads: no GPU free (nvidia.com/gpu); 2 more nodes like gpu-1 place all`."""
    helps = what_helps(group)
    return "; ".join(filter(None, (f"{pods_in_words(group)}: {cause_in_words(group)}", helps)))


def pods_in_words(group: Group) -> str:
    """`3 pods of 1 workload`; `2 pods` if nothing manages any of them."""
    pods = count(len(group.explanations), "pod")
    is_managed = any(not name.startswith("Pod/") for _, name in group.workloads)
    return f"{pods} of {count(len(group.workloads), 'workload')}" if is_managed else pods


def cause_in_words(group: Group) -> str:
    """Return the cause, short enough for a table's cell."""
    cause, outcome = group.cause, Outcome(group.cause.outcome)
    if outcome is Outcome.SCHEDULABLE and not cause.reasons:
        return _fits_now(group)
    if outcome is Outcome.UNKNOWN:
        return f"not judged: {group.explanations[0].result.left_open or 'not everything that decides is known'}"
    if outcome is Outcome.DELETING:
        return "being deleted"
    if not cause.reasons:
        return "there are no nodes" if not len(group.explanations[0].result.nodes) else "rejected without a reason"
    first = group.explanations[0].result
    if isinstance(first, MemberResult) and first.pre_enqueue.is_success:
        return f"group {safe(podgroup_headline(first.podgroup))}"
    said = list(dict.fromkeys(_in_words(group, reason) for reason in cause.reasons))
    more = f" and {len(said) - _REASONS_SHOWN} more reasons" if len(said) > _REASONS_SHOWN else ""
    told = ", ".join(said[:_REASONS_SHOWN])
    return f"the scheduling cycle fails: {told}" if outcome is Outcome.ERROR else f"{told}{more}"


def _fits_now(group: Group) -> str:
    pods = len(group.explanations)
    if pods == 1:
        return "fits now"
    if group.together is None or group.together.placed == pods:
        return "all fit now"
    return f"each fits now, together {group.together.placed:,} of them"


def _in_words(group: Group, reason: str) -> str:
    if reason.startswith(_INSUFFICIENT):
        return _short_of(group, reason.removeprefix(_INSUFFICIENT))
    taint, gates = _UNTOLERATED.fullmatch(reason), _GATES.fullmatch(reason)
    if taint is not None:
        return f"untolerated taint {safe(taint['key'])}{'=' if taint['value'] else ''}{safe(taint['value'])}"
    if gates is not None:
        return f"gated by {safe(gates['gates']).replace(' ', ', ')}"
    known = meaning(reason)
    title = known.title if known is not None else ""
    # A place in the spelling, such as a claim's name, tells more than the title.
    return f"{title[:1].lower()}{title[1:]}" if title and '"' not in reason else safe(reason)


def _short_of(group: Group, resource: str) -> str:
    """`no GPU free (nvidia.com/gpu)`, `not enough cpu free`."""
    result = group.explanations[0].result
    rows = last_rows(result)
    free = result.nodes.allocatable(resource)[rows] - result.nodes.requested(resource)[rows]
    name = safe(resource)
    if resource.endswith("/gpu"):
        return f"{'not enough GPUs' if (free > 0).any() else 'no GPU'} free ({name})"
    return f"{'not enough' if (free > 0).any() else 'no'} {name} free"


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
    total = len(group.explanations)
    told = [
        safe(what) if number == total else f"{number:,} of {total:,}: {safe(what)}"
        for what, number in group.waiting_for
    ]
    return "; ".join(told[:_REASONS_SHOWN]) or None

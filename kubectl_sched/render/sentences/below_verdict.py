"""Sentences below the verdict on a pod: what it does not say itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.queries.unreadable_kinds import is_decided_without
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.headline import (
    decision,
    hypothetical,
    is_held,
    no_scheduler_asked,
    of_gates,
    ungated_words,
    why_as_a_whole,
)
from kubectl_sched.render.sentences.status_sentences import stage_words
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult

_SAID_IN_THE_VERDICT = frozenset({"Finished", "NoScheduler", "NotCreated", "RefusedByKubelet"})
"""Stages whose evidence a verdict begins with."""

_HYPOTHETICAL = frozenset({Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE})


def below_verdict(explanation: Explanation) -> str:
    """Return sentences that say more than the verdict; empty where there is no more to say."""
    told = (each.rstrip(".") for each in _more(explanation) if each)
    return ". ".join(map(_capitalized, told))


def _capitalized(sentence: str) -> str:
    """Return the sentence with a capital, unless it begins with a name in camelCase."""
    first = sentence.partition(" ")[0]
    return f"{sentence[:1].upper()}{sentence[1:]}" if first == first.lower() else sentence


def _more(explanation: Explanation) -> Iterator[str]:
    result = explanation.result
    if result.failure is not None or result.unknown or isinstance(result, MemberResult):
        yield "" if explanation.missing else f"it {decision(result).removeprefix(safe(result.pod.key)).strip()}"
        return
    unasked = no_scheduler_asked(explanation)
    if unasked is not None:
        yield unasked
        yield "; ".join(_evidence_beside(explanation))
        yield f"if a scheduler were asked, {hypothetical(result)}"
        return
    if is_held(explanation):
        yield _unless_said(of_gates(explanation), explanation)
        yield ungated_words(explanation)
        return
    stage = explanation.stage
    if stage is not None and stage.name in _SAID_IN_THE_VERDICT:
        yield "; ".join(_evidence_beside(explanation))
    else:
        yield stage_words(explanation) or ""
    if (
        stage is not None
        and stage.name != "NotCreated"
        and result.outcome in _HYPOTHETICAL
        and stage_words(explanation)
    ):
        yield f"{'if one served it,' if stage.name == 'NoScheduler' else 'now'} {hypothetical(result)}"
    yield _decided(explanation, result)


def _decided(explanation: Explanation, result: ScheduleResult) -> str:
    """Return what the replay adds to the verdict."""
    match result.outcome:
        case Outcome.DELETING:
            since = to_the_second(result.pod.metadata.deletion_timestamp or "")
            return ". ".join((*_end_of(result), f"were it not being deleted since {since}, {hypothetical(result)}"))
        case Outcome.GATED if explanation.stage is not None and explanation.stage.name == "NotCreated":
            return f"once it is resumed, {hypothetical(result)}"
        case Outcome.GATED:
            return f"without its gates {hypothetical(result)}"
        case Outcome.ERROR | Outcome.UNKNOWN:
            return _besides_its_end(safe(result.error or result.left_open or ""), explanation)
        case Outcome.UNSCHEDULABLE if not result.pre_filter.is_success:
            return _rejected_as_a_whole(explanation, result)
    return ""


def _rejected_as_a_whole(explanation: Explanation, result: ScheduleResult) -> str:
    """Return which plugin rejects the pod, and why; nothing where its words speak of objects that were not read."""
    why = why_as_a_whole(result)
    if why == safe(result.pre_filter.message) and not is_decided_without(result, explanation.missing):
        return ""
    said = _unless_said(why, explanation)
    return f"{result.pre_filter.plugin} rejects the pod as a whole{f': {said}' if said else ''}"


def _end_of(result: ScheduleResult) -> Iterator[str]:
    """Yield what a pod that is being deleted waits for, where its node is not ready."""
    from kubectl_sched.diagnostics.pod_trouble import not_ready  # few pods are being deleted

    row = result.nodes.row_of.get(result.current_node or "")
    if row is not None and not_ready(result.nodes.node_objects[row]) is not None:
        node = safe(result.nodes.names[row])
        yield f"it ends once the kubelet of {node} answers, or Node {node} is deleted, as its machine is gone"


def _besides_its_end(text: str, explanation: Explanation) -> str:
    """Return an error without the end that the verdict quotes."""
    end = explanation.verdict.partition(": ")[2]
    return text.removesuffix(end).rstrip(": ") if end else text


def _evidence_beside(explanation: Explanation) -> Iterator[str]:
    """Yield the facts of the pod's stage that the verdict does not say."""
    evidence = explanation.stage.evidence if explanation.stage is not None else ()
    yield from filter(None, (_unless_said(safe(each), explanation) for each in evidence))


def _unless_said(text: str, explanation: Explanation) -> str:
    return "" if text in explanation.verdict else text

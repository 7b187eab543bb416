"""A triage as data, as the contract has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.output import API_VERSION
from kubectl_sched.record import plain
from kubectl_sched.render.answers.explanation_data import suggestion_data
from kubectl_sched.render.sentences.group_sentences import help_in_words, summary, waits_for

if TYPE_CHECKING:
    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.suggestions.for_all import ForAll


def triage_data(triage: Triage) -> dict[str, Any]:
    """Return the `Triage`."""
    refused = (each.text for each in triage.refusals)
    return {
        "apiVersion": API_VERSION,
        "kind": "Triage",
        "groups": [_group(each) for each in triage.groups],
        "pending": triage.pending,
        "refusingNodes": plain(triage.refusals),
        "warnings": list(dict.fromkeys((*refused, *triage.notes, *triage.warnings))),
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "cause": plain(group.cause),
        "summary": summary(group),
        "pods": [{"namespace": pod.namespace, "name": pod.name} for pod in group.pods],
        "workloads": [name for _, name in group.workloads],
        "oldest": group.oldest,
        "suggestions": [_for_all(each) for each in group.suggestions or ()],
        "waitingFor": waits_for(group),
    }


def _for_all(found: ForAll) -> dict[str, Any]:
    """The suggestion, with what it does for the pods of the group."""
    placed = {"placed": found.placed, "pods": found.pods, "perNode": dict(found.per_node)}
    return {**suggestion_data(found.suggestion), "summary": help_in_words(found), **placed}

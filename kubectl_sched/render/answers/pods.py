"""The answer about several pods as a Document: a line each, those of one owner and one answer together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.diagnostics.warnings import NOT_SCORED
from kubectl_sched.queries.verdict.verdict import cycle_verdict
from kubectl_sched.render.document import Document, Listing, Notes, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.sentences.gate_sentences import lines_of_jobs
from kubectl_sched.render.sentences.headline import decision, headline, is_held, landing, unjudged
from kubectl_sched.render.sentences.node_sentences import why_not
from kubectl_sched.render.sentences.search_start_sentence import sampling_notes
from kubectl_sched.render.sentences.status_sentences import stage_words
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.render.table import Column, Table
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.shell_commands import explain_pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explain import ExplainAnswer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.pending_together import Together

_WARNINGS_SHOWN = 5
_MARKED_SHOWN = 5
_HELP_WITH_MANIFESTS = "what would help: kubectl sched explain -f FILE for one workload"


def pods_document(answer: ExplainAnswer, display: Display) -> Document:
    """Return a line for each pod or group of pods, and in full also the whole answer about each."""
    explanations = answer.explanations
    if display.node is not None and explanations and not display.is_page:
        return _on_one_node(answer, display.node)
    groups = [group[0] for group in grouped(explanations)] if display.is_page else explanations
    shares = len(groups) if display.is_page else 1
    whole = replace(display, parts_of_page=shares)
    details = tuple(_detail(each, whole, explanations) for each in groups) if display.in_full else ()
    return Document(
        verdict=Verdict(text=in_sum(explanations, answer.together) if explanations else answer.nothing),
        parts=tuple(_list(answer, display)) if explanations and not display.is_wide else (),
        notes=notes_of(
            (*_missing_kinds(explanations), *answer.changing, *answer.warnings),
            (*pod_notes(explanations), *sampling_notes(explanations), *answer.notes),
        ),
        facts=_facts(explanations),
        details=details,
        is_index=True,
        heading="Pods",
    )


def _detail(explanation: Explanation, display: Display, all_of_them: Sequence[Explanation]) -> Document:
    """Return the whole answer about one of them; on a page also for the others of its owner with the same answer."""
    from kubectl_sched.render.answers.explain import pod_document  # it is needed in full only

    found = pod_document(explanation, display)
    if not display.is_page:
        return replace(found, notes=Notes())
    same = next(group for group in grouped(all_of_them) if group[0] is explanation)
    if len(same) == 1:
        return found
    names = ", ".join(each.pod.key for each in same[1:])
    told = Sentence(text=f"It is so for {count(len(same) - 1, 'more pod')} of the same owner: {names}.")
    return replace(found, parts=(told, *found.parts))


def _list(answer: ExplainAnswer, display: Display) -> Iterator[Said]:
    explanations = answer.explanations
    yield Listing(tables=(pods_table(explanations),), caption="What becomes of each pod", gap=True)
    helped = [each for each in explanations if each.suggestions]
    if answer.is_of_manifests:
        yield from _marks(explanations) if not display.in_full else ()
    elif len(helped) == 1:
        yield from _what_helps(helped[0])
    else:
        helped = []
    if (rejected := _first_without_help(explanations, helped)) is not None:
        yield Sentence(text=_where_help_is(answer, rejected.pod), tone="dim", rank=3, gap=True)
    for number, line in enumerate(lines_of_jobs(explanations)):
        yield Sentence(text=line, rank=4, gap=not number)


def _what_helps(explanation: Explanation) -> Iterator[Said]:
    """Yield the facts that no plugin reads, and the ladder, of a pod of which it was searched what would help."""
    from kubectl_sched.render.answers.explain import finding_parts, ladder  # most lists tell of no help

    yield from finding_parts(explanation.findings, in_full=False)
    yield ladder(explanation.suggestions, in_full=False)


def _first_without_help(explanations: Sequence[Explanation], helped: Sequence[Explanation]) -> Explanation | None:
    """Return the first pod that fits nowhere, where it is not said what helps pods of its owner."""
    owners = {_owner(each.pod) for each in helped}
    rejected = (each for each in explanations if each.result.outcome is Outcome.UNSCHEDULABLE)
    return next((each for each in rejected if _owner(each.pod) not in owners), None)


def _where_help_is(answer: ExplainAnswer, pod: Pod) -> str:
    if answer.is_of_manifests:
        return _HELP_WITH_MANIFESTS
    one = explain_pod(pod.metadata.namespace, pod.metadata.name) or "kubectl sched explain pod NAME"
    return f"what would help: {one} for one, kubectl sched for all"


def _marks(explanations: Sequence[Explanation]) -> Iterator[Said]:
    """Yield the lines of the manifests that keep pods out, of the first pods that have any."""
    from kubectl_sched.render.answers.explain import snippet  # pods of a cluster have none

    marked = [each for each in explanations if each.marks or each.suggestions]
    for each in marked[:_MARKED_SHOWN]:
        yield Sentence(text=verdict_line(each), tone="strong", rank=4, gap=True)
        yield from map(snippet, each.marks)
        if each.suggestions and not each.marks:
            yield Sentence(text=f"help: {each.suggestions[0].advice}", indent=2, rank=4)
    if len(marked) > _MARKED_SHOWN:
        more = count(len(marked) - _MARKED_SHOWN, "more pod")
        yield Sentence(text=f"{more} with marked lines: -o wide or -o json", rank=4, gap=True)


def _facts(explanations: Sequence[Explanation]) -> tuple[tuple[str, str], ...]:
    results = [each.result for each in explanations]
    if not results:
        return ()
    names = dict.fromkeys(
        result.framework.profile.scheduler_name for result in results if isinstance(result, CycleResult)
    )
    return (
        ("Replayed as", f"kube-scheduler {results[0].kubernetes_patch or results[0].kubernetes_version}"),
        *((("Profile", ", ".join(names)),) if names else ()),
        ("Nodes", f"{len(results[0].nodes):,}"),
    )


def _on_one_node(answer: ExplainAnswer, node: str) -> Document:
    """Return the report of one node for each pod."""
    from kubectl_sched.render.answers.explain_node import node_document  # rarely asked for

    one = answer.is_about_one_pod
    reports = tuple(node_document(each, node, one=one) for each in answer.explanations)
    changing = (note for each in answer.explanations for note in each.changing)
    premises = (*(note for each in answer.explanations for note in each.warnings), *answer.notes)
    notes = notes_of((*changing, *answer.changing, *answer.warnings), premises)
    if one:
        return replace(reports[0], notes=notes)
    return Document(
        verdict=Verdict(text=""),
        notes=notes,
        facts=_facts(answer.explanations),
        details=reports,
        heading="Pods",
    )


def pods_table(explanations: Sequence[Explanation]) -> Table[list[Explanation]]:
    """The pods, those of one owner and one answer together."""
    groups = grouped(explanations)
    return Table(
        columns=(
            Column(heading="Pod", cell=group_name, kind="name"),
            Column(heading="Outcome", cell=lambda group: _outcome(group[0])),
            Column(heading="Why", cell=lambda group: why(group[0]), kind="words"),
        ),
        rows=groups,
    )


def _outcome(explanation: Explanation) -> str:
    return "Finished" if explanation.pod.has_ended else explanation.result.outcome.value


def in_sum(explanations: Sequence[Explanation], together: Together | None) -> str:
    """Count the pods that would land on their own, those that fit together, and those that are served before.

    Where pods of a workload are pending, or were never created, that is said instead, with the reason if there is one.
    """
    missing = [each.stage.evidence[0] for each in explanations if each.stage and each.stage.name == "NotCreated"]
    created = [each for each in explanations if each.stage is None or each.stage.name != "NotCreated"]
    pending = [each for each in created if not (each.result.current_node or each.pod.has_ended)]
    if together is not None or not (missing or pending):
        fitting = sum(each.result.fits for each in explanations)
        alone = f"{count(len(explanations), 'pod')}, each on its own against the same state: {fitting:,} would land."
        return f"{alone}{_together(together)}"
    clauses = list(dict.fromkeys(missing))
    if pending:
        reasons = {why(each) for each in pending}
        some = f"{len(pending):,} of {count(len(created), 'pod')} {'is' if len(pending) == 1 else 'are'}"
        are = f"{some if len(pending) < len(created) else f'all {len(pending):,} pods are'} pending"
        fitting = sum(each.result.fits for each in pending)
        clauses.append(f"{are}: {reasons.pop()}" if len(reasons) == 1 else f"{are}; {fitting:,} would land now")
    return f"{safe('; '.join(clauses)).rstrip('.')}."


def _together(together: Together | None) -> str:
    if together is None:
        return ""
    told = f" Together {together.placed:,} of {together.pods:,} {'fits' if together.placed == 1 else 'fit'}."
    if together.ahead:
        told += (
            f" {count(together.ahead, 'other pod')} of higher priority {'is' if together.ahead == 1 else 'are'} ahead."
        )
    return told


def pod_notes(explanations: Sequence[Explanation]) -> Iterator[str]:
    """Yield the warnings, each with the pods that it is about."""
    about: dict[str, list[Explanation]] = {}
    for explanation in explanations:
        told = {NOT_SCORED, *_missing_kinds([explanation])}  # a list shows no points
        for warning in (each for each in explanation.notes if each not in told):
            about.setdefault(warning, []).append(explanation)
    for warning, concerned in list(about.items())[:_WARNINGS_SHOWN]:
        whom = concerned[0].pod.key if len(concerned) == 1 else count(len(concerned), "pod")
        yield f"{whom}: {warning}"
    if len(about) > _WARNINGS_SHOWN:
        yield f"{len(about) - _WARNINGS_SHOWN:,} more notes are in -o json"


def _missing_kinds(explanations: Sequence[Explanation]) -> Iterator[str]:
    """Yield what answers rest on and was not read."""
    return (each.sentence for explanation in explanations for each in explanation.missing)


def group_name(group: Sequence[Explanation]) -> str:
    """The pod, or what manages them and how many they are."""
    return group[0].pod.key if len(group) == 1 else f"{_owner(group[0].pod)} \N{MULTIPLICATION SIGN}{len(group)}"


def grouped(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """Pods of one owner with the same answer, in the order of each group's first."""
    groups: dict[tuple[str, str], list[Explanation]] = {}
    for explanation in explanations:
        pod = explanation.pod
        own = pod.key if pod.metadata.controller is None else _owner(pod)
        groups.setdefault((own, why(explanation)), []).append(explanation)
    return list(groups.values())


def _owner(pod: Pod) -> str:
    """`namespace/name` of what manages the pod: its Deployment rather than the ReplicaSet, where labels tell."""
    controller = pod.metadata.controller
    if controller is None:
        return pod.key
    template_hash = pod.metadata.labels.get("pod-template-hash")
    name = controller.name.removesuffix(f"-{template_hash}") if template_hash else controller.name
    return f"{pod.metadata.namespace}/{name}"


def why(explanation: Explanation) -> str:
    """Return the headline without what the other columns hold; what leaves no node over comes first."""
    result = explanation.result
    if result.unknown:
        return _without_name(decision(result), result)
    target = _daemon_target(explanation.result)
    return _why(explanation) if target is None else f"for {safe(target)}: {_why_there(explanation, target)}"


def _why_there(explanation: Explanation, target: str) -> str:
    result = explanation.result
    row = result.nodes.row_of.get(target)
    if row is None:
        return "there is no such node"
    return _why(explanation) if result.fits or result.current_node else why_not(result, row)


def _why(explanation: Explanation) -> str:
    words, history, result = stage_words(explanation), explanation.history, explanation.result
    if explanation.pod.has_ended:
        return safe(explanation.verdict)
    if history is not None and history.verdict in {"Different", "WouldReject"}:
        return "; ".join(filter(None, (safe(history.message), words)))
    if words is not None and not is_held(explanation):
        return words
    if is_held(explanation) or (explanation.stage is not None and explanation.stage.name == "NotCreated"):
        return _without_name(headline(explanation), result)
    return safe(explanation.verdict) if explanation.missing and not result.fits else _why_decided(result.cycle)


@lru_cache(maxsize=64)
def _why_decided(result: ScheduleResult) -> str:
    """Return the reason for the decision alone, once for all equal pods."""
    if result.fits and len(result.best) > 1 and result.nominated_first is None:
        return f"tied between {listed(result.best)}"
    if result.outcome is Outcome.UNSCHEDULABLE and not isinstance(result, MemberResult):
        return safe(cycle_verdict(result))
    if result.outcome is Outcome.SCHEDULABLE:
        return "; ".join(filter(None, (landing(result)[1], unjudged(result))))
    return _without_name(decision(result), result)


def _without_name(sentence: str, result: ScheduleResult) -> str:
    return sentence.removeprefix(safe(result.pod.key)).strip()


def _daemon_target(result: ScheduleResult) -> str | None:
    """The node that the DaemonSet controller made the pod for, None for pods of others."""
    names = result.pre_filter_nodes
    return next(iter(names)) if result.pod.is_daemon and names and len(names) == 1 else None

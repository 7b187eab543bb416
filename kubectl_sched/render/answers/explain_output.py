"""The answer of `explain` in each form, and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_hint
from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.search_start_sentence import sampling_notes
from kubectl_sched.render.show import Shown
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.apiserver.refused_manifest import RefusedError, UnknownFieldError
    from kubectl_sched.queries.explain import ExplainAnswer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.document import Document
    from kubectl_sched.render.schemas import explained_pods as schema
    from kubectl_sched.snapshot import Snapshot

_ERROR_WIDTH = 100
"""The columns of what stands below an error."""


def shown_explanations(answer: ExplainAnswer, display: Display) -> Shown:
    """Return the answer of `explain` in each form. Raises SchedError for a --node that there is not."""
    check_node(answer.explanations, display)
    notes = answer.notes
    if not answer.is_about_one_pod:
        notes = (*sampling_notes(answer.explanations), *notes)
        answer = replace(answer, notes=notes)
    return Shown(
        document=lambda display: explain_document(replace(answer, warnings=()), display),
        data=lambda: _data(answer, display),
        names=lambda: (f"node/{name}" for each in answer.explanations for name in each.result.best),
        remarks=lambda: notes,
        warnings=answer.warnings,
    )


def check_node(explanations: Sequence[Explanation], display: Display) -> None:
    """Raises SchedError for a --node that there is not."""
    if display.node is not None:
        for each in explanations:
            if each.result.failure is None:
                check_is_node(display.node, each.result.nodes)


def check_is_node(name: str, nodes: Snapshot) -> None:
    """Raises SchedError for a node that there is not."""
    if name not in nodes.row_of:
        unread = "" if len(nodes) else ": no nodes at all were read (`kubectl get nodes -o json` has them)"
        raise SchedError(f"there is no node {name}{unread or near_hint(name, nodes.names)}")


def explain_document(answer: ExplainAnswer, display: Display) -> Document:
    """Return the answer about one pod, about a node for each pod, or a list of pods."""
    if answer.is_about_one_pod and (display.node is None or display.is_page):
        from kubectl_sched.render.answers.explain import pod_document  # data and names need none

        return pod_document(answer.explanations[0], display, answer.notes, (*answer.changing, *answer.warnings))
    from kubectl_sched.render.answers.pods import pods_document  # one pod needs none

    return pods_document(answer, display)


def _data(answer: ExplainAnswer, display: Display) -> dict[str, Any]:
    """Return one explanation with the notes among its warnings, or a list of them with the notes as its own warnings.

    The items of a list are an iterator, so that only one is in memory at a time.
    """
    from kubectl_sched.render.answers.explanation_data import explanation_data, explanation_list

    notes = (*answer.notes, *answer.warnings)

    def data_of(explanation: Explanation) -> dict[str, Any]:
        wanted = explanation.result.nodes.row_of.get(display.node or "")
        return explanation_data(
            explanation,
            headline(explanation),
            evidence=lambda row: display.evidence or row == wanted,
            with_nodes=not display.brief,
        )

    if answer.is_about_one_pod:
        data = data_of(answer.explanations[0])
        return {**data, "warnings": [*data["warnings"], *notes]}
    joint = answer.together
    together: schema.Together | None = None
    if joint is not None:
        together = {"pods": joint.pods, "placed": joint.placed, "higherPriorityAhead": joint.ahead}
    return explanation_list(map(data_of, answer.explanations), notes, together)


def exit_code(explanations: Sequence[Explanation], display: Display) -> int:
    """0 where every pod fits (with --node: fits there), 1 where one does not, 3 and 4 where it is not known.

    3 stands for an ended budget, 4 for a bug.
    """
    results = [each.result for each in explanations]
    if any(result.has_met_a_bug for result in results):
        return EXIT_CODE
    if any(result.outcome is Outcome.UNKNOWN for result in results):
        return UNKNOWN_EXIT_CODE
    if display.node is None:
        return 0 if all(result.fits for result in results) else 1
    fitting = (
        result.fits and result.verdict is not None and result.verdict[result.nodes.row_of[display.node]].is_success
        for result in results
    )
    return 0 if all(fitting) else 1


def refused_lines(error: RefusedError | UnknownFieldError, paths: Sequence[str], namespace: str) -> tuple[str, ...]:
    """Return the line of a manifest with a mark under the field that is refused; nothing where none sets it."""
    from kubectl_sched.queries.verdict.manifest_mark import mark_of_error
    from kubectl_sched.render.answers.explain import snippet
    from kubectl_sched.render.writers.snippet_lines import snippet_lines

    mark = mark_of_error(error, paths, namespace)
    return tuple(snippet_lines(snippet(mark), _ERROR_WIDTH)) if mark is not None else ()

"""Prints an answer of `explain` in the format that was asked for, and returns the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_hint
from kubectl_sched.output import write_page
from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.render.display import PAGES
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.search_start_sentence import sampling_notes
from kubectl_sched.render.writers.data import warn, write_data, write_data_list, write_names
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.display import Display
    from kubectl_sched.snapshot import Snapshot


def show(answer: Answer, display: Display) -> int:
    """Print the answer on stdout and return the exit code.

    The notes are part of every output. Data and pages also hold the warnings; on a screen these stand among the notes,
    and else they go to stderr.
    """
    explanations, notes, warnings = answer.explanations, answer.notes, answer.warnings
    check_node(explanations, display)
    if not answer.is_about_one_pod:
        notes = (*sampling_notes(explanations), *notes)
        answer = replace(answer, notes=notes)
    if display.output in {"json", "yaml"}:
        _write(answer, display)
        return exit_code(explanations, display)
    on_screen = display.output not in {"name", *PAGES} and sys.stdout.isatty() and sys.stderr.isatty()
    if not on_screen:
        warn(warnings)
    if display.output == "name":
        write_names(f"node/{name}" for each in explanations for name in each.result.best)
        warn(notes)
    elif display.output in PAGES:
        write_page(_as_page(answer, display))
    else:
        from kubectl_sched.render.writers.terminal import print_answer

        print_answer(answer, display, (*notes, *warnings) if on_screen else notes)
    return exit_code(explanations, display)


def check_node(explanations: Sequence[Explanation], display: Display) -> None:
    """Raises SchedError for a --node that there is not."""
    if display.node is not None:
        for each in explanations:
            if each.result.failure is None:
                check_is_node(display.node, each.result.nodes)


def check_is_node(name: str, nodes: Snapshot) -> None:
    """Raises SchedError for a node that there is not."""
    if name not in nodes.row_of:
        raise SchedError(f"there is no node {name}{near_hint(name, nodes.names)}")


def _write(answer: Answer, display: Display) -> None:
    """Write one explanation with the notes among its warnings, or a list of them with the notes as its own warnings."""
    from kubectl_sched.render.answers.explanation_data import explanation_data, explanation_list

    notes = (*answer.notes, *answer.warnings)

    def data_of(explanation: Explanation) -> dict[str, Any]:
        wanted = explanation.result.nodes.row_of.get(display.node or "")
        return explanation_data(
            explanation, headline(explanation), evidence=lambda row: display.evidence or row == wanted
        )

    if answer.is_about_one_pod:
        data = data_of(answer.explanations[0])
        write_data({**data, "warnings": [*data["warnings"], *notes]}, display.output)
        return
    beside: dict[str, Any] = {}
    joint = answer.together
    if joint is not None:
        beside["together"] = {"pods": joint.pods, "placed": joint.placed, "higherPriorityAhead": joint.ahead}
    beside["warnings"] = list(notes)
    items = map(data_of, answer.explanations)
    if display.output == "json":
        write_data_list({**explanation_list([]), **beside}, items)
    else:
        write_data({**explanation_list(list(items)), **beside}, display.output)


def _as_page(answer: Answer, display: Display) -> str:
    if display.output == "html":
        from kubectl_sched.render.writers.html import explanation_page

        return explanation_page(answer, display)
    from kubectl_sched.render.writers.markdown import explanation_markdown

    return explanation_markdown(answer, display)


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

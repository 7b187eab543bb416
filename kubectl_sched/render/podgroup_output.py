"""Prints the answer about groups in the format that was asked for, and says with which code to exit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.output import API_VERSION, write_page
from kubectl_sched.render.answers.podgroup_data import members_data, podgroup_data
from kubectl_sched.render.answers.podgroups import lines, suggested, tables
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.render.writers import markdown_text as md
from kubectl_sched.render.writers.data import warn, write_data, write_names
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.podgroups import PodGroupAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.writers.styled_text import Text
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult


def show_podgroups(answer: PodGroupAnswer, display: Display) -> int:
    """Print the answer on stdout; 0 if every group is placed, 1 if one is not."""
    notes, output = (*answer.notes, *answer.warnings), display.output
    if output in {"json", "yaml"}:
        _write(answer, output, notes)
    elif output == "html":
        from kubectl_sched.render.writers.html import podgroup_html

        write_page(podgroup_html(answer))
    elif output == "markdown":
        below = (*suggested(answer), *notes)
        write_page("\n\n".join([*map(_markdown, answer.results), *([md.bullets(below)] if below else [])]) + "\n")
    else:
        warn((*notes, *(each for result in answer.results for each in podgroup_warnings(result))))
        if output == "name":
            write_names(_placements(answer))
        else:
            from kubectl_sched.render.writers.terminal import print_parts

            print_parts(partial(_page, answer, in_full=display.is_wide), display.color)
    return podgroups_exit_code(answer)


def podgroups_exit_code(answer: PodGroupAnswer) -> int:
    """0 if every group is placed, 1 if one is not, 3 if that is not known of one."""
    if any(result.outcome is Outcome.UNKNOWN for result in answer.results):
        return UNKNOWN_EXIT_CODE
    return 0 if all(result.outcome is Outcome.SCHEDULABLE for result in answer.results) else 1


def sentences(answer: PodGroupAnswer) -> Iterator[str]:
    """Yield what is said of each group besides its members."""
    for result in answer.results:
        yield podgroup_headline(result)
        yield from lines(result)
    yield from suggested(answer)


def _write(answer: PodGroupAnswer, output: str, notes: tuple[str, ...]) -> None:
    items = [podgroup_data(result) for result in answer.results]
    if answer.is_about_one:
        suggestions = [{"text": each.text, "members": members_data(each.result)} for each in answer.suggestions]
        said = [*items[0]["warnings"], *notes]
        write_data({**items[0], "suggestions": suggestions, "warnings": said}, output)
        return
    kind = "PodGroupExplanationList"
    write_data({"apiVersion": API_VERSION, "kind": kind, "items": items, "warnings": list(notes)}, output)


def _placements(answer: PodGroupAnswer) -> Iterator[str]:
    for result in answer.results:
        for member in result.members:
            if member.node_name is not None:
                yield f"pod/{member.pod.metadata.name} node/{member.node_name}"


def _page(answer: PodGroupAnswer, width: int, *, in_full: bool) -> Iterator[Text]:
    from kubectl_sched.render.writers.styled_text import Text
    from kubectl_sched.render.writers.table_lines import table_lines

    if not answer.results:
        yield Text("no group is pending")
    for position, result in enumerate(answer.results):
        if position:
            yield Text()
        style = "bold" if result.outcome is Outcome.SCHEDULABLE else "bold red"
        yield Text(f"{safe(podgroup_headline(result))}.", style=style)
        for number, (_, table) in enumerate(tables(result, in_full=in_full)):
            if number:
                yield Text()
            yield from table_lines(table, width)
        yield from (Text(safe(line)) for line in lines(result))
    yield from (Text(safe(line)) for line in suggested(answer))


def _markdown(result: PodGroupResult) -> str:
    parts = [
        f"## {md.text(podgroup_headline(result))}.",
        *(md.table(table) for _, table in tables(result, in_full=False)),
    ]
    said = [*lines(result), *podgroup_warnings(result)]
    return "\n\n".join([*parts, *([md.bullets(said)] if said else [])])

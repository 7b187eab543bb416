"""Prints the answer about groups in the format that was asked for, and says with which code to exit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.errors import SchedError
from kubectl_sched.output import write_page, write_text
from kubectl_sched.render.data.explanation_data import API_VERSION
from kubectl_sched.render.data.podgroup_data import podgroup_data
from kubectl_sched.render.data.writers import warn, write_data
from kubectl_sched.render.markdown import markdown_text as md
from kubectl_sched.render.podgroup_headline import podgroup_headline
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from kubectl_sched.queries.podgroups import PodGroupAnswer
    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult


def show_podgroups(answer: PodGroupAnswer, output: str, color: str) -> int:
    """Print the answer on stdout; 0 if every group is placed, 1 if one is not."""
    notes = (*answer.notes, *answer.warnings)
    if output == "html":
        raise SchedError("-o html is for pods; groups are printed as table, json, yaml, name or markdown")
    if output in {"json", "yaml"}:
        _write(answer, output, notes)
    else:
        warn((*notes, *(each for result in answer.results for each in podgroup_warnings(result))))
        if output == "name":
            write_text("".join(_placements(answer)))
        elif output == "markdown":
            write_page("\n\n".join(map(_markdown, answer.results)) + "\n")
        else:
            from kubectl_sched.render.text.terminal import print_parts

            print_parts(partial(_page, answer), color)
    return 0 if all(result.outcome is Outcome.SCHEDULABLE for result in answer.results) else 1


def _write(answer: PodGroupAnswer, output: str, notes: tuple[str, ...]) -> None:
    items = [podgroup_data(result) for result in answer.results]
    if answer.is_about_one:
        write_data({**items[0], "warnings": [*items[0]["warnings"], *notes]}, output)
        return
    kind = "PodGroupExplanationList"
    write_data({"apiVersion": API_VERSION, "kind": kind, "items": items, "warnings": list(notes)}, output)


def _placements(answer: PodGroupAnswer) -> Iterator[str]:
    for result in answer.results:
        for member in result.members:
            if member.node_name is not None:
                yield f"pod/{safe(member.pod.metadata.name)} node/{safe(member.node_name)}\n"


def _page(answer: PodGroupAnswer, width: int) -> Iterator[Text]:
    from rich.text import Text

    from kubectl_sched.render.text.table_lines import table_lines

    for position, result in enumerate(answer.results):
        if position:
            yield Text()
        style = "bold" if result.outcome is Outcome.SCHEDULABLE else "bold red"
        yield Text(safe(podgroup_headline(result)), style=style)
        if result.members:
            yield from table_lines(_members(result), width)
        domains = _domains(result)
        if domains.rows:
            yield Text()
            yield from table_lines(domains, width)
        for line in _lines(result):
            yield Text(safe(line))


def _markdown(result: PodGroupResult) -> str:
    parts = [f"## {md.text(podgroup_headline(result))}"]
    if result.members:
        parts.append(md.table(_members(result)))
    domains = _domains(result)
    if domains.rows:
        parts.append(md.table(domains))
    lines = [*_lines(result), *podgroup_warnings(result)]
    return "\n\n".join([*parts, *([md.bullets(lines)] if lines else [])])


def _members(result: PodGroupResult) -> Table[Member]:
    return Table(
        columns=(
            Column(heading="Pod", cell=lambda each: each.pod.key, kind="name"),
            Column(
                heading="Node",
                cell=lambda each: each.node_name or (f"({each.nominated_node})" if each.nominated_node else "-"),
            ),
            Column(heading="Tied", cell=lambda each: str(len(each.tied)) if len(each.tied) > 1 else "", kind="number"),
            Column(
                heading="Reason",
                cell=lambda each: each.event or ("" if each.node_name else each.outcome.value),
                kind="words",
            ),
        ),
        rows=result.members,
    )


def _domains(result: PodGroupResult) -> Table[dict[str, Any]]:
    return Table(
        columns=(
            Column(heading="Domain", cell=lambda each: str(each["domain"]["value"]), kind="name"),
            Column(heading="Nodes", cell=lambda each: str(each["nodes"]), kind="number"),
            Column(heading="Fits", cell=lambda each: str(each["fits"]), kind="number"),
            Column(heading="Feasible", cell=lambda each: "yes" if each["feasible"] else "no"),
            Column(
                heading="Total", cell=lambda each: "" if each["total"] is None else str(each["total"]), kind="number"
            ),
            Column(heading="Next pod", cell=lambda each: each["lacks"] or "", kind="words"),
        ),
        rows=podgroup_data(result)["placements"],
    )


def _lines(result: PodGroupResult) -> Iterator[str]:
    if result.victims:
        yield f"preemption evicts {', '.join(pod.key for pod in result.victims)}"
    if result.condition is not None:
        condition = result.condition
        message = f": {condition.message}" if condition.message else ""
        yield f"condition {condition.type}={condition.status} ({condition.reason}){message}"

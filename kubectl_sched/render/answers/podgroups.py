"""The answer about groups of pods: the verdict on each, its members, topology domains and condition."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.render.answers.podgroup_data import members_data, podgroup_data
from kubectl_sched.render.document import Document, Listing, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.podgroup_info import PlacementScores
    from kubectl_sched.queries.podgroups import PodGroupAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import podgroup as schema
    from kubectl_sched.scheduler.podgroup_result import Member, PlacementResult, PodGroupResult


def shown_podgroups(answer: PodGroupAnswer) -> Shown:
    """Return the answer in each form."""
    warnings = (each for result in answer.results for each in podgroup_warnings(result))
    return Shown(
        document=lambda display: podgroups_document(answer, display),
        data=lambda: _data(answer),
        names=lambda: _placements(answer),
        remarks=lambda: (*answer.notes, *warnings),
        warnings=answer.warnings,
    )


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


def podgroups_document(answer: PodGroupAnswer, display: Display) -> Document:
    """Return the answer about one group, or about each of several."""
    notes = notes_of((), answer.notes)
    groups = tuple(_document(result, display) for result in answer.results)
    if answer.is_about_one:
        told = tuple(Sentence(text=each) for each in suggested(answer))
        first = groups[0]
        premises = (*first.notes.premises, *notes.premises)
        return replace(first, parts=(*first.parts, *told), notes=notes_of(first.notes.changing, premises))
    fitting = sum(result.outcome is Outcome.SCHEDULABLE for result in answer.results)
    fit = "fits" if fitting == 1 else "fit"
    text = f"{count(len(groups), 'group')}, of which {fitting:,} {fit}." if groups else "no group is pending"
    return Document(
        verdict=Verdict(text=text), notes=notes, details=groups, heading="Groups of pods", command="explain podgroup"
    )


def _document(result: PodGroupResult, display: Display) -> Document:
    fits = result.outcome is Outcome.SCHEDULABLE
    listings = (
        Listing(tables=(table,), caption=caption, gap=bool(number))
        for number, (caption, table) in enumerate(tables(result, in_full=display.in_full))
    )
    return Document(
        verdict=Verdict(
            text=f"{podgroup_headline(result)}.", tone="" if fits else "bad", badge="fits" if fits else "does not fit"
        ),
        parts=(*listings, *(Sentence(text=each) for each in lines(result))),
        notes=notes_of((), tuple(podgroup_warnings(result))),
        facts=(("Replayed as", f"kube-scheduler {result.kubernetes_patch or result.kubernetes_version}"),),
        heading=result.info.group.key,
        command="explain podgroup",
    )


def _data(answer: PodGroupAnswer) -> dict[str, Any]:
    items, notes = [podgroup_data(result) for result in answer.results], (*answer.notes, *answer.warnings)
    if answer.is_about_one:
        suggestions: list[schema.GroupSuggestion] = [
            {"text": each.text, "members": members_data(each.result)} for each in answer.suggestions
        ]
        said = [*items[0]["warnings"], *notes]
        return {**items[0], "suggestions": suggestions, "warnings": said}
    kind = "PodGroupExplanationList"
    return {"apiVersion": API_VERSION, "kind": kind, "items": items, "warnings": list(notes)}


def _placements(answer: PodGroupAnswer) -> Iterator[str]:
    for result in answer.results:
        for member in result.members:
            if member.node_name is not None:
                yield f"pod/{member.pod.metadata.name} node/{member.node_name}"


def tables(result: PodGroupResult, *, in_full: bool) -> Iterator[tuple[str, Table[Any]]]:
    """Yield the members, the groups of a tree, and the topology domains if there are any, each with its caption."""
    if result.members:
        yield "Members, in the order of the cycle", _members(result, in_full=in_full)
    if result.children:
        yield "Groups, each below the one that it is part of", _groups(result)
    if result.info.topology_key is not None and result.placements:
        yield "Topology domains", _domains(result, in_full=in_full)


def lines(result: PodGroupResult) -> Iterator[str]:
    """Yield a sentence for the victims, and one for the condition that is written."""
    if result.victims:
        yield f"Preemption evicts {', '.join(pod.key for pod in result.victims)}."
    if result.condition is not None:
        yield f"The condition that kube-scheduler writes: {_written(result)}"


def suggested(answer: PodGroupAnswer) -> Iterator[str]:
    """Yield a sentence for each change that helps, each replayed for the group as a whole."""
    name = answer.results[0].info.group.metadata.name if answer.results else ""
    yield from (f"{name} would fit {each.text}." for each in answer.suggestions)


def _members(result: PodGroupResult, *, in_full: bool) -> Table[Member]:
    def node(each: Member) -> str:
        return each.node_name or (f"({each.nominated_node})" if each.nominated_node else "-")

    def tied(each: Member) -> str:
        if len(each.tied) < 2:
            return ""
        return ", ".join(each.tied) if in_full else str(len(each.tied))

    return Table(
        columns=(
            Column(heading="Pod", cell=lambda each: each.pod.key, kind="name"),
            Column(heading="Node", cell=node, tone=lambda each: "good" if each.node_name else "bad"),
            Column(heading="Tied", cell=tied, kind="words" if in_full else "number"),
            Column(
                heading="Reason",
                cell=_reason,
                kind="words",
            ),
        ),
        rows=result.members,
    )


def _reason(member: Member) -> str:
    if member.event or member.node_name:
        return member.event or ""
    return "no profile serves its schedulerName" if member.outcome is Outcome.NO_PROFILE else member.outcome.value


def _written(result: PodGroupResult) -> str:
    condition = result.condition
    if condition is None:
        return ""
    message = f": {condition.message}" if condition.message else ""
    return f"{condition.type}={condition.status} ({condition.reason}){message}"


def _groups(result: PodGroupResult) -> Table[tuple[int, PodGroupResult]]:
    def needs(each: tuple[int, PodGroupResult]) -> str:
        unit = "group" if each[1].info.is_tree else "pod"
        return count(1 if each[1].info.min_count is None else each[1].info.min_count, unit)

    def fits(each: tuple[int, PodGroupResult]) -> str:
        chosen = each[1].chosen
        return str(chosen.fits) if chosen is not None else "-"

    return Table(
        columns=(
            Column(heading="Group", cell=lambda each: "  " * each[0] + each[1].info.group.name, kind="name"),
            Column(heading="Needs", cell=needs),
            Column(heading="Fits", cell=fits, kind="number"),
            Column(heading="Domain", cell=lambda each: each[1].domain or ""),
            Column(
                heading="Verdict",
                cell=lambda each: each[1].outcome.value,
                tone=lambda each: "good" if each[1].outcome is Outcome.SCHEDULABLE else "bad",
            ),
            Column(heading="Condition", cell=lambda each: _written(each[1]), kind="words"),
        ),
        rows=tuple(_below(result, 0)),
    )


def _below(result: PodGroupResult, depth: int) -> Iterator[tuple[int, PodGroupResult]]:
    for child in result.children:
        yield depth, child
        yield from _below(child, depth + 1)


def _domains(result: PodGroupResult, *, in_full: bool) -> Table[PlacementResult]:
    feasible = result.feasible
    position = {each.placement.name: at for at, each in enumerate(feasible)}

    def total(each: PlacementResult) -> str:
        at = position.get(each.placement.name)
        return "" if at is None or result.totals is None else str(result.totals[at])

    def points(scores: PlacementScores, each: PlacementResult) -> str:
        at = position.get(each.placement.name)
        return "" if at is None else f"{int(scores.weighted[at])}"

    by_plugin = (
        Column(
            heading=f"{{}} \N{MULTIPLICATION SIGN}{scores.weight}",
            about=scores.plugin,
            cell=partial(points, scores),
            kind="number",
        )
        for scores in (result.scores if in_full else ())
    )
    return Table(
        columns=(
            Column(heading=f"Domain of {result.info.topology_key}", cell=lambda each: each.placement.name, kind="name"),
            Column(heading="Nodes", cell=lambda each: str(len(each.placement.rows)), kind="number"),
            Column(heading="Fits", cell=lambda each: str(each.fits), kind="number"),
            Column(heading="Feasible", cell=lambda each: "yes" if each in feasible else "no"),
            *by_plugin,
            Column(heading="Points", cell=total, kind="number"),
            Column(heading="Next pod", cell=lambda each: each.next_lacks or "", kind="words"),
        ),
        rows=result.placements,
    )

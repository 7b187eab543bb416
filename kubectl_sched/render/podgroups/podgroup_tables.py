"""The tables and lines of the answer about a group, for every page that draws them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.podgroup_info import PlacementScores
    from kubectl_sched.queries.podgroups import PodGroupAnswer
    from kubectl_sched.scheduler.podgroup_result import Member, PlacementResult, PodGroupResult


def tables(result: PodGroupResult, *, in_full: bool) -> Iterator[Table[Any]]:
    """Yield the members, and the topology domains if there are any."""
    if result.members:
        yield _members(result, in_full=in_full)
    if result.info.topology_key is not None and result.placements:
        yield _domains(result, in_full=in_full)


def lines(result: PodGroupResult) -> Iterator[str]:
    """Yield a sentence for the victims, and one for the condition that is written."""
    if result.victims:
        yield f"preemption evicts {', '.join(pod.key for pod in result.victims)}"
    if result.condition is not None:
        condition = result.condition
        message = f": {condition.message}" if condition.message else ""
        yield f"condition {condition.type}={condition.status} ({condition.reason}){message}"


def suggested(answer: PodGroupAnswer) -> Iterator[str]:
    """Yield a sentence for each change that helps, each replayed for the group as a whole."""
    name = answer.results[0].info.group.metadata.name if answer.results else ""
    yield from (f"{name} fits with this change: {each.text}" for each in answer.suggestions)


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
                cell=lambda each: each.event or ("" if each.node_name else each.outcome.value),
                kind="words",
            ),
        ),
        rows=result.members,
    )


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
            Column(heading="Total", cell=total, kind="number"),
            Column(heading="Next pod", cell=lambda each: each.next_lacks or "", kind="words"),
        ),
        rows=result.placements,
    )

"""The page about a what-if: a sentence, then by workload, by node and by zone, and why the first did not fit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.api.core import ZONE
from kubectl_sched.framework.amounts import common_unit
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.writers.note_lines import note_lines
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import fits, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.render.display import Display
    from kubectl_sched.simulation.placements import Placement, Simulated
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.simulation.what_if_result import WhatIfResult
    from kubectl_sched.snapshot import Snapshot

RESOURCES = {"cpu": "CPU requested", "memory": "Memory requested", "pods": "Pods"}
_NODES_SHOWN = 20
_BARS = (8, 5, 3)
"""The lengths that bars may have. The longest that the terminal has room for is taken, if it has for any."""


def page(answer: WhatIfResult, warnings: Sequence[str], display: Display, width: int) -> Iterator[Text]:
    """The page, line by line, for so many columns."""
    simulated = answer.simulated
    fits = not simulated.unplaced
    yield Text(what_if_sentence(answer), style="bold green" if fits else "bold red")
    for rollout in answer.rollouts:
        yield Text(about_rollout(rollout))
    if len(simulated.placements) > 0:
        yield Text("")
        yield from table_lines(workload_table(simulated.placements), width)
        nodes = [*_by_node(simulated, width), *_by_zone(simulated)]
        yield from (Text(""), *nodes) if nodes else ()
    if simulated.first_unplaced is not None:
        from kubectl_sched.render.sentences.headline import decision

        yield Text("")
        yield Text(f"{decision(simulated.first_unplaced)}.")
        event = simulated.first_unplaced.event
        if event:
            yield Text(f"kube-scheduler's own message: {safe(event)}")
    notes = [*about_chance(simulated.placements), *answer.warnings, *warnings]
    if notes:
        yield Text("")
        yield from note_lines(notes, width, display)


def what_if_sentence(answer: WhatIfResult) -> str:
    """Return the sentence with the numbers of placed pods and of their nodes."""
    simulated = answer.simulated
    placed, unplaced = simulated.placed, simulated.unplaced
    where = len({each.node for each in simulated.placements if each.node})
    if simulated.stopped is not None:
        return f"{count(placed, 'pod')} would fit, on {count(where, 'node')}; one more does not."
    if not simulated.placements:
        return "No pod would have to move."
    told = f"All {placed:,} pods" if placed > 1 and not unplaced else f"{placed:,} of {count(placed + unplaced, 'pod')}"
    sentence = f"{told} would be placed, on {count(where, 'node')}"
    if answer.nodes_needed:
        sentence += f", with {count(answer.nodes_needed, 'more node')}"
    if answer.new_nodes:
        made = Counter((each.instance_type, each.node_pool) for each in answer.new_nodes)
        kinds = " and ".join(
            f"{number:,} {safe(kind)} of NodePool {safe(pool)}" for (kind, pool), number in made.items()
        )
        sentence += f", {len(answer.new_nodes):,} of these made by Karpenter: {kinds}"
    return f"{sentence}." if not unplaced else f"{sentence}; {unplaced:,} would not."


def about_rollout(rollout: RolledOut) -> str:
    """Return the number of steps that a rollout takes, or the step at which it gets stuck."""
    done = f"The rollout of {safe(rollout.owner)} ({rollout.strategy})"
    skew = "".join(
        f" Skew over {safe(each.topology_key)}: {each.before} before, {each.after} after." for each in rollout.skew
    )
    if rollout.stuck_at is None:
        return f"{done} takes {count(rollout.steps, 'step')}.{skew}"
    left = f"; {count(len(rollout.remaining), 'old pod')} would still be there" if rollout.remaining else ""
    return f"{done} gets stuck at step {rollout.stuck_at}{left}.{skew}"


def workload_table(placements: Sequence[Placement]) -> Table[tuple[str, int, int, str]]:
    """The workloads with how many of their pods are placed and how many are not."""
    return Table(
        columns=(
            Column(heading="Workload", cell=lambda each: each[0], kind="name"),
            Column(heading="Placed", cell=lambda each: f"{each[1]:,}", kind="number"),
            Column(heading="Not placed", cell=lambda each: f"{each[2]:,}", kind="number"),
            Column(heading="Why", cell=lambda each: each[3], kind="words"),
        ),
        rows=list(workloads(placements)),
    )


def workloads(placements: Sequence[Placement]) -> Iterator[tuple[str, int, int, str]]:
    """Each workload, how many of its pods are placed and how many are not, and why the first is not.

    Where all are placed, whose place they take.
    """
    owners: dict[str, list[Placement]] = {}
    before, alike = None, []
    for each in placements:
        if before is None or each.owner != before.owner or each.pod.spec is not before.pod.spec:  # no further copy
            before, alike = each, owners.setdefault(each.owner or f"Pod/{_without_number(each.pod.name)}", [])
        alike.append(each)
    for owner, of_owner in owners.items():
        unplaced = [each for each in of_owner if each.node is None]
        displaced = [victim.key for each in of_owner if each.victims for victim in each.victims]
        why = next(map(_why, unplaced), "")
        if displaced and not why:
            why = f"takes the place of {listed(displaced)}"
        yield safe(owner), len(of_owner) - len(unplaced), len(unplaced), why


def _without_number(name: str) -> str:
    """Return the common name of the copies of a bare pod."""
    base, dash, number = name.rpartition("-")
    return base if dash and number.isdecimal() else name


def _why(placement: Placement) -> str:
    if placement.nominated_node is not None:
        victims = listed([victim.key for victim in placement.victims])
        return f"fits on {safe(placement.nominated_node)} without {victims}"
    return safe(placement.event or placement.reason or placement.outcome.value)


def _by_node(simulated: Simulated, width: int) -> Iterator[Text]:
    changed = filled_nodes(simulated)
    shown = changed[:_NODES_SHOWN]
    if shown:
        tables = (filled_table(simulated, shown, bar) for bar in _BARS)
        roomy = next((table for table in tables if fits(table, width)), None)
        yield from table_lines(roomy or filled_table(simulated, shown), width)
    if len(changed) > _NODES_SHOWN:
        yield Text(f"and {count(len(changed) - _NODES_SHOWN, 'more node')} (-o json has all)")


def filled_table(simulated: Simulated, nodes: Sequence[tuple[str, int]], bar: int = 0) -> Table[tuple[str, int]]:
    """The nodes with what is requested there before and after, in one unit a column, after bars of some length."""
    return Table(
        columns=(
            Column(heading="Node", cell=lambda each: each[0], kind="name"),
            Column(heading="New", cell=lambda each: f"+{each[1]:,}", kind="number"),
            *(_share_column(simulated, resource, [name for name, _ in nodes], bar) for resource in RESOURCES),
        ),
        rows=nodes,
    )


def _share_column(simulated: Simulated, resource: str, names: Sequence[str], bar: int) -> Column[tuple[str, int]]:
    """`######.. 4 -> 6 of 8`."""
    used = {name: _before_after_whole(simulated, name, resource) for name in names}
    unit = common_unit(resource, [amount for amounts in used.values() for amount in amounts])

    def cell(node: tuple[str, int]) -> str:
        before, after, whole = map(unit.text, used[node[0]])
        full = round(bar * filling(simulated, node[0], resource))
        return f"{'#' * full}{'.' * (bar - full)} {before} -> {after} of {whole}".lstrip()

    return Column(heading=f"{RESOURCES[resource]}{f' ({unit.name})' if unit.name else ''}", cell=cell)


def filled_nodes(simulated: Simulated) -> list[tuple[str, int]]:
    """Each node that pods are placed on with their number, those that get most first."""
    return sorted(_per_node(simulated).items(), key=lambda item: (-item[1], item[0]))


def _per_node(simulated: Simulated) -> dict[str, int]:
    """The number of pods placed on each node that is still there."""
    per_node = Counter([each.node for each in simulated.placements])
    return {node: number for node, number in per_node.items() if node is not None and node in simulated.after.row_of}


def filling(simulated: Simulated, name: str, resource: str) -> float:
    """Return how full the node is then, from 0 to 1."""
    _, after, whole = _before_after_whole(simulated, name, resource)
    return min(1.0, max(0.0, after / whole)) if whole else 0.0


def _before_after_whole(simulated: Simulated, name: str, resource: str) -> tuple[int, int, int]:
    whole = int(simulated.after.allocatable(resource)[simulated.after.row_of[name]])
    return _used(simulated.before, name, resource), _used(simulated.after, name, resource), whole


def _used(nodes: Snapshot, name: str, resource: str) -> int:
    row = nodes.row_of.get(name)
    if row is None:
        return 0
    return int(nodes.pod_count[row] if resource == "pods" else nodes.requested(resource)[row])


def _by_zone(simulated: Simulated) -> Iterator[Text]:
    told = zones_in_words(simulated)
    if told is not None:
        yield Text(told)


def zones_in_words(simulated: Simulated) -> str | None:
    """Return the number of pods for each zone; None if there is one zone at most."""
    zones = simulated.after.label(ZONE)
    per_zone: Counter[str] = Counter()
    for node, number in _per_node(simulated).items():
        per_zone[zones[simulated.after.row_of[node]] or "no zone"] += number
    if len(per_zone) < 2:
        return None
    return f"by zone: {', '.join(f'{safe(zone)} {number:,}' for zone, number in sorted(per_zone.items()))}"


def about_chance(placements: Sequence[Placement]) -> Iterator[str]:
    """Yield a note on the placements that are left to chance."""
    tied = len([None for each in placements if each.ties.number > 1])
    beyond = len([None for each in placements if each.beyond_sampling])
    if tied:
        were = "was a tie" if tied == 1 else "were ties"
        yield f"{tied:,} of {count(len(placements), 'placement')} {were}, where kube-scheduler may choose another node"
    if beyond:
        found = f"{count(beyond, 'placement')} had more feasible nodes than kube-scheduler looks at"
        yield f"{found}, so it may choose another"

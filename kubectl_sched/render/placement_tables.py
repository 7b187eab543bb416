"""Tables of the pods that a what-if places, by workload and by node, and their number by zone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.api.core import ZONE
from kubectl_sched.framework.amounts import common_unit
from kubectl_sched.render.safe_text import listed, safe
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.simulation.placements import Placement, Simulated
    from kubectl_sched.snapshot import Snapshot

RESOURCES = {"cpu": "CPU requested", "memory": "Memory requested", "pods": "Pods"}


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
            before, alike = each, owners.setdefault(owner_named(each), [])
        alike.append(each)
    for owner, of_owner in owners.items():
        unplaced = [each for each in of_owner if each.node is None]
        displaced = [victim.key for each in of_owner if each.victims for victim in each.victims]
        why = next(map(_why, unplaced), "")
        if displaced and not why:
            why = f"takes the place of {listed(displaced)}"
        yield owner, len(of_owner) - len(unplaced), len(unplaced), why


def _without_number(name: str) -> str:
    """Return the common name of the copies of a bare pod."""
    base, dash, number = name.rpartition("-")
    return base if dash and number.isdecimal() else name


def _why(placement: Placement) -> str:
    if placement.nominated_node is not None:
        victims = listed([victim.key for victim in placement.victims])
        return f"fits on {safe(placement.nominated_node)} without {victims}"
    return safe(placement.event or placement.reason or placement.outcome.value)


def filled_table(simulated: Simulated, nodes: Sequence[tuple[str, int]]) -> Table[tuple[str, int]]:
    """The nodes with what is requested there before and after, in one unit a column."""
    return Table(
        columns=(
            Column(heading="Node", cell=lambda each: each[0], kind="name", among=simulated.after.names),
            Column(heading="New", cell=lambda each: f"+{each[1]:,}", kind="number"),
            *(_share_column(simulated, resource, [name for name, _ in nodes]) for resource in RESOURCES),
        ),
        rows=nodes,
    )


def _share_column(simulated: Simulated, resource: str, names: Sequence[str]) -> Column[tuple[str, int]]:
    """`4 -> 6 of 8`, with the share that is requested then."""
    used = {name: _before_after_whole(simulated, name, resource) for name in names}
    unit = common_unit(resource, [amount for amounts in used.values() for amount in amounts])

    def cell(node: tuple[str, int]) -> str:
        before, after, whole = map(unit.text, used[node[0]])
        return f"{before} -> {after} of {whole}"

    return Column(
        heading=f"{RESOURCES[resource]}{f' ({unit.name})' if unit.name else ''}",
        cell=cell,
        share=lambda node: (_filling(*used[node[0]]),),
    )


def filled_nodes(simulated: Simulated) -> list[tuple[str, int]]:
    """Each node that pods are placed on with their number, those that get most first."""
    return sorted(_per_node(simulated).items(), key=lambda item: (-item[1], item[0]))


def _per_node(simulated: Simulated) -> dict[str, int]:
    """The number of pods placed on each node that is still there."""
    per_node = Counter([each.node for each in simulated.placements])
    return {node: number for node, number in per_node.items() if node is not None and node in simulated.after.row_of}


def _filling(_: int, after: int, whole: int) -> float:
    """Return how full the node is then, from 0 to 1."""
    return min(1.0, max(0.0, after / whole)) if whole else 0.0


def _before_after_whole(simulated: Simulated, name: str, resource: str) -> tuple[int, int, int]:
    whole = int(simulated.after.allocatable(resource)[simulated.after.row_of[name]])
    return _used(simulated.before, name, resource), _used(simulated.after, name, resource), whole


def _used(nodes: Snapshot, name: str, resource: str) -> int:
    row = nodes.row_of.get(name)
    if row is None:
        return 0
    return int(nodes.pod_count[row] if resource == "pods" else nodes.requested(resource)[row])


def zones_in_words(simulated: Simulated) -> str | None:
    """Return the number of pods for each zone; None if there is one zone at most."""
    zones = simulated.after.label(ZONE)
    per_zone: Counter[str] = Counter()
    for node, number in _per_node(simulated).items():
        per_zone[zones[simulated.after.row_of[node]] or "no zone"] += number
    if len(per_zone) < 2:
        return None
    return f"by zone: {', '.join(f'{safe(zone)} {number:,}' for zone, number in sorted(per_zone.items()))}"


def owner_named(placement: Placement) -> str:
    """Return the workload of a placement; copies of a bare pod are one workload."""
    return safe(placement.owner or f"Pod/{_without_number(placement.pod.name)}")

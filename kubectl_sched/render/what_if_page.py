"""The page about a what-if: a sentence, then by workload, by node and by zone, and why the first did not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.api.quantity import bytes_text, cpu_text
from kubectl_sched.render.summary import summary
from kubectl_sched.render.tables import one_line_each
from kubectl_sched.render.text import count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.scheduler.answer import Answer
    from kubectl_sched.scheduler.placement import Placement, Simulated
    from kubectl_sched.scheduler.rollout import RolledOut
    from kubectl_sched.snapshot import Snapshot

_ZONE = "topology.kubernetes.io/zone"
_NODES_SHOWN = 20
_EVENT_LENGTH = 300
_BAR = 8
_WIDTH = 200


def page(answer: Answer, warnings: Sequence[str]) -> Iterator[Text]:
    """The page, line by line."""
    simulated = answer.simulated
    fits = not simulated.unplaced
    yield Text(_sentence(answer), style="bold green" if fits else "bold red")
    for rollout in answer.rollouts:
        yield Text(_about_rollout(rollout))
    if len(simulated.placements) > 0:
        yield Text("")
        yield from _by_owner(simulated.placements)
        yield Text("")
        yield from _by_node(simulated)
        yield from _by_zone(simulated)
    if simulated.first_unplaced is not None:
        yield Text("")
        yield Text(f"{summary(simulated.first_unplaced)}.")
        event = simulated.first_unplaced.event
        if event:
            yield Text(f"kube-scheduler's own message: {safe(event)}")
    notes = [*_about_chance(simulated.placements), *answer.warnings, *warnings]
    if notes:
        yield Text("")
        yield from (Text(f"note: {safe(note)}") for note in notes)


def _sentence(answer: Answer) -> str:
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
    return f"{sentence}." if not unplaced else f"{sentence}; {unplaced:,} would not."


def _about_rollout(rollout: RolledOut) -> str:
    done = f"The rollout of {safe(rollout.owner)} ({rollout.strategy})"
    if rollout.stuck_at is None:
        return f"{done} takes {count(rollout.steps, 'step')}."
    left = f"; {count(len(rollout.remaining), 'old pod')} would still be there" if rollout.remaining else ""
    return f"{done} gets stuck at step {rollout.stuck_at}{left}."


def _by_owner(placements: Sequence[Placement]) -> Iterator[Text]:
    owners: dict[str, list[Placement]] = {}
    for each in placements:
        owners.setdefault(each.owner or f"Pod/{_without_number(each.pod.name)}", []).append(each)
    rows = []
    for owner, of_owner in owners.items():
        placed = sum(each.is_placed for each in of_owner)
        why = next((_why(each) for each in of_owner if not each.is_placed), "")
        rows.append((safe(owner), f"{placed:,}", f"{len(of_owner) - placed:,}", why))
    yield from one_line_each(("WORKLOAD", "PLACED", "NOT PLACED", "WHY"), rows, _WIDTH, numbers=frozenset({1, 2}))


def _without_number(name: str) -> str:
    """What the copies of a bare pod have in common."""
    base, dash, number = name.rpartition("-")
    return base if dash and number.isdecimal() else name


def _why(placement: Placement) -> str:
    if placement.nominated_node is not None:
        victims = listed([victim.key for victim in placement.victims])
        return f"fits on {safe(placement.nominated_node)} without {victims}"
    return safe(placement.event or placement.outcome.value)[:_EVENT_LENGTH]


def _by_node(simulated: Simulated) -> Iterator[Text]:
    after = simulated.after
    per_node: dict[str, int] = {}
    for each in simulated.placements:
        if each.node is not None:
            per_node[each.node] = per_node.get(each.node, 0) + 1
    names = sorted(per_node, key=lambda name: (-per_node[name], name))
    rows = [
        (
            safe(name),
            f"+{per_node[name]:,}",
            _share(simulated, name, "cpu"),
            _share(simulated, name, "memory"),
            _share(simulated, name, "pods"),
        )
        for name in names[:_NODES_SHOWN]
        if name in after.row_of
    ]
    if rows:
        headings = ("NODE", "PODS", "CPU REQUESTED", "MEMORY REQUESTED", "PODS OF")
        yield from one_line_each(headings, rows, _WIDTH, numbers=frozenset({1}))
    if len(names) > _NODES_SHOWN:
        yield Text(f"and {count(len(names) - _NODES_SHOWN, 'more node')} (-o json has all)")


def _share(simulated: Simulated, name: str, resource: str) -> str:
    """`######.. 4 -> 6 of 8`."""
    before, after = _used(simulated.before, name, resource), _used(simulated.after, name, resource)
    row = simulated.after.row_of[name]
    whole = int(simulated.after.allocatable(resource)[row])
    filled = min(_BAR, round(_BAR * after / whole)) if whole else 0
    bar = "#" * filled + "." * (_BAR - filled)
    return f"{bar} {_amount(resource, before)} -> {_amount(resource, after)} of {_amount(resource, whole)}"


def _used(nodes: Snapshot, name: str, resource: str) -> int:
    row = nodes.row_of.get(name)
    if row is None:
        return 0
    return int(nodes.pod_count[row] if resource == "pods" else nodes.requested(resource)[row])


def _amount(resource: str, amount: int) -> str:
    if resource == "cpu":
        return cpu_text(amount)
    return bytes_text(amount) if resource == "memory" else f"{amount:,}"


def _by_zone(simulated: Simulated) -> Iterator[Text]:
    zones = simulated.after.label(_ZONE)
    per_zone: dict[str, int] = {}
    for each in simulated.placements:
        row = simulated.after.row_of.get(each.node or "")
        if row is not None:
            zone = zones[row]
            per_zone[zone or "no zone"] = per_zone.get(zone or "no zone", 0) + 1
    if len(per_zone) > 1:
        told = ", ".join(f"{safe(zone)} {number:,}" for zone, number in sorted(per_zone.items()))
        yield Text(f"by zone: {told}")


def _about_chance(placements: Sequence[Placement]) -> Iterator[str]:
    tied = sum(each.tied_count > 1 for each in placements)
    beyond = sum(each.beyond_sampling for each in placements)
    if tied:
        yield f"{tied:,} of {len(placements):,} placements were ties, which kube-scheduler breaks at random"
    if beyond:
        yield f"{beyond:,} placements had more feasible nodes than kube-scheduler looks at, so it may choose another"

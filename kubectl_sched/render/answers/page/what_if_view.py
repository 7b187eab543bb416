"""The content of a what-if's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.record import Record
from kubectl_sched.render.answers.page.answer_view import AnswerView, answer_view
from kubectl_sched.render.answers.whatif import (
    RESOURCES,
    about_chance,
    about_rollout,
    filled_nodes,
    filled_table,
    filling,
    what_if_sentence,
    workloads,
    zones_in_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.render.answers.page.node_section import Room
    from kubectl_sched.render.table import Table
    from kubectl_sched.simulation.placements import Placement, Simulated
    from kubectl_sched.simulation.what_if_result import WhatIfResult


class Share(Record, frozen=True, kw_only=True):
    """`4 -> 6 of 8`, and how full that is, from 0 to 100."""

    text: str
    percent: int


class FilledNode(Record, frozen=True, kw_only=True):
    """A node that pods are placed on, how many, and how full it is then: cpu, memory, pods."""

    name: str
    pods: int
    shares: tuple[Share, ...]


class WhatIfView(Record, frozen=True, kw_only=True):
    """The page's content; `first_unplaced` is the whole cycle of the first pod that did not fit."""

    fits: bool
    sentence: str
    version: str
    rollouts: tuple[str, ...]
    workloads: tuple[tuple[str, int, int, str], ...]
    node_headings: tuple[str, ...]
    nodes: tuple[FilledNode, ...]
    zones: str | None
    placements: tuple[Placement, ...]
    hidden: int
    first_unplaced: AnswerView | None
    notes: tuple[str, ...]


def what_if_view(answer: WhatIfResult, version: str, warnings: Sequence[str], room: Room) -> WhatIfView:
    """`version` is the minor that was replayed; `room` is also how many placements are shown."""
    simulated = answer.simulated
    placements = simulated.placements
    first = simulated.first_unplaced
    filled = filled_table(simulated, filled_nodes(simulated))
    return WhatIfView(
        fits=not simulated.unplaced,
        sentence=what_if_sentence(answer),
        version=version,
        rollouts=tuple(about_rollout(rollout) for rollout in answer.rollouts),
        workloads=tuple(workloads(placements)),
        node_headings=filled.headings,
        nodes=tuple(_filled_nodes(simulated, filled)),
        zones=zones_in_words(simulated),
        placements=placements[: room.rows],
        hidden=max(0, len(placements) - room.rows),
        first_unplaced=answer_view(Explanation(result=first), room) if first is not None else None,
        notes=tuple(dict.fromkeys((*about_chance(placements), *answer.warnings, *warnings))),
    )


def _filled_nodes(simulated: Simulated, table: Table[tuple[str, int]]) -> Iterator[FilledNode]:
    for (name, pods), (_, _, *texts) in zip(table.rows, table.texts, strict=True):
        full = (round(100 * filling(simulated, name, resource)) for resource in RESOURCES)
        shares = tuple(Share(text=text, percent=percent) for text, percent in zip(texts, full, strict=True))
        yield FilledNode(name=name, pods=pods, shares=shares)

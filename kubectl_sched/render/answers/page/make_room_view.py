"""The content of the page about a plan that makes room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.answers.make_room import (
    about_preemption,
    placed_table,
    plan_commands,
    plan_sentence,
    step_table,
)

if TYPE_CHECKING:
    from kubectl_sched.queries.make_room import Answer


class PlanView(Record, frozen=True, kw_only=True):
    """The content of the page; `commands` has one on each line."""

    found: bool
    sentence: str
    version: str
    preemption: str | None
    steps: tuple[tuple[str, ...], ...]
    placed: tuple[tuple[str, ...], ...]
    commands: str
    notes: tuple[str, ...]


def plan_view(answer: Answer) -> PlanView:
    """Return the view."""
    return PlanView(
        found=answer.found,
        sentence=plan_sentence(answer),
        version=answer.kubernetes_version,
        preemption=about_preemption(answer),
        steps=tuple(step_table(answer).texts),
        placed=tuple(placed_table(answer).texts),
        commands="\n".join(map(str, plan_commands(answer))),
        notes=tuple(dict.fromkeys(answer.notes)),
    )

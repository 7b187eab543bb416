"""A plan that makes room on a terminal: the steps, the commands, the alternative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.make_room import (
    about_preemption,
    placed_table,
    plan_commands,
    plan_sentence,
    step_table,
)
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.writers.note_lines import note_lines
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import table_lines
from kubectl_sched.shell_commands import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.make_room import Answer
    from kubectl_sched.render.display import Display

_INDENT = "  "


def page(answer: Answer, display: Display, width: int) -> Iterator[Text]:
    """Yield the page line by line, for so many columns."""
    yield Text(plan_sentence(answer), style="bold green" if answer.found else "bold red")
    if answer.steps:
        yield Text("")
        yield from table_lines(step_table(answer), width)
        yield Text("")
        yield from table_lines(placed_table(answer), width)
        yield Text("")
        yield Text("Run one step after the other; after an eviction wait until the new pod has its node:")
        for command in plan_commands(answer):
            yield from (Text(f"{_INDENT}{line}") for line in folded(str(command), width - len(_INDENT)))
    preemption = about_preemption(answer)
    if preemption is not None:
        yield Text("")
        yield Text(preemption)
    if answer.unplaced is not None and answer.unplaced.event:
        yield Text("")
        yield Text(f"kube-scheduler's own message: {safe(answer.unplaced.event)}")
    if answer.notes:
        yield Text("")
        yield from note_lines(answer.notes, width, display)

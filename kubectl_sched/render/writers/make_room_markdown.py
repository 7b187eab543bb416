"""A plan that makes room as GitHub-flavoured Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.make_room import (
    about_preemption,
    placed_table,
    plan_commands,
    plan_sentence,
    step_table,
)
from kubectl_sched.render.writers.markdown_text import fenced, note_list, replayed, table, text

if TYPE_CHECKING:
    from kubectl_sched.queries.make_room import Answer


def plan_markdown(answer: Answer) -> str:
    """Return the steps, the commands and the alternative."""
    parts = [f"**{text(plan_sentence(answer))}**"]
    if answer.steps:
        parts += [table(step_table(answer)), table(placed_table(answer))]
        parts.append(fenced("\n".join(map(str, plan_commands(answer))), "sh"))
    preemption = about_preemption(answer)
    parts += [text(preemption)] if preemption is not None else []
    return "\n\n".join([*parts, *note_list(answer.notes), replayed(answer.kubernetes_version)]) + "\n"

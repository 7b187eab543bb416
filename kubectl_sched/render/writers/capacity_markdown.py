"""Capacity as GitHub-flavoured Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.capacity import (
    about_pool,
    about_stranded,
    capacity_sentence,
    pool_table,
    resources_asked_for,
    shape_table,
)
from kubectl_sched.render.writers.markdown_text import bullets, note_list, replayed, table, text

if TYPE_CHECKING:
    from kubectl_sched.queries.capacity import Answer


def capacity_markdown(answer: Answer) -> str:
    """Return the shapes, what is stranded for each, and the pools."""
    parts = [f"**{text(capacity_sentence(answer))}**"]
    parts += [table(shape_table(answer))] if answer.shapes else []
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    parts += [bullets(stranded)] if stranded else []
    if answer.pools:
        parts.append(table(pool_table([(pool, resources_asked_for(pool, answer)) for pool in answer.pools])))
        parts.append(bullets(list(map(about_pool, answer.pools))))
    return "\n\n".join([*parts, *note_list(answer.notes), replayed(answer.kubernetes_version)]) + "\n"

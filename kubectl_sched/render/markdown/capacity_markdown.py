"""Capacity as GitHub-flavoured Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.capacity_sentences import (
    about_stranded,
    capacity_sentence,
    fits_text,
    pods_text,
    pool_text,
    requests_text,
    resource_texts,
    resources_asked_for,
)
from kubectl_sched.render.markdown.markdown_text import bullets, code, table, text

if TYPE_CHECKING:
    from kubectl_sched.queries.capacity import Answer


def capacity_markdown(answer: Answer) -> str:
    """Return the shapes, what is stranded for each, and the pools."""
    shapes = [
        (code(each.shape.name), pods_text(each), fits_text(each), text(requests_text(each.requests)))
        for each in answer.shapes
    ]
    pools = [
        (text(pool_text(pool)), code(each.name), *map(text, resource_texts(each)))
        for pool in answer.pools
        for each in resources_asked_for(pool, answer)
    ]
    parts = [f"**{text(capacity_sentence(answer))}**"]
    if shapes:
        parts.append(table(("Shape", "Pods", "Fits", "Requests"), shapes, frozenset({2})))
    stranded = [line for each in answer.shapes for line in about_stranded(each)]
    headings = ("Pool (nodes)", "Resource", "Requested", "Free", "Stranded", "Largest pod")
    parts += [bullets(stranded)] if stranded else []
    parts.append(table(headings, pools, frozenset({3, 4})))
    parts += [bullets(answer.notes)] if answer.notes else []
    return "\n\n".join([*parts, f"Replayed as kube-scheduler {answer.kubernetes_version}."]) + "\n"

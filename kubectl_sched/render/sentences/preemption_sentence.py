"""Preemption in a sentence: its victims, their node, the budgets it violates, and why it chose that node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import count, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.interface import PostFilterResult
    from kubectl_sched.scheduler.result import ScheduleResult

_VICTIMS_SHOWN = 3


def preemption(result: ScheduleResult) -> str | None:
    """The sentence; None where preemption would not help."""
    post_filter = result.post_filter
    if post_filter is None or not post_filter.nominated_node:
        return None
    victims = [f"{victim.key} (priority {victim.priority})" for victim in post_filter.victims]
    would = f"Preemption would make room on {post_filter.nominated_node}"
    would += f" by evicting {listed(victims, _VICTIMS_SHOWN)}" if victims else " without evicting anyone"
    return f"{would}{'; '.join(['', *_circumstances(post_filter)])}."


def _circumstances(post_filter: PostFilterResult) -> Iterator[str]:
    chosen = next((each for each in post_filter.candidates if each.node_name == post_filter.nominated_node), None)
    if chosen is not None and chosen.violated_budgets:
        yield f"that would violate {listed(chosen.violated_budgets)}"
    others = len(post_filter.candidates) - 1
    choice = post_filter.choice
    if choice is None or not others:
        return
    if choice.decided_by is not None:
        yield f"it is chosen over {count(others, 'other node')} because {choice.decided_by}"
    if len(choice.tied) > 1:
        yield f"{count(len(choice.tied), 'node')} are equally good, and kube-scheduler may choose any of them"

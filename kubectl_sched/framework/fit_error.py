"""The texts of a pod that fits nowhere (FitError in pkg/scheduler/framework/types.go, schedule_one.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.config.versions import FitErrorForm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.framework.status import Status

NO_NODES_AVAILABLE = "no nodes available to schedule pods"

_NEWEST = FitErrorForm()

NOTE_LENGTH_LIMIT = 1024
"""Bytes that an event's note may have (validation.NoteLengthLimit)."""


def fit_error(
    node_count: int,
    pre_filter: Status,
    statuses: Iterable[tuple[Status, int]],
    post_filter_message: str = "",
    form: FitErrorForm = _NEWEST,
) -> str:
    """`0/3 nodes are available: ...`: how many nodes gave each reason, sorted as text, then what PostFilter said."""
    text = f"0/{node_count} nodes are available:"
    if pre_filter.message and not form.counts_pre_filter:
        text += f" {pre_filter.message}."
    else:
        counts: dict[str, int] = {}
        for status, count in statuses:
            for reason in status.reasons:
                counts[reason] = counts.get(reason, 0) + count
        if counts or form.counts_pre_filter:
            text += f" {', '.join(sorted(f'{count} {reason}' for reason, count in counts.items()))}."
    if not post_filter_message or not form.tells_post_filter:
        return text
    return f"{text} {post_filter_message}{'.' if form.stop_after_post_filter else ''}"


def event_note(message: str) -> str:
    """The message as an event carries it: cut after 1024 bytes, which the pod's condition is not."""
    encoded = message.encode()
    if len(encoded) <= NOTE_LENGTH_LIMIT:
        return message
    suffix = " ..."
    return encoded[: NOTE_LENGTH_LIMIT - len(suffix)].decode(errors="ignore") + suffix

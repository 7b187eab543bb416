"""The number of nodes for each reason, as kube-scheduler counts them, with the reason's meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.diagnostics.messages.reason_catalogue import PAGE, meaning
from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.record import Record
from kubectl_sched.render.sentences.node_sentences import rejected_by
from kubectl_sched.render.sentences.reason_clauses import of_reason

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult


class Bar(Record, frozen=True, kw_only=True):
    """One reason: kube-scheduler's text, the plugin behind it, how many nodes report it, and what that means.

    `summary` has the numbers of these nodes. `says`, `helps` and where to read `more` are empty for a reason of a
    plugin that was added.
    """

    plugin: str
    reason: str
    nodes: int
    summary: str
    says: str
    helps: str
    more: str


def histogram(result: ScheduleResult) -> tuple[Bar, ...]:
    """Every reason of the nodes' verdicts, that of most nodes first. A node with two reasons counts for both."""
    if result.verdict is None:
        return ()
    rows_of: dict[tuple[str, str], list[int]] = {}
    for row in range(len(result.nodes)):
        status = result.verdict[row]
        if not status.is_success:
            for reason in dict.fromkeys(status.reasons):
                rows_of.setdefault((rejected_by(result, row), reason), []).append(row)
    by_size = sorted(rows_of.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(_bar(result, plugin, reason, rows) for (plugin, reason), rows in by_size)


def _bar(result: ScheduleResult, plugin: str, reason: str, rows: list[int]) -> Bar:
    known = meaning(reason)
    says, helps, more = (known.says, known.helps, f"{PAGE}#{known.anchor}") if known is not None else ("", "", "")
    return Bar(
        plugin=plugin,
        reason=reason,
        nodes=len(rows),
        summary=_summary(result, plugin, reason, rows),
        says=says,
        helps=helps,
        more=more,
    )


def _summary(result: ScheduleResult, plugin: str, reason: str, rows: list[int]) -> str:
    """Return the clause about the nodes that the plugin rejects on its own for this reason; empty if there are none."""
    mask = result.rejection_masks.get(plugin)
    own = [row for row in rows if mask is not None and mask[row]]
    if not own:
        return ""
    return agreeing(len(own), of_reason(result, plugin, reason, np.array(own, dtype=np.intp)))

"""The node on which a pod has to start next: its own if it is bound and does not run yet, else the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult


def landing_node(result: ScheduleResult) -> str | None:
    """Return the node's name; None where the pod lands nowhere, runs already, or where chance decides among nodes."""
    if result.current_node:
        is_starting = result.pod.status.phase in {"", "Pending"}
        return result.current_node if is_starting and result.current_node in result.nodes.row_of else None
    if result.nominated_first is not None:
        return result.nominated_first
    return result.best[0] if result.fits and len(result.best) == 1 else None

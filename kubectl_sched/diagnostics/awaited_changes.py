"""Changes that may let a pending pod schedule without anyone acting: a lifted gate, ending victims, a new node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.pod_lifecycle import gates_by_controller

if TYPE_CHECKING:
    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.diagnostics.replay_against_history import Observed
    from kubectl_sched.scheduler.result import ScheduleResult

TIME_TO_ADD = 15 * 60
"""Seconds that an autoscaler may take for a node: max-node-provision-time, and Karpenter's registration."""

_SCALES_UP = {"TriggeredScaleUp": "cluster-autoscaler", "Nominated": "Karpenter"}


def waiting_for(result: ScheduleResult, stage: Stage | None, observed: Observed | None) -> str | None:
    """Return what the pod waits for, as a noun; None if nothing is under way."""
    if stage is not None and stage.name == "Gated":
        if not result.pod.spec.scheduling_gates:
            return "the pods of its group"
        found = ((who, " and ".join(gates)) for who, gates in gates_by_controller(result.pod).items())
        return " and ".join(
            f"{who} to lift the gate {gates}" if who is not None else f"the gate {gates} to be removed"
            for who, gates in found
        )
    if stage is not None and stage.name == "Nominated":
        return f"room on {result.pod.status.nominated_node_name}, which it is nominated to"
    if result.fits:
        is_asked = stage is None or stage.name not in {"NoScheduler", "NotCreated"}
        return "kube-scheduler's next attempt" if is_asked else None
    if result.post_filter is not None and result.post_filter.nominated_node:
        return f"preemption on {result.post_filter.nominated_node}"
    autoscaler = adding_a_node(observed)
    return f"a node that {autoscaler} adds" if autoscaler is not None else None


def adding_a_node(observed: Observed | None) -> str | None:
    """Return the autoscaler whose newest event about the pod says that it adds a node; None if there is none."""
    newest = observed.autoscalers[:1] if observed is not None else ()
    return next((_SCALES_UP[event.reason] for event in newest if event.reason in _SCALES_UP), None)

"""The gates of a pod as the JSON that scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.gates.gate import quoted
from kubectl_sched.record import plain

if TYPE_CHECKING:
    from kubectl_sched.diagnostics.gates.gate import Gate, Queue
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.ungated import Ungated
    from kubectl_sched.render.schemas import pod_gates as schema


def gates_data(explanation: Explanation) -> list[schema.Gate]:
    """Return a value for each gate; `fitsUngated` is null where nothing was replayed."""
    again = explanation.ungated
    fits = any(each.fits for each in again) if any(each.result is not None for each in again) else None
    replays = [_ungated(each) for each in again]
    return [_gate(each, replays, fits=fits) for each in explanation.gates]


def _gate(gate: Gate, replays: list[schema.Ungated], *, fits: bool | None) -> schema.Gate:
    owner, set_by = gate.owner, gate.set_by
    return {
        "gate": gate.gate,
        "owner": None
        if owner is None
        else {
            "kind": owner.kind or None,
            "namespace": owner.namespace or None,
            "name": owner.name or None,
            "controller": owner.controller,
        },
        "since": gate.since,
        "setBy": {"manager": set_by.manager, "lastWrite": set_by.time} if set_by is not None else None,
        "says": plain(gate.says),
        "facts": list(gate.facts),
        "queue": _queue(gate.queue),
        "fitsUngated": fits,
        "ungated": replays,
    }


def _queue(queue: Queue | None) -> schema.Queue | None:
    if queue is None:
        return None
    return {
        "localQueue": queue.local_queue or None,
        "clusterQueue": queue.cluster_queue,
        "cohort": queue.cohorts[0] if queue.cohorts else None,
        "parentCohorts": list(queue.cohorts[1:]),
        "position": plain(queue.place),
        "priority": queue.priority,
        "created": queue.created,
        "pendingWorkloads": queue.pending,
        "waiting": list(queue.waiting),
        "quotas": plain(queue.quotas),
        "cohortQuotas": plain(queue.cohort_quotas),
    }


def _ungated(each: Ungated) -> schema.Ungated:
    result, choice = each.result, each.injection
    return {
        "flavors": list(choice.flavors),
        "assigned": choice.assigned,
        "nodeSelector": {quoted(key): quoted(value) for key, value in choice.node_selector.items()},
        "fits": each.fits,
        "best": list(result.best) if result is not None else [],
        "message": result.message if result is not None else None,
        "problem": each.problem,
    }

"""The answer of `whatif` as data, by the schema of the contract."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.record import plain
from kubectl_sched.render.answers.drain import (
    drain_data,
)
from kubectl_sched.render.kubectl_names import pod_name
from kubectl_sched.render.sentences.premise import premise
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.whatif import WhatIfAnswer
    from kubectl_sched.render.schemas import what_if as schema
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.simulation.what_if_result import WhatIfResult


def answer_data(answer: WhatIfAnswer) -> schema.WhatIf:
    """Return the WhatIf of the contract, with its premise and the plan of a drain."""
    supposed = premise(answer.edits)
    return {
        **what_if_data(answer.result, answer.kubernetes_version, answer.kubernetes_patch, answer.notes),
        "premise": supposed or None,
        "drain": None if answer.drain is None else drain_data(answer.drain),
    }


def what_if_data(answer: WhatIfResult, version: str, patch: str | None, warnings: Sequence[str]) -> schema.Simulation:
    """The WhatIf of the contract."""
    simulated = answer.simulated
    per_node = Counter(each.node for each in simulated.placements if each.node is not None)
    return {
        "apiVersion": API_VERSION,
        "kind": "WhatIf",
        "kubernetesVersion": version,
        "kubernetesPatch": patch,
        "placements": [_placement(each) for each in simulated.placements],
        "placed": simulated.placed,
        "unplaced": simulated.unplaced,
        "perNode": dict(sorted(per_node.items())),
        "stopped": None if simulated.stopped is None else {"event": simulated.stopped.event},
        "nodesNeeded": answer.nodes_needed,
        "newNodes": [
            {"name": each.node.name, "nodePool": each.node_pool, "instanceType": each.instance_type}
            for each in answer.new_nodes
        ],
        "rollouts": [_rollout(each) for each in answer.rollouts],
        "interrupted": answer.interrupted,
        "warnings": [*answer.warnings, *warnings],
    }


def _placement(placement: Placement) -> schema.Placement:
    return {
        "pod": pod_name(placement.pod),
        "owner": placement.owner,
        "outcome": placement.outcome.value,
        "node": placement.node,
        "tied": list(placement.tied),
        "tiedCount": placement.tied_count,
        "total": placement.total,
        "nominatedNode": placement.nominated_node,
        "victims": sorted(victim.key for victim in placement.victims),
        "event": placement.event,
        "reason": placement.reason,
        "unknown": plain(placement.unknown),
    }


def _rollout(rollout: RolledOut) -> schema.Rollout:
    return {
        "owner": rollout.owner,
        "strategy": rollout.strategy,
        "steps": rollout.steps,
        "stuckAt": rollout.stuck_at,
        "remaining": sorted(pod.key for pod in rollout.remaining),
        "skew": plain(rollout.skew),
    }

"""The answer of `whatif`: as data, as names, and as pages."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.output import API_VERSION, write_page
from kubectl_sched.record import plain
from kubectl_sched.render.safe_text import count
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.whatif import Answer
    from kubectl_sched.render.display import Display
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.simulation.what_if_result import WhatIfResult


def show_what_if(what_if: Answer, display: Display) -> int:
    """Print the answer and return the exit code: 0 if all are placed, or with `--replicas max`; 3 if it is unknown."""
    answer, version, warnings = what_if.result, what_if.kubernetes_version, what_if.notes
    output, color = display.output, display.color
    if output in {"json", "yaml"}:
        from kubectl_sched.render.writers.data import write_data

        write_data(what_if_data(answer, version, warnings), output)
    elif output == "name":
        from kubectl_sched.render.writers.data import warn, write_names

        placed = (each for each in answer.simulated.placements if each.is_placed)
        write_names(f"pod/{each.pod.name} node/{each.node}" for each in placed)
        warn([*answer.warnings, *warnings, *_without_node(answer.simulated.placements)])
    elif output == "html":
        from kubectl_sched.render.writers.html import what_if_html

        write_page(what_if_html(answer, version, warnings))
    elif output == "markdown":
        from kubectl_sched.render.writers.markdown import what_if_markdown

        write_page(what_if_markdown(answer, version, warnings))
    else:
        from kubectl_sched.render.answers.whatif import page
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(page, answer, warnings, display), color)
    if answer.interrupted:
        return 1
    if any(each.outcome is Outcome.UNKNOWN for each in answer.simulated.placements):
        return UNKNOWN_EXIT_CODE
    if answer.simulated.stopped is not None:
        return UNKNOWN_EXIT_CODE if answer.simulated.stopped.outcome is Outcome.UNKNOWN else 0
    stuck = any(rollout.stuck_at is not None for rollout in answer.rollouts)
    return 1 if answer.simulated.unplaced or stuck else 0


def _without_node(placements: Sequence[Placement]) -> Iterator[str]:
    """Yield a sentence for each reason why pods have no node."""
    waiting: dict[str, list[str]] = {}
    for each in placements:
        if not each.is_placed:
            waiting.setdefault(each.event or each.reason or each.outcome.value, []).append(each.pod.key)
    for reason, (first, *others) in waiting.items():
        they = f"{first} and {count(len(others), 'more pod')} have" if others else f"{first} has"
        yield f"{they} no node: {reason}"


def what_if_data(answer: WhatIfResult, version: str, warnings: Sequence[str]) -> dict[str, Any]:
    """The WhatIf of the contract."""
    simulated = answer.simulated
    per_node = Counter(each.node for each in simulated.placements if each.node is not None)
    return {
        "apiVersion": API_VERSION,
        "kind": "WhatIf",
        "kubernetesVersion": version,
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


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "pod": {"namespace": placement.pod.namespace, "name": placement.pod.name},
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


def _rollout(rollout: RolledOut) -> dict[str, Any]:
    return {
        "owner": rollout.owner,
        "strategy": rollout.strategy,
        "steps": rollout.steps,
        "stuckAt": rollout.stuck_at,
        "remaining": sorted(pod.key for pod in rollout.remaining),
        "skew": plain(rollout.skew),
    }

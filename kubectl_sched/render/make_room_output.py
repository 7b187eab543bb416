"""The answer of `whatif --make-room`: as data, as names, and as pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.output import API_VERSION, write_page
from kubectl_sched.render.answers.make_room import plan_commands, plan_sentence
from kubectl_sched.render.writers.data import warn, write_data, write_names

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.make_room import Answer
    from kubectl_sched.render.display import Display
    from kubectl_sched.simulation.relocation import Step


def show_plan(answer: Answer, display: Display) -> int:
    """Print the plan and return the exit code: 0 if everything fits in the end, 1 if there is no plan."""
    if display.output in {"json", "yaml"}:
        write_data(plan_data(answer), display.output)
    elif display.output == "name":
        write_names(
            f"{step.action} " + (f"node/{step.node}" if step.pod is None else f"pod/{step.pod.name} node/{step.lands}")
            for step in answer.steps
        )
        warn([plan_sentence(answer), *answer.notes])
    elif display.output == "html":
        from kubectl_sched.render.writers.html import plan_html

        write_page(plan_html(answer))
    elif display.output == "markdown":
        from kubectl_sched.render.writers.make_room_markdown import plan_markdown

        write_page(plan_markdown(answer))
    else:
        from kubectl_sched.render.make_room_text import page
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(page, answer, display), display.color)
    return 0 if answer.found else 1


def plan_data(answer: Answer) -> dict[str, Any]:
    """Return the MakeRoom of the contract."""
    preemption = answer.preemption
    return {
        "apiVersion": API_VERSION,
        "kind": "MakeRoom",
        "kubernetesVersion": answer.kubernetes_version,
        "target": _target(answer),
        "plan": [_step(number, step) for number, step in enumerate(answer.steps, 1)],
        "node": answer.placed[0].tied[0] if answer.placed else None,
        "placements": [
            {"pod": _name(each.pod), "node": each.tied[0], "tied": list(each.tied)} for each in answer.placed
        ],
        "unplaced": None if answer.unplaced is None else _name(answer.unplaced.pod),
        "event": None if answer.unplaced is None else answer.unplaced.event,
        "searched": {
            "moves": answer.bounds.moves,
            "nodes": answer.nodes,
            "podsOfNode": answer.bounds.pods,
            "evictions": answer.bounds.evictions,
        },
        "complete": answer.complete,
        "notAskedToMove": dict(answer.refused),
        "preemption": preemption
        and {
            "pod": _name(preemption.pod),
            "node": preemption.node,
            "victims": [_name(each) for each in preemption.victims],
            "notLandingAgain": [_name(each) for each in preemption.homeless],
        },
        "summary": plan_sentence(answer),
        "commands": [str(command) for command in plan_commands(answer)],
        "warnings": list(answer.notes),
    }


def _target(answer: Answer) -> dict[str, Any]:
    kind, slash, name = answer.target.rpartition("/")
    return {"kind": kind if slash else "pod", "namespace": answer.namespace, "name": name}


def _step(number: int, step: Step) -> dict[str, Any]:
    return {
        "step": number,
        "action": step.action,
        "node": step.node,
        "pod": None if step.pod is None else _name(step.pod),
        "lands": step.lands,
        "tied": list(step.tied),
    }


def _name(pod: Pod) -> dict[str, str]:
    return {"namespace": pod.namespace, "name": pod.name}

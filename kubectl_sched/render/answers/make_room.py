"""Sentences and tables about a plan that makes room, and the commands that carry it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.make_room import about_search
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.shell_commands import cordon_node, evict_pod, uncordon_node
from kubectl_sched.simulation.relocation import CORDON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.make_room import Answer, Placed
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.simulation.relocation import Step


def plan_sentence(answer: Answer) -> str:
    """Return the sentence with the outcome: it fits already, fits after so many evictions, or there is no plan."""
    target = safe(answer.target)
    if answer.unplaced is not None:
        pod = answer.unplaced.pod
        is_target = answer.target.rpartition("/")[2] == pod.name
        who = "" if is_target else f"{safe(pod.key)} still fits nowhere; "
        return f"No plan makes room for {target}: {who}{safe(about_search(answer))}."
    if not answer.placed:
        return f"{target} has no pod that waits for room."
    nodes = listed(list(dict.fromkeys(each.tied[0] for each in answer.placed)))
    if not answer.steps:
        return f"{target} fits already, on {nodes}: nothing has to move."
    moved = sum(step.pod is not None for step in answer.steps)
    have = "has" if moved == 1 else "have"
    return f"{target} fits on {nodes} once {count(moved, 'pod')} {have} moved, and every pod that moves lands again."


def about_preemption(answer: Answer) -> str | None:
    """Return what kube-scheduler itself would do, and who would not land again; None if nothing."""
    preemption = answer.preemption
    if preemption is None:
        return None
    homeless = [pod.key for pod in preemption.homeless]
    again = "all of them" if len(preemption.victims) > 1 else "it"
    after = f"{listed(homeless)} would not land again" if homeless else f"{again} would land again"
    victims = listed([pod.key for pod in preemption.victims])
    pod, node = safe(preemption.pod.key), safe(preemption.node)
    return f"By itself kube-scheduler would evict {victims} from {node} for {pod}; {after}."


def step_table(answer: Answer) -> Table[tuple[int, Step]]:
    """Return the steps of the plan in order."""
    return Table(
        columns=(
            Column(heading="Step", cell=lambda row: str(row[0]), kind="number"),
            Column(heading="Action", cell=lambda row: row[1].action),
            Column(heading="Node", cell=lambda row: row[1].node, kind="name"),
            Column(heading="Pod", cell=lambda row: row[1].pod.key if row[1].pod is not None else "", kind="name"),
            Column(heading="Lands on", cell=lambda row: _node_text(row[1].lands or "", row[1].tied)),
        ),
        rows=list(enumerate(answer.steps, 1)),
    )


def placed_table(answer: Answer) -> Table[Placed]:
    """Return each pod of the target with its node after the plan."""
    return Table(
        columns=(
            Column(heading="Then", cell=lambda row: row.pod.key, kind="name"),
            Column(heading="Lands on", cell=lambda row: _node_text(row.tied[0], row.tied)),
        ),
        rows=answer.placed,
    )


def _node_text(node: str, tied: Sequence[str]) -> str:
    others = [name for name in tied if name != node]
    return f"{node} (tied with {listed(others, 2)})" if others else node


def plan_commands(answer: Answer) -> list[ShellCommand]:
    """Return a command for each step; none at all if a name is none that Kubernetes accepts."""
    commands = [_command(step) for step in answer.steps]
    return [] if None in commands else [command for command in commands if command is not None]


def _command(step: Step) -> ShellCommand | None:
    if step.pod is not None:
        return evict_pod(step.pod.namespace, step.pod.name)
    return cordon_node(step.node) if step.action == CORDON else uncordon_node(step.node)

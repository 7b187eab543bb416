"""The answer of `whatif --make-room`: a plan that makes room, and the commands that carry it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.verdict.wording import without_domain
from kubectl_sched.render.document import Commands, Document, Listing, Quote, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.kubectl_names import pod_name
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.shell_commands import cordon_node, evict_pod, uncordon_node
from kubectl_sched.simulation.evictable_pods import refusals_in_words
from kubectl_sched.simulation.relocation import CORDON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.make_room import MakeRoomAnswer, Placed
    from kubectl_sched.render.schemas import what_if as schema
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.simulation.relocation import Step

_HOW_TO_RUN = "Run one step after the other; after an eviction wait until the new pod has its node:"


def shown_plan(answer: MakeRoomAnswer) -> Shown:
    """Return the plan in each form."""
    return Shown(
        document=lambda _: plan_document(answer),
        data=lambda: plan_data(answer),
        names=lambda: dict.fromkeys(map(_step_name, answer.steps)),
        remarks=lambda: (plan_sentence(answer), *answer.notes),
    )


def plan_document(answer: MakeRoomAnswer) -> Document:
    """Return the outcome, the steps with their commands, and what kube-scheduler would do by itself."""
    return Document(
        verdict=Verdict(
            text=plan_sentence(answer),
            tone="good" if answer.found else "bad",
            badge="it fits" if answer.found else "no plan",
        ),
        parts=tuple(_parts(answer)),
        notes=notes_of(answer.changing, answer.notes),
        facts=(("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),),
        nodes=answer.names,
        heading="Make room",
        command="whatif --make-room",
    )


def _parts(answer: MakeRoomAnswer) -> Iterator[Said]:
    if answer.steps:
        yield Listing(tables=(step_table(answer),), caption="The steps of the plan", gap=True)
        yield Listing(tables=(placed_table(answer),), caption="The pods that then have room", gap=True)
        foreign = dict.fromkeys(safe(pod.namespace) for pod in _evicted(answer) if pod.namespace != answer.namespace)
        if foreign:
            whose = f"{'namespace' if len(foreign) == 1 else 'namespaces'} {listed(list(foreign))}"
            yield Sentence(text=f"This evicts pods of {whose}: ask whom they belong to.", tone="changed", gap=True)
        yield Sentence(text=_HOW_TO_RUN, gap=not foreign)
        yield Commands(commands=tuple(map(str, plan_commands(answer))))
    preemption = about_preemption(answer)
    if preemption is not None:
        yield Sentence(text=preemption, gap=True)
    if answer.unplaced is not None and answer.unplaced.event:
        yield Quote(heading="kube-scheduler would say", text=answer.unplaced.event, gap=True)


def _evicted(answer: MakeRoomAnswer) -> list[Pod]:
    return [step.pod for step in answer.steps if step.pod is not None]


def _step_name(step: Step) -> str:
    return f"node/{step.node}" if step.pod is None else f"pod/{step.pod.name}"


def plan_sentence(answer: MakeRoomAnswer) -> str:
    """Return the sentence with the outcome: it fits already, fits after so many evictions, or there is no plan."""
    target = safe(answer.target)
    if answer.unplaced is not None:
        pod = answer.unplaced.pod
        is_target = answer.target.rpartition("/")[2] == pod.name
        who = "" if is_target else f"{safe(pod.key)} still fits nowhere; "
        return f"No plan makes room for {target}: {who}{safe(about_search(answer))}."
    if not answer.placed:
        return f"{target} has no pod that waits for room."
    nodes = without_domain(listed(list(dict.fromkeys(each.tied[0] for each in answer.placed))), answer.names)
    if not answer.steps:
        return f"{target} fits already, on {nodes}: nothing has to move."
    moved = len(_evicted(answer))
    have = "has" if moved == 1 else "have"
    return f"{target} fits on {nodes} once {count(moved, 'pod')} {have} moved, and every pod that moves lands again."


def about_preemption(answer: MakeRoomAnswer) -> str | None:
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


def step_table(answer: MakeRoomAnswer) -> Table[tuple[int, Step]]:
    """Return the steps of the plan in order."""
    return Table(
        columns=(
            Column(heading="Step", cell=lambda row: str(row[0]), kind="number"),
            Column(heading="Action", cell=lambda row: row[1].action),
            Column(heading="Node", cell=lambda row: row[1].node, kind="name", among=answer.names),
            Column(heading="Pod", cell=lambda row: row[1].pod.key if row[1].pod is not None else "", kind="name"),
            Column(heading="Lands on", cell=lambda row: _node_text(row[1].lands or "", row[1].tied)),
        ),
        rows=list(enumerate(answer.steps, 1)),
    )


def placed_table(answer: MakeRoomAnswer) -> Table[Placed]:
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


def plan_commands(answer: MakeRoomAnswer) -> list[ShellCommand]:
    """Return a command for each step; none at all if a name is none that Kubernetes accepts."""
    commands = [_command(step) for step in answer.steps]
    return [] if None in commands else [command for command in commands if command is not None]


def _command(step: Step) -> ShellCommand | None:
    if step.pod is not None:
        return evict_pod(step.pod.namespace, step.pod.name)
    return cordon_node(step.node) if step.action == CORDON else uncordon_node(step.node)


def plan_data(answer: MakeRoomAnswer) -> schema.MakeRoom:
    """Return the MakeRoom of the contract."""
    preemption = answer.preemption
    return {
        "apiVersion": API_VERSION,
        "kind": "MakeRoom",
        "kubernetesVersion": answer.kubernetes_version,
        "kubernetesPatch": answer.kubernetes_patch,
        "target": _target(answer),
        "plan": [_step(number, step) for number, step in enumerate(answer.steps, 1)],
        "node": answer.placed[0].tied[0] if answer.placed else None,
        "placements": [
            {"pod": pod_name(each.pod), "node": each.tied[0], "tied": list(each.tied)} for each in answer.placed
        ],
        "unplaced": None if answer.unplaced is None else pod_name(answer.unplaced.pod),
        "event": None if answer.unplaced is None else answer.unplaced.event,
        "searched": {
            "moves": answer.bounds.moves,
            "nodes": answer.nodes,
            "podsOfNode": answer.bounds.pods,
            "evictions": answer.bounds.evictions,
        },
        "complete": answer.complete,
        "notAskedToMove": dict(answer.refused),
        "preemption": None
        if preemption is None
        else {
            "pod": pod_name(preemption.pod),
            "node": preemption.node,
            "victims": [pod_name(each) for each in preemption.victims],
            "notLandingAgain": [pod_name(each) for each in preemption.homeless],
        },
        "summary": plan_sentence(answer),
        "commands": [str(command) for command in plan_commands(answer)],
        "warnings": list(answer.notes),
    }


def _target(answer: MakeRoomAnswer) -> schema.Target:
    kind, slash, name = answer.target.rpartition("/")
    return {"kind": kind if slash else "pod", "namespace": answer.namespace, "name": name}


def _step(number: int, step: Step) -> schema.PlanStep:
    return {
        "step": number,
        "action": step.action,
        "node": step.node,
        "pod": None if step.pod is None else pod_name(step.pod),
        "lands": step.lands,
        "tied": list(step.tied),
    }


def about_search(answer: MakeRoomAnswer) -> str:
    """Return how far the search looked, and which pods could not be asked to move."""
    most = answer.bounds.moves
    nodes = "the closest node" if answer.nodes == 1 else f"the {answer.nodes:,} closest nodes"
    moves = f"moving up to {most} pods on {nodes} is not enough"
    if not answer.nodes:
        moves = f"there is no node where moving up to {most} pods would be enough"
    spent = "" if answer.complete else f"; the search stopped after {answer.bounds.evictions:,} simulated evictions"
    words = refusals_in_words(answer.refused)
    return f"{moves}{spent}" + (f"; pods not asked to move: {words}" if words else "")

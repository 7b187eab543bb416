"""Changes of what keeps a pod from being tried or from preempting: gates, a node's name, its priority."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.policy import PriorityClass
from kubectl_sched.diagnostics.pod_lifecycle import controller_of_gate, gates_by_controller
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_OF_THE_SYSTEM = "system-"


def ungate(pod: Pod) -> Way:
    """Wait for the controllers that take scheduling gates off, and take off those of nobody known."""
    return tuple(_without_gates(owner, names) for owner, names in gates_by_controller(pod).items())


def _without_gates(owner: str | None, names: Sequence[str]) -> Change:
    gates = f"{'gate' if len(names) == 1 else 'gates'} {' and '.join(names)}"
    ungated = partial(_ungated, owner=owner)
    if owner is not None:
        return Change(kind=Kind.WAIT, text=f"once {owner} lifts the {gates}", pod=ungated)
    them = "it" if len(names) == 1 else "them"
    caution = f"whoever set {them} removes {them} once the pod may start"
    text, step = f"without its scheduling {gates}", f"remove its scheduling {gates}"
    return Change(kind=Kind.UNGATE, text=text, step=step, pod=ungated, caution=caution)


def _ungated(pod: Pod, owner: str | None) -> Pod:
    gates = pod.spec.scheduling_gates
    return with_spec(pod, scheduling_gates=tuple(each for each in gates if controller_of_gate(each.name) != owner))


def unname(name: str) -> Way:
    """Leave the choice of the node to the scheduler, instead of naming one that is not there."""
    return _without_node_name(name, ", a node that is not there")


def unname_chosen(name: str) -> Way:
    """Leave the choice of the node to the scheduler, instead of naming one by hand."""
    return _without_node_name(name, ", so that a scheduler places it")


def _without_node_name(name: str, why: str) -> Way:
    text, step = (f"{verb} nodeName {name}{why}" for verb in ("without", "remove"))
    return (Change(kind=Kind.UNNAME, text=text, step=step, pod=lambda pod: with_spec(pod, node_name="")),)


def prioritize(result: ScheduleResult) -> Iterator[Change]:
    """The lowest priority class above the pod's own priority, and the highest; never those of the system itself.

    For each of them preemption is dry-run, which on a large cluster that is full takes longer than all else.
    """
    classes = [
        each
        for each in result.nodes.objects.all(PriorityClass)
        if each.value > result.pod.priority
        and each.preemption_policy != "Never"
        and not each.metadata.name.startswith(_OF_THE_SYSTEM)
    ]
    by_value = sorted(classes, key=lambda each: (each.value, each.metadata.name))
    for each in (*by_value[:1], *by_value[1:][-1:]):
        yield Change(
            kind=Kind.PRIORITIZE,
            text=f"with priorityClassName {each.metadata.name} ({each.value})",
            step=f"use priorityClassName {each.metadata.name} ({each.value})",
            pod=partial(_of_class, given=each),
            caution="it then comes before pods of lower priority, and may end them",
            cost=(each.value,),
        )


def _of_class(pod: Pod, given: PriorityClass) -> Pod:
    """Return the pod as admission fills in its priority class."""
    spec = replace(
        pod.spec,
        priority_class_name=given.metadata.name,
        priority=given.value,
        preemption_policy=given.preemption_policy or "PreemptLowerPriority",
    )
    return replace(pod, spec=spec)

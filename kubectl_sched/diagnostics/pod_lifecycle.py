"""The stage of a pod's lifecycle: much of what looks pending is not a scheduling problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import find_condition
from kubectl_sched.data_lines import data_lines
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record
from kubectl_sched.shell_commands import container_logs, describe, logs
from kubectl_sched.snapshot import NodeInfo
from kubectl_sched.sources.pod_surroundings import bound_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

_CONTROLLERS = {
    "kueue.x-k8s.io/": "Kueue",
    "jobset.sigs.k8s.io/": "JobSet",
    "karpenter.sh/": "Karpenter",
    "scheduling.volcano.sh/": "Volcano",
    "scheduling.run.ai/": "Run:ai",
    "gke.io/": "GKE",
    "grove.io/": "Grove",
    "multiarch.openshift.io/": "OpenShift's Multiarch Tuning Operator",
    "ApplicationAwareQuotaGate": "KubeVirt's Application Aware Quota",
}
"""The controllers that are known to lift gates, by the beginnings of the gates' names."""

_REFUSALS = Path(__file__).with_name("kubelet_refusals.txt")

_UNDER_PRESSURE = "The node had condition"
"""By these words an eviction that is a refusal is told from one of a pod that ran (pkg/kubelet/eviction)."""

_REPLACING = frozenset({"DaemonSet", "ReplicaSet", "ReplicationController", "StatefulSet"})

_PREEMPTED = pattern(r"Preempted by (?:pod )?(\S+?)(?: on node (\S+))?\.?$")
_VICTIMS_NAMED = 3
_CRASHES = "CrashLoopBackOff"
_OF_IMAGES = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"})


def controller_of_gate(gate: str) -> str | None:
    """Return the controller that lifts the gate; None if it is not known."""
    return next((who for prefix, who in _CONTROLLERS.items() if gate.startswith(prefix)), None)


def controller_of(pod: Pod) -> str | None:
    """Return the controller that lifts a gate of the pod; None if none of its gates is known."""
    return next(iter(gates_by_controller(pod)), None)


def gates_by_controller(pod: Pod) -> dict[str | None, list[str]]:
    """Return the names of the pod's gates by the controller that lifts them; those of nobody known come last."""
    found: dict[str | None, list[str]] = {}
    for gate in sorted(pod.spec.scheduling_gates, key=lambda gate: controller_of_gate(gate.name) is None):
        found.setdefault(controller_of_gate(gate.name), []).append(gate.name)
    return found


class Stage(Record, frozen=True, kw_only=True):
    """A stage of the contract: its name, since when (RFC 3339), and a sentence for each fact that shows it."""

    name: str
    since: str | None = None
    evidence: tuple[str, ...] = ()

    known_by: str | None = None
    """The owner of the gate, if known."""

    trouble: tuple[str, ...] = ()
    """Clauses on what keeps a bound pod from running, the fullest first."""


def stage_of(result: ScheduleResult, around: Surroundings) -> Stage | None:
    """Return the stage of the result's pod; None if no scheduler has looked at it yet, which is nothing strange."""
    if result.pod.has_ended:
        return _ended(result.pod, around)
    if result.current_node:
        from kubectl_sched.diagnostics.pod_trouble import WAITING_FOR, trouble_of  # most questions are of pending pods

        node = _its_node(result)
        found = _bound(result.pod, around, (*_left_for_resize(result), *_about_node(node)))
        trouble = trouble_of(result.pod, around.events(result.pod), node)
        is_shown = any("`kubectl " in each or each.startswith(tuple(WAITING_FOR.values())) for each in found.evidence)
        shows = _shown_by(result.pod) if trouble and not is_shown else ()
        return replace(found, trouble=trouble, evidence=(*found.evidence, *shows))
    return _pending(result, around)


def _shown_by(pod: Pod) -> tuple[str, ...]:
    """Return the command that shows more of the trouble of a bound pod."""
    from kubectl_sched.diagnostics.pod_trouble import running_init_container  # as above

    running = running_init_container(pod)
    if running is not None:
        command, what = logs(pod.namespace, pod.name, running), "what it does"
    else:
        command, what = describe("pod", pod.namespace, pod.name), "its events"
    return (f"`{command}` shows {what}",) if command is not None else ()


def _its_node(result: ScheduleResult) -> Node | None:
    row = result.nodes.row_of.get(result.current_node or "")
    return None if row is None else result.nodes.node_objects[row]


def _about_node(node: Node | None) -> Iterator[str]:
    ready = find_condition(node.status.conditions, "Ready") if node is not None else None
    if node is not None and ready is not None and ready.status != "True":
        said = ": ".join(filter(None, (ready.reason, _without_full_stop(ready.message))))
        yield f"its node {node.name} is not ready ({said or ready.status})"


def stage_without_replay(pod: Pod, around: Surroundings) -> Stage | None:
    """Return the stage that the pod and its events show; who serves the pod, and what its node has, stays unknown."""
    if pod.has_ended:
        return _ended(pod, around)
    if pod.spec.node_name:
        return _bound(pod, around)
    if pod.spec.scheduling_gates:
        return _gated(pod)
    if pod.status.nominated_node_name:
        return _nominated(pod, around)
    return _unschedulable(pod)


def _pending(result: ScheduleResult, around: Surroundings) -> Stage | None:
    pod = result.pod
    if not result.pre_enqueue.is_success or pod.spec.scheduling_gates:
        return _gated(pod, result.pre_enqueue.message)
    missing = around.missing_scheduler(pod)
    if missing:
        return Stage(name="NoScheduler", since=pod.metadata.creation_timestamp, evidence=missing)
    if pod.status.nominated_node_name:
        return _nominated(pod, around)
    if result.fits:
        return _unschedulable(pod, "it fits now, so kube-scheduler will find a node for it when it tries again")
    return _unschedulable(pod)


def _unschedulable(pod: Pod, *besides: str) -> Stage | None:
    condition = pod.condition("PodScheduled")
    if condition is None or condition.status != "False":
        return None
    evidence = (f"its condition says {condition.reason}", *besides)
    return Stage(name="Unschedulable", since=condition.last_transition_time, evidence=evidence)


def _ended(pod: Pod, around: Surroundings) -> Stage:
    reason = pod.status.reason
    message = _without_full_stop(pod.status.message)
    told = f"{reason}: {message}" if message else reason
    if was_refused(pod):
        since = pod.status.start_time or pod.metadata.creation_timestamp
        return Stage(name="RefusedByKubelet", since=since, evidence=(told, *_its_successor(pod)))
    ready = pod.condition("Ready")
    since = ready.last_transition_time if ready is not None else pod.status.start_time
    evidence = (f"its phase is {pod.status.phase}", *filter(None, [told]), *preempted_by(pod, around))
    return Stage(name="Finished", since=since, evidence=evidence)


def was_refused(pod: Pod) -> bool:
    """Report whether the pod's kubelet refused it after it was bound."""
    reason = pod.status.reason
    if pod.status.phase != "Failed":
        return False
    return _UNDER_PRESSURE in pod.status.message if reason == "Evicted" else is_refusal(reason)


def is_refusal(reason: str) -> bool:
    """Report whether a kubelet gives the reason for a pod that it does not admit."""
    return reason in data_lines(_REFUSALS) or reason.startswith("OutOf")


def _its_successor(pod: Pod) -> Iterator[str]:
    owner = pod.metadata.controller
    if owner is None and pod.metadata.annotations.config_mirror is None:
        yield "it stays as it is, and nothing makes another: delete it and create it again"
    elif owner is not None and owner.kind in _REPLACING:
        yield f"it stays as it is, and {owner.kind} {owner.name} makes another in its place"


def preempted_by(pod: Pod, around: Surroundings) -> tuple[str, ...]:
    """Return the pods that preempted this one: the UID in the event, resolved."""
    event = next((event for event in around.events(pod) if event.reason == "Preempted"), None)
    disrupted = pod.condition("DisruptionTarget")
    text = event.text if event is not None else ""
    if event is None and (disrupted is None or disrupted.reason != "PreemptionByScheduler"):
        return ()
    found = _PREEMPTED.search(text)
    if found is None:
        return (f"it was preempted: {text or (disrupted.message if disrupted else '')}",)
    by = around.pod_of_uid(found[1]) or around.pod_of_key(found[1])
    who = f"{by.key} (priority {by.priority})" if by is not None else f"{around.unseen_pod} ({found[1]})"
    return (f"it was preempted by {who}{f' on {found[2]}' if found[2] else ''}",)


def _without_full_stop(text: str) -> str:
    """A text that goes on after it."""
    return text.rstrip(". \n")


def _bound(pod: Pod, around: Surroundings, of_node: tuple[str, ...] = ()) -> Stage:
    """`of_node` are facts about its node: that it is not ready, and what it has left for a resize that is pending."""
    if pod.status.phase == "Running":
        told = (*_resize(pod), *of_node, *_waiting_containers(pod), *preempted_by(pod, around))
        return Stage(name="Running", since=pod.status.start_time, evidence=told)
    return Stage(name="Bound", since=bound_at(pod), evidence=(*_waits_for(pod, around), *of_node))


def _waits_for(pod: Pod, around: Surroundings) -> Iterator[str]:
    from kubectl_sched.diagnostics.pod_trouble import WAITING_FOR  # as above

    waiting = tuple(_waiting_containers(pod))
    yield from waiting
    event = next((event for event in around.events(pod) if event.reason in WAITING_FOR), None)
    if event is not None and not waiting:  # volumes and the sandbox come before every container
        yield f"{WAITING_FOR[event.reason]}: {_without_full_stop(event.text)}"
    if not (pod.status.init_container_statuses or pod.status.container_statuses):
        yield "its kubelet has not reported a container of it yet"
    yield from preempted_by(pod, around)


def _waiting_containers(pod: Pod) -> Iterator[str]:
    from kubectl_sched.diagnostics.pod_trouble import ORDINARY_WAITS  # as above

    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = status.state.waiting
        if waiting is not None and waiting.reason not in ORDINARY_WAITS:
            told = f"container {status.name} waits: {waiting.reason}"
            image = status.image if waiting.reason in _OF_IMAGES and status.image not in waiting.message else ""
            why = "; ".join(filter(None, (image and f"image {image}", waiting.message)))
            told = f"{told} ({why})" if why else told
            shows = container_logs(pod.namespace, pod.name, status.name) if waiting.reason == _CRASHES else None
            yield f"{told}; `{shows}` shows why" if shows is not None else told


def _resize(pod: Pod) -> Iterator[str]:
    """A resize in place that its node has no room for."""
    pending = pod.condition("PodResizePending")
    if pending is None or pending.status != "True":
        return
    told = f"its resize in place is {pending.reason.lower()}"
    if pending.message:
        told += f": {pending.message}"
    yield told


def _left_for_resize(result: ScheduleResult) -> Iterator[str]:
    row = result.nodes.row_of.get(result.current_node or "")
    if row is not None and any(_resize(result.pod)):
        yield f"its node has left beside it: {_free(result, row)}"


def _free(result: ScheduleResult, row: int) -> str:
    from kubectl_sched.framework.amounts import amount_texts

    node = NodeInfo(nodes=result.nodes, row=row)
    left = ((resource, node.allocatable(resource) - node.requested(resource)) for resource in ("cpu", "memory"))
    return ", ".join(f"{amount_texts(resource, amount)[0]} {resource}" for resource, amount in left)


def _gated(pod: Pod, otherwise: str = "") -> Stage:
    """`otherwise` is what keeps it from the queue where no gate does."""
    condition = pod.condition("PodScheduled")
    since = condition.last_transition_time if condition is not None else pod.metadata.creation_timestamp
    told = []
    for gate in pod.spec.scheduling_gates:
        who = controller_of_gate(gate.name)
        told.append(
            f"{who} holds it back by the gate {gate.name}"
            if who is not None
            else f"the gate {gate.name} is not removed yet"
        )
    queue = pod.metadata.labels.get("kueue.x-k8s.io/queue-name")
    if queue is not None:
        told.append(f"it is in Kueue's queue {queue}")
    if not told:
        told.append(otherwise)
    return Stage(name="Gated", since=since, evidence=tuple(told), known_by=controller_of(pod))


def _nominated(pod: Pod, around: Surroundings) -> Stage:
    condition = pod.condition("PodScheduled")
    node = pod.status.nominated_node_name
    victims = [
        each.key
        for _, each in around.pod_times
        if each.spec.node_name == node and each.metadata.deletion_timestamp is not None
    ]
    told = f"it is nominated to {node}"
    if victims:
        named = ", ".join(victims[:_VICTIMS_NAMED]) + (", ..." if len(victims) > _VICTIMS_NAMED else "")
        told += f", which {named} still {'has' if len(victims) == 1 else 'have'} to leave"
    return Stage(name="Nominated", since=condition.last_transition_time if condition else None, evidence=(told,))

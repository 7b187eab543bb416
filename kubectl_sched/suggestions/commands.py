"""Commands that can be pasted into a shell, and changes to make by hand, derived from what was replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.strategic_merge import difference, merge
from kubectl_sched.api.apimachinery.validation import subdomain_errors
from kubectl_sched.api.component_helpers.taints import UNSCHEDULABLE_TAINT
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import plain
from kubectl_sched.shell_commands import (
    ShellCommand,
    cordon_node,
    describe,
    describe_node,
    evict_pod,
    label_node,
    patch,
    plain_json,
    remove_taint,
    replace_pod,
    resize_pod,
    uncordon_node,
)
from kubectl_sched.simulation.relocation import CORDON
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.harm import whom_to_ask
from kubectl_sched.suggestions.suggestion import Manual, Patch, Scope
from kubectl_sched.suggestions.trial import pod_patch
from kubectl_sched.suggestions.workload import maker_in_words, workload_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.simulation.relocation import Step as PlanStep
    from kubectl_sched.suggestions.change import Change
    from kubectl_sched.suggestions.trial import Trial

_PATCHED_IN_PLACE = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"})

_JOB = "Job"
"""Its template cannot be changed."""

_LEAVES_PENDING_PODS = frozenset({"StatefulSet", "ReplicaSet", "ReplicationController"})
"""These do not replace a pod that never became ready, whatever becomes of their template."""

_LEAVES_RUNNING_PODS = frozenset({"ReplicaSet", "ReplicationController"})
"""These replace no pod for the sake of their template."""

_FROM_PRIORITY_CLASS = frozenset({"priority", "preemptionPolicy"})
"""The fields that admission fills in from a template's priorityClassName."""

_ADDED_BY_ADMISSION = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})

_BY_NO_COMMAND = frozenset({Kind.REPAIR, Kind.RAISE_MAX_PODS})
"""Changes of a node that are made on its machine: the command shows the node."""

_NO_COMMAND = Manual(instruction="there is no command for this: Kubernetes would not accept a name that it needs")
_HELD_DESCRIBED = 2
_SCHEDULER_NAME = pattern("[A-Za-z0-9][-A-Za-z0-9_.]{0,252}")


class _Asked(Manual, frozen=True, kw_only=True):
    """Somebody who has to agree. No command is given then."""


Step: TypeAlias = "ShellCommand | Manual | None"
"""None is a command that cannot be given."""


def steps(
    before: Trial, after: Trial, changes: Sequence[Change]
) -> tuple[tuple[ShellCommand, ...], tuple[Manual, ...]]:
    """Return what makes the one state of the other: nodes first, then evictions, the pod, and the profile.

    All commands or none: some of them alone would not do what was replayed.
    """
    found = tuple(_steps(before, after, changes))
    if None in found:
        return (), (_NO_COMMAND,)
    asked = tuple(Manual(instruction=each.instruction) for each in found if isinstance(each, _Asked))
    if asked:
        return (), asked
    return (
        tuple(each for each in found if isinstance(each, ShellCommand)),
        tuple(each for each in found if isinstance(each, Manual)),
    )


def _steps(before: Trial, after: Trial, changes: Sequence[Change]) -> Iterator[Step]:
    stored = before
    before, changes = _once_waited(before, changes)
    for was, becomes in _changed_nodes(before, after, changes):
        yield from _of_node(was, becomes)
    yield from _evict(before, [victim for change in changes for victim in change.ends])
    held = [pod for change in changes if change.kind is Kind.FINISH for pod in change.evicts]
    yield from (describe("pod", pod.namespace, pod.name) for pod in held[:_HELD_DESCRIBED])
    yield from (step for change in changes for step in _of_plan(before, change.moves))
    yield from (resize(was, becomes) for change in changes for was, becomes in change.resizes)
    # No replay can tell which of the node's pods may ask for less.
    looked_at = [change for change in changes if change.frees or change.kind in _BY_NO_COMMAND]
    yield from (describe_node(change.node_name) for change in looked_at if change.node_name is not None)
    yield from _of_pod(before, _pod_patch(stored, before, after))
    yield from (_weighing(after.framework, *change.weight) for change in changes if change.weight is not None)


def patches(before: Trial, after: Trial, changes: Sequence[Change]) -> tuple[Patch, ...]:
    """The changed nodes and the changed pod, each as the patch of the stored object."""
    stored = before
    before, changes = _once_waited(before, changes)
    found = [
        Patch(kind="Node", namespace="", name=was.metadata.name, patch=difference(plain(was), plain(becomes)))
        for was, becomes in _changed_nodes(before, after, changes)
    ]
    of_pod = _pod_patch(stored, before, after)
    if of_pod:
        found.append(
            Patch(kind="Pod", namespace=before.pod.metadata.namespace, name=before.pod.metadata.name, patch=of_pod)
        )
    return tuple(found)


def scope_of(before: Trial, after: Trial, changes: Sequence[Change]) -> Scope:
    """Return the reach of changes: the widest of the profile, the nodes and the pod or its workload."""
    before, changes = _once_waited(before, changes)
    if any(change.weight is not None or change.adds for change in changes):
        return Scope.CLUSTER
    if any(change.node_name is not None or change.ends or change.moves for change in changes):
        return Scope.NODE
    spec = pod_patch(before.pod, after.pod).get("spec", {})
    spec = {key: value for key, value in spec.items() if key != "schedulingGates"}
    is_owned = before.pod.metadata.controller is not None
    is_in_place = before.bound_to is None and _only_adds_tolerations(before.pod, spec)
    return Scope.WORKLOAD if is_owned and spec and not is_in_place else Scope.POD


def recreates_pods(before: Trial, after: Trial, changes: Sequence[Change]) -> bool:
    """Report whether the changes delete pods: those that are evicted, or this one for a copy that is changed."""
    before, changes = _once_waited(before, changes)
    spec = {**pod_patch(before.pod, after.pod).get("spec", {})}
    spec.pop("schedulingGates", None)
    in_place = before.bound_to is None and _only_adds_tolerations(before.pod, spec)
    return any(change.ends or change.moves for change in changes) or bool(spec and not in_place)


def _once_waited(before: Trial, changes: Sequence[Change]) -> tuple[Trial, Sequence[Change]]:
    """The state once all has come that comes by itself, and the changes that are then left to make."""
    for change in changes:
        if change.kind is Kind.WAIT and change.pod is not None:
            before = replace(before, pod=change.pod(before.pod))
    return before, [change for change in changes if change.kind is not Kind.WAIT]


def _pod_patch(stored: Trial, before: Trial, after: Trial) -> dict[str, Any]:
    """The patch of the pod, which leaves the gates that are waited for, also if it is made while they are there."""
    change = pod_patch(before.pod, after.pod)
    if "schedulingGates" in change.get("spec", {}) and stored.pod is not before.pod:
        gone = [{"name": gate.name, "$patch": "delete"} for gate in before.pod.spec.scheduling_gates]
        change["spec"]["schedulingGates"] = gone
    return change


def _changed_nodes(before: Trial, after: Trial, changes: Sequence[Change]) -> list[tuple[Node, Node]]:
    """Each as it is and as it becomes, but for its status: room on a node comes of its pods."""
    changed = (change for change in changes if change.node is not None and change.kind not in _BY_NO_COMMAND)
    names = dict.fromkeys(change.node_name for change in changed if change.node_name is not None)
    rows = [before.nodes.row_of[name] for name in names]
    pairs = [(before.nodes.node_objects[row], after.nodes.node_objects[row]) for row in rows]
    return [(was, replace(becomes, status=was.status)) for was, becomes in pairs]


def _of_node(was: Node, becomes: Node) -> Iterator[Step]:
    name, labels = was.metadata.name, was.metadata.labels
    if was.spec.unschedulable and not becomes.spec.unschedulable:
        yield uncordon_node(name)
    for key, value in becomes.metadata.labels.items():
        if labels.get(key) != value:
            yield label_node(name, key, value, overwrite=key in labels)
    for taint in was.spec.taints:
        goes_by_itself = taint.key == UNSCHEDULABLE_TAINT.key and was.spec.unschedulable
        if taint not in becomes.spec.taints and not goes_by_itself:
            yield remove_taint(name, taint.key, taint.effect)


def _evict(before: Trial, pods: Sequence[Pod]) -> Iterator[Step]:
    """Evict the pods, so that budgets are asked; where others have to agree, only say who."""
    asks = whom_to_ask(before.pod.namespace, pods, before.nodes.objects)
    if asks:
        yield from (_Asked(instruction=each) for each in asks)
    else:
        yield from (evict_pod(pod.namespace, pod.name) for pod in pods)


def _of_plan(before: Trial, plan: Sequence[PlanStep]) -> Iterator[Step]:
    """Carry out a plan, unless others have to agree: who, and the query that prints it for them."""
    asks = whom_to_ask(before.pod.namespace, [each.pod for each in plan if each.pod is not None], before.nodes.objects)
    if asks:
        query = f"kubectl sched whatif --make-room pod/{before.pod.name} -n {before.pod.namespace}"
        is_plain_name = not (subdomain_errors(before.pod.name) or subdomain_errors(before.pod.namespace))
        yield from (_Asked(instruction=each) for each in asks)
        if is_plain_name:
            yield _Asked(instruction=f"`{query}` prints the whole plan")
        return
    for each in plan:
        if each.pod is not None:
            yield evict_pod(each.pod.namespace, each.pod.name)
        else:
            yield cordon_node(each.node) if each.action == CORDON else uncordon_node(each.node)


def resize(before: Pod, after: Pod) -> ShellCommand | None:
    """Ask the kubelet of a pod that runs to give it other amounts, without a restart where its policy allows that."""
    spec = pod_patch(before, after).get("spec", {})
    return resize_pod(before.metadata.namespace, before.metadata.name, {"spec": spec})


def _of_pod(before: Trial, change: dict[str, Any]) -> Iterator[Step]:
    pod = before.pod
    spec = dict(change.get("spec", {}))
    if "schedulingGates" in spec:
        yield _in_place(pod, {"schedulingGates": spec.pop("schedulingGates")})
    if spec and before.bound_to is None and _only_adds_tolerations(pod, spec):
        yield _in_place(pod, spec)
    elif spec and before.bound_to is not None:
        yield from _of_bound_pod(before, spec)
    elif spec:
        yield change_spec(pod, spec)


def _of_bound_pod(before: Trial, spec: dict[str, Any]) -> Iterator[Step]:
    """Change a pod that runs, unless it has to end for that and a budget forbids it."""
    pod = before.pod
    kind, _ = workload_of(pod)
    ends = kind is None or (kind in _LEAVES_RUNNING_PODS and _is_of_kubernetes(pod))
    asks = whom_to_ask(pod.namespace, [pod], before.nodes.objects) if ends else ()
    yield from (_Asked(instruction=each) for each in asks)
    yield change_spec(pod, spec, is_bound=True)
    if ends and kind is not None:
        yield evict_pod(pod.namespace, pod.name)


def _in_place(pod: Pod, spec: dict[str, Any]) -> ShellCommand | None:
    """For the little that the API server lets change in a pod that waits: gates taken off, tolerations added."""
    return patch("Pod", pod.metadata.namespace, pod.metadata.name, {"spec": spec})


def _only_adds_tolerations(pod: Pod, spec: dict[str, Any]) -> bool:
    """Report whether that is all, and the pod has no owner in which it would be changed instead: none, or a Job."""
    if set(spec) != {"tolerations"} or workload_of(pod)[0] not in {None, _JOB}:
        return False
    present = plain(pod)["spec"].get("tolerations", [])
    return bool((spec["tolerations"] or [])[: len(present)] == present)


def change_spec(pod: Pod, spec: dict[str, Any], *, is_bound: bool = False) -> Step:
    """Change the pod's spec by a strategic merge patch, in whatever made the pod.

    A bare pod is replaced by a changed copy, since hardly any field of a pod can be changed in place. The copy of a
    bound pod does not name the node: otherwise no scheduler would be asked.
    """
    kind, name = workload_of(pod)
    namespace = pod.metadata.namespace
    if "tolerations" in spec:
        spec = {**spec, "tolerations": [each for each in spec["tolerations"] or () if not _is_added(each, kind)]}
    if kind is None:
        copied = _of_new_pod(pod, spec)
        return replace_pod(namespace, name, {"spec": {**copied, "nodeName": None} if is_bound else copied})
    spec = {key: _as_written(value) for key, value in spec.items() if key not in _FROM_PRIORITY_CLASS}
    if kind not in _PATCHED_IN_PLACE or not _is_of_kubernetes(pod):
        owner = maker_in_words(pod)
        how = (
            f"delete {owner} and create it with its template changed"
            if kind == _JOB
            else f"change the template of {owner}"
        )
        return Manual(instruction=f"{how} by this patch", document=plain_json({"spec": spec}))
    deleting = pod.metadata.name if kind in _LEAVES_PENDING_PODS and not is_bound else ""
    return patch(kind, namespace, name, {"spec": {"template": {"spec": spec}}}, deleting)


def _of_new_pod(pod: Pod, spec: dict[str, Any]) -> dict[str, Any]:
    """The patch without what the API server refuses in a pod that is created, though it has put it there itself."""
    stored = plain(pod)["spec"]
    written = _as_written(merge(stored, spec))
    written.pop("ephemeralContainers", None)
    return difference(stored, written)


def _as_written(value: Any) -> Any:
    """Selectors without what the API server merged into this one pod's for its matchLabelKeys, such as its own hash."""
    if isinstance(value, list):
        return [_as_written(each) for each in value]
    if not isinstance(value, dict):
        return value
    written = {key: _as_written(each) for key, each in value.items()}
    merged = {*value.get("matchLabelKeys", ()), *value.get("mismatchLabelKeys", ())}
    selector = value.get("labelSelector")
    if merged and selector:
        kept = [each for each in selector.get("matchExpressions", ()) if each["key"] not in merged]
        others = {key: each for key, each in selector.items() if key != "matchExpressions"}
        written["labelSelector"] = {**others, "matchExpressions": kept} if kept else others
    return written


def _is_added(toleration: dict[str, Any], kind: str | None) -> bool:
    """Report whether admission adds it to every pod, or the DaemonSet controller to its own."""
    key = toleration.get("key", "")
    if kind == "DaemonSet":
        return key.startswith("node.kubernetes.io/") and toleration.get("operator") == "Exists"
    return key in _ADDED_BY_ADMISSION and "tolerationSeconds" in toleration


def _is_of_kubernetes(pod: Pod) -> bool:
    """Report whether the owner's kind is one of Kubernetes' own, and not one of the same name, as OpenKruise's."""
    owner = pod.metadata.controller
    return owner is not None and owner.api_version.rpartition("/")[0] in {"", "apps"}


def _weighing(framework: Framework, plugin: str, weight: int) -> Manual | None:
    """The part of a KubeSchedulerConfiguration that gives a score plugin another weight."""
    api_version = framework.handle.release.config_apis[0]
    replaces = f"      disabled:\n      - name: {plugin}\n" if api_version.endswith("v1beta2") else ""
    scheduler_name = framework.profile.scheduler_name
    if not _SCHEDULER_NAME.fullmatch(scheduler_name):
        return None
    return Manual(
        instruction="change this in kube-scheduler's configuration (--config)",
        document=f"apiVersion: {api_version}\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles:\n"
        f"- schedulerName: {plain_json(scheduler_name)}\n"
        "  plugins:\n"
        "    score:\n"
        f"{replaces}"
        "      enabled:\n"
        f"      - name: {plugin}\n"
        f"        weight: {weight}",
    )

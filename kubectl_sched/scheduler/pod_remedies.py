"""Changes of one thing in a pod that might let it in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from kubectl_sched.api.pod import Toleration
from kubectl_sched.api.quantity import milli_value, value
from kubectl_sched.api.resource_names import is_extended_resource_name
from kubectl_sched.framework.amounts import amount_text, amount_texts, is_bytes
from kubectl_sched.framework.near_miss import nearest
from kubectl_sched.framework.toleration_hints import toleration_hints, toleration_text
from kubectl_sched.scheduler import commands
from kubectl_sched.scheduler.change import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.pod import Affinity, Container, Pod, PodSpec
    from kubectl_sched.scheduler.result import ScheduleResult

_CONDITION_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_ADDED_BY_ADMISSION = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_NODES_MEASURED = 64
_MEBIBYTE = 2**20
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _with_spec(change: Callable[[PodSpec], PodSpec]) -> Callable[[Pod], Pod]:
    return lambda pod: replace(pod, spec=change(pod.spec))


def correct_toleration(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Make a toleration that nearly tolerates a taint tolerate it."""
    tolerations = result.pod.spec.tolerations
    for taint in _taints(result, rows):
        for index, toleration in enumerate(tolerations):
            if toleration_hints(taint, (toleration,), comparison=False):
                meant = _tolerating(taint)
                corrected = (*tolerations[:index], meant, *tolerations[index + 1 :])
                text = f"if it tolerated {toleration_text(meant)} instead of {toleration_text(toleration)}"
                yield _tolerates(result.pod, corrected, text, None)


def tolerate(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Tolerate one taint. Taints of a node's condition are left: tolerating them cures nothing."""
    for taint in _taints(result, rows):
        added = (*result.pod.spec.tolerations, _tolerating(taint))
        caution = "if such pods are meant to run there: the taint keeps them out"
        yield _tolerates(result.pod, added, f"with a toleration for {taint}", caution)


def _taints(result: ScheduleResult, rows: list[int]) -> list[Taint]:
    """The taints that say which pods may run on these nodes, the most frequent first."""
    counted: dict[Taint, int] = {}
    for row in rows:
        for taint in result.nodes.taints[row]:
            if taint.effect in {"NoSchedule", "NoExecute"} and not taint.key.startswith(_CONDITION_TAINTS):
                plain = replace(taint, time_added=None)
                counted[plain] = counted.get(plain, 0) + 1
    return sorted(counted, key=lambda taint: -counted[taint])


def _tolerating(taint: Taint) -> Toleration:
    operator = "Equal" if taint.value else "Exists"
    return Toleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect)


def _tolerates(pod: Pod, tolerations: tuple[Toleration, ...], text: str, caution: str | None) -> Change:
    kept = [each for each in tolerations if each.key not in _ADDED_BY_ADMISSION or each.toleration_seconds is None]
    return Change(
        text,
        commands.change_spec(pod, {"tolerations": to_builtins(kept)}),
        pod=_with_spec(lambda spec: replace(spec, tolerations=tolerations)),
        caution=caution,
    )


def correct_selector(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Write a key or value of the nodeSelector as nodes have it."""
    del rows
    selector, nodes = result.pod.spec.node_selector or {}, result.nodes
    for key, wanted in selector.items():
        values = frozenset(each for each in nodes.label(key).values if each is not None)
        if values:
            near = None if wanted in values else nearest(wanted, values)
            if near is not None:
                yield _selects(result.pod, {**selector, key: near}, {key: near}, f"{key}={wanted}", f"{key}={near}")
            continue
        meant = nearest(key, nodes.table.label_keys)
        if meant is not None:
            renamed = {meant if each == key else each: selector[each] for each in selector}
            patch = {key: None, meant: wanted}
            yield _selects(result.pod, renamed, patch, f"{key}={wanted}", f"{meant}={wanted}")


def _selects(pod: Pod, selector: dict[str, str], patch: dict[str, str | None], wrong: str, right: str) -> Change:
    return Change(
        f"if its nodeSelector asked for {right} instead of {wrong}",
        commands.change_spec(pod, {"nodeSelector": patch}),
        pod=_with_spec(lambda spec: replace(spec, node_selector=selector)),
    )


def select_less(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Leave out one key of the nodeSelector."""
    del rows
    selector = result.pod.spec.node_selector or {}
    for key, wanted in selector.items():
        kept = {each: selector[each] for each in selector if each != key}
        yield Change(
            f"without {key}={wanted} in its nodeSelector",
            commands.change_spec(result.pod, {"nodeSelector": {key: None}}),
            pod=_with_spec(lambda spec, kept=kept: replace(spec, node_selector=kept)),  # type: ignore[misc]
        )


def require_less(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Leave out the required terms of one kind of affinity."""
    del rows
    affinity = result.pod.spec.affinity
    for part, words, field in (
        ("node_affinity", "node affinity", "nodeAffinity"),
        ("pod_affinity", "pod affinity", "podAffinity"),
        ("pod_anti_affinity", "pod anti-affinity", "podAntiAffinity"),
    ):
        terms = getattr(affinity, part, None)
        if terms is not None and terms.required:
            yield Change(
                f"without its required {words}",
                commands.change_spec(result.pod, {"affinity": {field: {_REQUIRED: None}}}),
                pod=_with_spec(lambda spec, part=part: replace(spec, affinity=_without(spec.affinity, part))),  # type: ignore[misc]
            )


def _without(affinity: Affinity | None, part: str) -> Affinity | None:
    if affinity is None:
        return None
    empty = None if part == "node_affinity" else ()
    return replace(affinity, **{part: replace(getattr(affinity, part), required=empty)})


def request_less(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Where one resource is short, lower the largest request for it by what is missing on the freest node."""
    measured = [(_shortages(result, row), row) for row in rows[:_NODES_MEASURED]]
    single = sorted((next(iter(short.values())), row, next(iter(short))) for short, row in measured if len(short) == 1)
    for missing, _, resource in single:
        change = _less(result.pod, resource, missing)
        if change is not None:
            yield change


def _shortages(result: ScheduleResult, row: int) -> dict[str, int]:
    """By how much each resource is short on the row's node, in the scheduler's units."""
    facts = [fact.facts for fact in result.filter_evidence("NodeResourcesFit", row)]
    return {
        str(fact["resource"]): int(str(fact["wanted"])) + int(str(fact["used"])) - int(str(fact["capacity"]))
        for fact in facts
        if {"resource", "wanted", "used", "capacity"} <= fact.keys()
    }


def _less(pod: Pod, resource: str, missing: int) -> Change | None:
    measure = milli_value if resource == "cpu" else value
    asking = [
        (measure(container.resources.requests[resource]), index)
        for index, container in enumerate(pod.spec.containers)
        if resource in container.resources.requests
    ]
    amount, index = max(asking, default=(0, 0))
    left = _round(resource, amount - missing)
    if resource == "pods" or left <= 0:
        return None
    container, text = pod.spec.containers[index], amount_text(resource, left)
    resources: dict[str, Any] = {"requests": {resource: text}}
    if is_extended_resource_name(resource) or resource.startswith("hugepages-"):
        resources["limits"] = {resource: text}  # the API server wants them equal
    now, then = amount_texts(resource, amount, left)
    return Change(
        f"if container {container.name} asked for {then} {resource} instead of {now}",
        commands.change_spec(pod, {"containers": [{"name": container.name, "resources": resources}]}),
        pod=_with_spec(lambda spec: replace(spec, containers=_lowered(spec.containers, index, resource, text))),
    )


def _round(resource: str, amount: int) -> int:
    """Whole mebibytes, where there is at least one."""
    return amount // _MEBIBYTE * _MEBIBYTE if is_bytes(resource) and amount >= _MEBIBYTE else math.floor(amount)


def _lowered(containers: tuple[Container, ...], index: int, resource: str, left: str) -> tuple[Container, ...]:
    container = containers[index]
    resources = replace(container.resources, requests={**container.resources.requests, resource: left})
    return (*containers[:index], replace(container, resources=resources), *containers[index + 1 :])


def spread_softly(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Make one spread constraint a preference."""
    del rows
    constraints = result.pod.spec.topology_spread_constraints
    for index, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        softened = replace(constraint, when_unsatisfiable="ScheduleAnyway")
        patch = {"topologyKey": constraint.topology_key, "whenUnsatisfiable": "ScheduleAnyway"}
        changed = (*constraints[:index], softened, *constraints[index + 1 :])
        yield Change(
            f"with whenUnsatisfiable: ScheduleAnyway for {constraint.topology_key}",
            commands.change_spec(result.pod, {"topologySpreadConstraints": [patch]}),
            pod=_with_spec(lambda spec, changed=changed: replace(spec, topology_spread_constraints=changed)),  # type: ignore[misc]
            caution="its pods may then be spread less evenly",
        )


def free_port(result: ScheduleResult, rows: list[int]) -> Iterator[Change]:
    """Do without one host port."""
    del rows
    pod = result.pod
    if pod.spec.host_network:
        return
    for container in pod.spec.containers:
        for port in container.ports:
            if port.host_port:
                body = {"name": container.name, "ports": [{"containerPort": port.container_port, "hostPort": None}]}
                yield Change(
                    f"without hostPort {port.host_port} of container {container.name}",
                    commands.change_spec(pod, {"containers": [body]}),
                    pod=_with_spec(lambda spec, number=port.host_port: _without_port(spec, number)),  # type: ignore[misc]
                )


def _without_port(spec: PodSpec, number: int) -> PodSpec:
    def freed(container: Container) -> Container:
        ports = (replace(port, host_port=0) if port.host_port == number else port for port in container.ports)
        return replace(container, ports=tuple(ports))

    return replace(spec, containers=tuple(freed(each) for each in spec.containers))

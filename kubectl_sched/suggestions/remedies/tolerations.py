"""Tolerating a node's taints, and taking them off: for those that keep a pod out and those that only repel it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.api.component_helpers.taints import (
    DO_NOT_SCHEDULE,
    PREFER_NO_SCHEDULE,
    UNSCHEDULABLE_TAINT,
    Tolerations,
    without_taint,
)
from kubectl_sched.api.meta import with_spec
from kubectl_sched.diagnostics.taint_owners import is_for_the_system, is_of_control_plane, taint_owner
from kubectl_sched.framework.near_tolerations import toleration_hints, toleration_text
from kubectl_sched.suggestions.change import Change, Kind, distinct
from kubectl_sched.suggestions.remedies import node_changes
from kubectl_sched.suggestions.workload import workload_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

    _OfTaint: TypeAlias = Callable[[ScheduleResult, int, Taint], Change | None]

_ACCELERATORS = frozenset(
    {
        "amd.com/gpu",
        "aws.amazon.com/neuron",
        "google.com/tpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "habana.ai/gaudi",
        "nvidia.com/gpu",
    }
)
"""Devices whose names are taints of their nodes by custom, known also while no driver lists them there."""

_COMPARED = 100
"""The most tolerations that are taken for misspelt ones of one taint."""


def let_in(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Correct or add tolerations for every taint that keeps the pod out of the row's node, or take those off."""
    yield from _for_all(result, row, DO_NOT_SCHEDULE, (_correct, _tolerate, _take_off))


def repel_less(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Tolerate every taint that costs the node points, or take those taints off."""
    yield from _for_all(result, row, {PREFER_NO_SCHEDULE}, (_tolerate, _take_off))


def keep_away(result: ScheduleResult, row: int) -> Iterator[Change]:
    """Leave out a toleration without which nodes that are now as good as the row's, or better, keep the pod out."""
    rivals = result.feasible[result.totals >= result.total_of[row]]
    of_rivals = result.nodes.taints.take(rivals[rivals != row])
    for wrong in dict.fromkeys(result.pod.spec.tolerations):
        is_used = partial(_tolerate_any, replace(result.tolerations, each=(wrong,)))
        if of_rivals.where(is_used).any() and taint_owner(wrong.key or "") is None:
            yield Change(
                kind=Kind.TOLERATE_LESS,
                text=f"without its toleration for {toleration_text(wrong)}",
                step=f"remove its toleration for {toleration_text(wrong)}",
                pod=partial(_without_toleration, gone=wrong),
                caution="nodes with such a taint then keep it out",
            )


def _tolerate_any(tolerations: Tolerations, taints: Iterable[Taint]) -> bool:
    return any(map(tolerations.tolerate, taints))


def _for_all(result: ScheduleResult, row: int, effects: Collection[str], remedies: Sequence[_OfTaint]) -> Iterator[Way]:
    """For each remedy one way, which is that remedy for every taint."""
    taints = _untolerated(result, row, effects)
    if not any(taint_owner(taint.key) and taint.key != UNSCHEDULABLE_TAINT.key for taint in taints):
        corrected = False
        for remedy in remedies:
            if corrected and remedy is _tolerate:
                continue
            changes = [remedy(result, row, taint) for taint in taints]
            way = distinct(change for change in changes if change is not None)
            if way and None not in changes:
                corrected = corrected or remedy is _correct
                yield way


def _untolerated(result: ScheduleResult, row: int, effects: Collection[str]) -> list[Taint]:
    return [
        replace(taint, time_added=None)
        for taint in result.nodes.taints[row]
        if taint.effect in effects and not result.tolerations.tolerate(taint)
    ]


def _correct(result: ScheduleResult, row: int, taint: Taint) -> Change | None:
    """Make a toleration that nearly tolerates the taint tolerate it."""
    if taint.key == UNSCHEDULABLE_TAINT.key:
        return _take_off(result, row, taint)
    for toleration in result.pod.spec.tolerations[:_COMPARED]:
        if toleration_hints(taint, Tolerations(each=(toleration,))):
            return _corrected(result.pod, toleration, _tolerating(taint))
    return None


def _corrected(pod: Pod, wrong: Toleration, meant: Toleration) -> Change:
    """Put the toleration that is meant in place of the wrong one, or beside it where that takes no new pod."""
    kind, _ = workload_of(pod)
    if kind in {None, "Job"}:
        text = f"if it tolerated {toleration_text(meant)}, not only {toleration_text(wrong)}"
        return Change(
            kind=Kind.CORRECT, text=text, pod=lambda pod: with_spec(pod, tolerations=(*pod.spec.tolerations, meant))
        )
    text = f"if it tolerated {toleration_text(meant)} instead of {toleration_text(wrong)}"
    return Change(kind=Kind.CORRECT, text=text, pod=partial(_exchanged, wrong=wrong, meant=meant))


def _tolerate(result: ScheduleResult, row: int, taint: Taint) -> Change | None:
    """Tolerate the taint, unless the node is the system's own; a cordoned node is uncordoned instead."""
    if taint.key == UNSCHEDULABLE_TAINT.key:
        return _take_off(result, row, taint)
    if is_for_the_system(taint.key):
        return None
    meant = _tolerating(taint)
    return Change(
        kind=Kind.TOLERATE_RESERVED if _is_for_device_pods(result, taint) else Kind.TOLERATE,
        text=f"with a toleration for {taint}",
        step=f"tolerate {taint}",
        pod=lambda pod: with_spec(pod, tolerations=(*pod.spec.tolerations, meant)),
        caution=_caution(result, taint),
    )


def _is_for_device_pods(result: ScheduleResult, taint: Taint) -> bool:
    """Report whether the taint has the name of a device, for whose sake it keeps out pods without it, as this one."""
    if result.pod.spec.resource_claims or result.nodes.resource_of(result.pod).requested.get(taint.key, 0):
        return False
    is_listed = is_extended_resource_name(taint.key) and bool(result.nodes.allocatable(taint.key).any())
    return is_listed or taint.key in _ACCELERATORS


def _caution(result: ScheduleResult, taint: Taint) -> str:
    if _is_for_device_pods(result, taint):
        return f"these nodes are kept for pods that ask for {taint.key}, which this one does not"
    does = "steers" if taint.effect == PREFER_NO_SCHEDULE else "keeps"
    return f"only if the pod is meant to run there: the taint {does} others away"


def _take_off(result: ScheduleResult, row: int, taint: Taint) -> Change | None:
    """Take the taint off the row's node; one of the system only where every node has it, as in a cluster of one."""
    name = result.nodes.names[row]
    if taint.key == UNSCHEDULABLE_TAINT.key and result.nodes.node_objects[row].spec.unschedulable:
        return node_changes.uncordoned(name)
    is_everywhere = is_of_control_plane(taint.key) and bool(
        result.nodes.taints.where(partial(_has, key=taint.key)).all()
    )
    if is_for_the_system(taint.key) and not is_everywhere:
        return None
    control_plane = ", which also runs the control plane" if is_everywhere else ""
    return Change(
        kind=Kind.UNTAINT,
        text=f"without the taint {taint} on {name}",
        step=f"take the taint {taint} off {name}",
        node_name=name,
        node=lambda node: without_taint(node, taint),
        caution=f"any pod may then run there{control_plane}",
    )


def _has(taints: Iterable[Taint], key: str) -> bool:
    return any(taint.key == key for taint in taints)


def _tolerating(taint: Taint) -> Toleration:
    operator = "Equal" if taint.value else "Exists"
    return Toleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect)


def _without_toleration(pod: Pod, gone: Toleration) -> Pod:
    kept = tuple(each for each in pod.spec.tolerations if each != gone)
    return with_spec(pod, tolerations=kept)


def _exchanged(pod: Pod, wrong: Toleration, meant: Toleration) -> Pod:
    tolerations = tuple(meant if each == wrong else each for each in pod.spec.tolerations)
    return with_spec(pod, tolerations=tolerations)

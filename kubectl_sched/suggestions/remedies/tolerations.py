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
    tolerated,
    tolerates,
    without_taint,
)
from kubectl_sched.api.meta import with_spec
from kubectl_sched.framework.toleration_hints import toleration_hints, toleration_text
from kubectl_sched.suggestions.change import Change, Kind, distinct
from kubectl_sched.suggestions.remedies import node_changes

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

_CONTROL_PLANE = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
_OF_CONTROLLERS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "karpenter.sh/",
    "node.cilium.io/",
    "ebs.csi.aws.com/",
    "efs.csi.aws.com/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
"""Whoever put them on would do it again, and tolerating them cures nothing: the node is not fit for pods."""


def let_in(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Correct or add tolerations for every taint that keeps the pod out of the row's node, or take those off."""
    yield from _for_all(result, row, DO_NOT_SCHEDULE, (_correct, _tolerate, _take_off))


def repel_less(result: ScheduleResult, row: int) -> Iterator[Way]:
    """The same for every taint because of which the node gets fewer points."""
    yield from _for_all(result, row, {PREFER_NO_SCHEDULE}, (_tolerate, _take_off))


def keep_away(result: ScheduleResult, row: int) -> Iterator[Change]:
    """Leave out a toleration without which nodes that are now as good as the row's, or better, keep the pod out."""
    assert result.framework is not None  # noqa: S101 - asked only of results of a cycle
    comparison = result.framework.handle.features.enabled("TaintTolerationComparisonOperators")
    rivals = result.feasible[result.totals >= result.total_of[row]]
    of_rivals = result.nodes.taints.take(rivals[rivals != row])
    for wrong in dict.fromkeys(result.pod.spec.tolerations):
        is_used = partial(_tolerates_any, wrong, comparison=comparison)
        if of_rivals.where(is_used).any() and not wrong.key.startswith(_OF_CONTROLLERS):
            yield Change(
                kind=Kind.TOLERATE_LESS,
                text=f"without its toleration for {toleration_text(wrong)}",
                pod=partial(_without_toleration, gone=wrong),
                caution="nodes with such a taint then keep it out",
            )


def _tolerates_any(toleration: Toleration, taints: Iterable[Taint], *, comparison: bool) -> bool:
    return any(tolerates(toleration, taint, comparison=comparison) for taint in taints)


def _for_all(result: ScheduleResult, row: int, effects: Collection[str], remedies: Sequence[_OfTaint]) -> Iterator[Way]:
    """For each remedy one way, which is that remedy for every taint."""
    taints = _untolerated(result, row, effects)
    if not any(_is_of_controller(taint) for taint in taints):
        for remedy in remedies:
            changes = [remedy(result, row, taint) for taint in taints]
            way = distinct(change for change in changes if change is not None)
            if way and None not in changes:
                yield way


def _untolerated(result: ScheduleResult, row: int, effects: Collection[str]) -> list[Taint]:
    assert result.framework is not None  # noqa: S101 - asked only of results of a cycle
    comparison = result.framework.handle.features.enabled("TaintTolerationComparisonOperators")
    tolerations = result.pod.spec.tolerations
    return [
        replace(taint, time_added=None)
        for taint in result.nodes.taints[row]
        if taint.effect in effects and not tolerated(taint, tolerations, comparison=comparison)
    ]


def _is_of_controller(taint: Taint) -> bool:
    return taint.key.startswith(_OF_CONTROLLERS) and taint.key != UNSCHEDULABLE_TAINT.key


def _correct(result: ScheduleResult, row: int, taint: Taint) -> Change | None:
    """Make a toleration that nearly tolerates the taint tolerate it."""
    if taint.key == UNSCHEDULABLE_TAINT.key:
        return _take_off(result, row, taint)
    for toleration in result.pod.spec.tolerations[:_COMPARED]:
        if toleration_hints(taint, (toleration,), comparison=False):
            meant = _tolerating(taint)
            return Change(
                kind=Kind.CORRECT,
                text=f"if it tolerated {toleration_text(meant)} instead of {toleration_text(toleration)}",
                pod=partial(_exchanged, wrong=toleration, meant=meant),
            )
    return None


def _tolerate(result: ScheduleResult, row: int, taint: Taint) -> Change:
    """Tolerate the taint; a cordoned node is uncordoned instead."""
    if taint.key == UNSCHEDULABLE_TAINT.key:
        return _take_off(result, row, taint)
    meant = _tolerating(taint)
    return Change(
        kind=Kind.TOLERATE_RESERVED if _is_for_device_pods(result, taint) else Kind.TOLERATE,
        text=f"with a toleration for {taint}",
        pod=lambda pod: with_spec(pod, tolerations=(*pod.spec.tolerations, meant)),
        caution=_caution(result, taint),
        cost=(taint.key in _CONTROL_PLANE,),
    )


def _is_for_device_pods(result: ScheduleResult, taint: Taint) -> bool:
    """Report whether the taint has the name of a device, for whose sake it keeps out pods without it, as this one."""
    if result.pod.spec.resource_claims or result.nodes.resource_of(result.pod).requested.get(taint.key, 0):
        return False
    is_listed = is_extended_resource_name(taint.key) and bool(result.nodes.allocatable(taint.key).any())
    return is_listed or taint.key in _ACCELERATORS


def _caution(result: ScheduleResult, taint: Taint) -> str:
    if taint.key in _CONTROL_PLANE:
        return "its nodes run the control plane, which it then has to share them with"
    if _is_for_device_pods(result, taint):
        return f"these nodes are kept for pods that ask for {taint.key}, which this one does not"
    does = "steers" if taint.effect == PREFER_NO_SCHEDULE else "keeps"
    return f"only if the pod is meant to run there: the taint {does} others away"


def _take_off(result: ScheduleResult, row: int, taint: Taint) -> Change:
    """Take the taint off the row's node."""
    name = result.nodes.names[row]
    if taint.key == UNSCHEDULABLE_TAINT.key and result.nodes.node_objects[row].spec.unschedulable:
        return node_changes.uncordoned(name)
    control_plane = ", which also runs the control plane" if taint.key in _CONTROL_PLANE else ""
    return Change(
        kind=Kind.UNTAINT,
        text=f"without the taint {taint} on {name}",
        node_name=name,
        node=lambda node: without_taint(node, taint),
        caution=f"any pod may then run on {name}{control_plane}",
    )


def _tolerating(taint: Taint) -> Toleration:
    operator = "Equal" if taint.value else "Exists"
    return Toleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect)


def _without_toleration(pod: Pod, gone: Toleration) -> Pod:
    kept = tuple(each for each in pod.spec.tolerations if each != gone)
    return with_spec(pod, tolerations=kept)


def _exchanged(pod: Pod, wrong: Toleration, meant: Toleration) -> Pod:
    tolerations = tuple(meant if each == wrong else each for each in pod.spec.tolerations)
    return with_spec(pod, tolerations=tolerations)

"""The things that keep a pod off each node, told apart as finely as a verdict tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.api.component_helpers.taints import DO_NOT_SCHEDULE
from kubectl_sched.framework.plugin_error_boundary import NOT_JUDGED, is_unknown
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.core import Taint
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask

CORDONED: Final = "NodeUnschedulable"
TAINTS: Final = "TaintToleration"
FIT: Final = "NodeResourcesFit"
VOLUME_PLUGINS: Final = frozenset({"VolumeBinding", "VolumeZone"})
NOMINATED: Final = "room of nominated pods"
"""In place of a resource: the node has room, and pods that are nominated to it would take it."""

OF_CONTROLLERS: Final = {
    "node.kubernetes.io/not-ready": "are not ready",
    "node.kubernetes.io/unreachable": "are unreachable (the kubelet does not answer)",
    "node.kubernetes.io/memory-pressure": "are short of memory (memory-pressure)",
    "node.kubernetes.io/disk-pressure": "are short of disk (disk-pressure)",
    "node.kubernetes.io/pid-pressure": "are short of process IDs (pid-pressure)",
    "node.kubernetes.io/network-unavailable": "have no network yet",
    "node.kubernetes.io/unschedulable": "are cordoned",
    "node.cloudprovider.kubernetes.io/uninitialized": "wait for the cloud controller manager",
    "node.cloudprovider.kubernetes.io/shutdown": "are shut down",
    "ToBeDeletedByClusterAutoscaler": "are being removed by cluster-autoscaler",
    "karpenter.sh/disrupted": "are being removed by Karpenter",
    "karpenter.sh/unregistered": "have not registered with Karpenter yet",
    "node.cilium.io/agent-not-ready": "wait for Cilium's agent",
    "ebs.csi.aws.com/agent-not-ready": "wait for the EBS CSI driver",
    "efs.csi.aws.com/agent-not-ready": "wait for the EFS CSI driver",
}
"""Taints that a controller sets and takes off again, in words about several nodes."""


_PREFIXES: Final = ("karpenter.sh/", "node.cloudprovider.kubernetes.io/", "node.kubernetes.io/")


def set_by_controller(key: str) -> bool:
    """Report whether a controller sets and removes the taint of that key by itself."""
    return key in OF_CONTROLLERS or key.startswith(_PREFIXES)


class Rejection(NamedTuple):
    """One thing against a node: the plugin, and what of it: a resource that it lacks, a taint, or the reason."""

    plugin: str
    what: str


def rejections_of(result: ScheduleResult) -> list[tuple[Rejection, ...]]:
    """Return for each row what keeps the pod out, empty for a feasible one.

    A cordoned node and its taint are one thing, and each resource that a node lacks is a thing of its own.
    """
    taints = result.nodes.taints.map(result.tolerations.first_untolerated)
    reported: Column[Status | None] = Column.filled(len(result.nodes), None)
    if result.verdict is not None:
        reported = Column(result.verdict.codes, result.verdict.values)
    found = result.all_rejections.combined(reported).combined(taints)
    return list(found.map(lambda each: _of_node(*each[0], each[1])))


def rejections_of_row(result: ScheduleResult, row: int) -> tuple[Rejection, ...]:
    """Return what keeps the pod off one node."""
    taint = result.tolerations.first_untolerated(result.nodes.taints[row])
    return _of_node(result.rejections(row), result.verdict[row] if result.verdict is not None else None, taint)


def _of_node(statuses: tuple[Status, ...], reported: Status | None, taint: Taint | None) -> tuple[Rejection, ...]:
    found: dict[Rejection, None] = {}
    for status in statuses:
        found.update(dict.fromkeys(_of_status(status, taint)))
    if found or reported is None or reported.is_success:
        return tuple(found)
    if is_unknown(reported):
        return (Rejection("", NOT_JUDGED),)
    if reported.plugin == FIT:
        return (Rejection(FIT, NOMINATED),)
    return (Rejection(reported.plugin or "", reported.message),)


def _of_status(status: Status, taint: Taint | None) -> list[Rejection]:
    plugin = status.plugin or ""
    if plugin == FIT:
        return [Rejection(FIT, resource_in(reason)) for reason in status.reasons]
    if plugin == TAINTS and taint is not None:
        is_cordon = taint.key == "node.kubernetes.io/unschedulable"
        return [Rejection(CORDONED, "") if is_cordon else Rejection(TAINTS, str(taint))]
    return [Rejection(plugin, "" if plugin == CORDONED else status.message)]


def resource_in(reason: str) -> str:
    """Return the resource that a reason of Fit names, `pods` where the node takes no more of them."""
    return "pods" if reason == "Too many pods" else reason.removeprefix("Insufficient ")


def permanent_taints(result: ScheduleResult) -> Mask:
    """bool[n]: the nodes with an untolerated taint that no controller takes off by itself."""
    if TAINTS not in result.rejection_masks:
        return np.zeros(len(result.nodes), dtype=np.bool_)
    tolerations = result.tolerations

    def keeps_out(taints: tuple[Taint, ...]) -> bool:
        permanent = [each for each in taints if each.effect in DO_NOT_SCHEDULE and not set_by_controller(each.key)]
        return tolerations.first_untolerated(permanent) is not None

    return result.rejection_masks[TAINTS] & result.nodes.taints.where(keeps_out)


def counted_sets(rejections: list[tuple[Rejection, ...]], rows: list[int]) -> Mapping[tuple[Rejection, ...], list[int]]:
    """Return the rows by their set of rejections: most nodes first, then fewest things, then in run order."""
    found: dict[tuple[Rejection, ...], list[int]] = {}
    for row in rows:
        if rejections[row]:
            found.setdefault(rejections[row], []).append(row)
    return dict(sorted(found.items(), key=lambda each: (-len(each[1]), len(each[0]))))

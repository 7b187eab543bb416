"""What happens in the cluster, in the words in which plugins say what may help a pod that they rejected.

Answers to ActionType and ClusterEvent of k8s.io/kube-scheduler/framework/events.go and to the EventsToRegister of each
plugin with SchedulerQueueingHints on. Kinds of events are compared, no objects: an event that turns out not to help
costs one more attempt, whereas one that is missed would cost the pod minutes.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.component_helpers.pod_requests import request_key
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.meta import KubernetesObject


class Action(Flag):
    """What has been done to an object; UPDATE is any change that has no name of its own here."""

    ADD = auto()
    DELETE = auto()
    NODE_ALLOCATABLE = auto()
    NODE_LABEL = auto()
    NODE_TAINT = auto()
    NODE_DECLARED_FEATURE = auto()
    POD_LABEL = auto()
    POD_REQUESTS = auto()
    UPDATE = auto()


class ClusterEvent(NamedTuple):
    """What has been done to an object of that kind; of pods, to one that has a node."""

    resource: str
    action: Action


_ADDED_OR_CHANGED = Action.ADD | Action.UPDATE

REGISTERED: Final[dict[str, tuple[ClusterEvent, ...]]] = {
    "DynamicResources": (
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL | Action.NODE_ALLOCATABLE),
        # A claim that is freed or deleted gives its devices back.
        ClusterEvent("ResourceClaim", _ADDED_OR_CHANGED | Action.DELETE),
        ClusterEvent("DeviceClass", _ADDED_OR_CHANGED),
        ClusterEvent("ResourceSlice", _ADDED_OR_CHANGED),
        ClusterEvent("DeviceTaintRule", _ADDED_OR_CHANGED | Action.DELETE),
        ClusterEvent("Pod", Action.DELETE),
    ),
    "GangScheduling": (
        ClusterEvent("Pod", Action.ADD),
        ClusterEvent("PendingPod", Action.ADD),
        ClusterEvent("PodGroup", _ADDED_OR_CHANGED),
        ClusterEvent("CompositePodGroup", _ADDED_OR_CHANGED),
        ClusterEvent("Workload", _ADDED_OR_CHANGED),
    ),
    "InterPodAffinity": (
        ClusterEvent("Pod", Action.ADD | Action.POD_LABEL | Action.DELETE),
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),
        ClusterEvent("Namespace", _ADDED_OR_CHANGED),
    ),
    "NodeAffinity": (ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),),
    "NodeDeclaredFeatures": (ClusterEvent("Node", Action.ADD | Action.NODE_DECLARED_FEATURE),),
    "NodeName": (ClusterEvent("Node", Action.ADD),),
    "NodePorts": (ClusterEvent("Pod", Action.DELETE), ClusterEvent("Node", Action.ADD)),
    "NodeResourcesFit": (
        ClusterEvent("Pod", Action.DELETE | Action.POD_REQUESTS),
        ClusterEvent("Node", Action.ADD | Action.NODE_ALLOCATABLE),
        ClusterEvent("DeviceClass", _ADDED_OR_CHANGED),
    ),
    "NodeUnschedulable": (ClusterEvent("Node", Action.ADD | Action.NODE_TAINT),),
    "NodeVolumeLimits": (
        ClusterEvent("CSINode", _ADDED_OR_CHANGED),
        ClusterEvent("Pod", Action.DELETE),
        ClusterEvent("PersistentVolumeClaim", Action.ADD),
        ClusterEvent("VolumeAttachment", Action.DELETE),
    ),
    "PodTopologySpread": (
        ClusterEvent("Pod", Action.ADD | Action.POD_LABEL | Action.DELETE),
        ClusterEvent("Node", Action.ADD | Action.DELETE | Action.NODE_LABEL | Action.NODE_TAINT),
    ),
    "SchedulingGates": (),
    "TaintToleration": (ClusterEvent("Node", Action.ADD | Action.NODE_TAINT),),
    "VolumeBinding": (
        ClusterEvent("StorageClass", _ADDED_OR_CHANGED),
        ClusterEvent("PersistentVolumeClaim", _ADDED_OR_CHANGED),
        ClusterEvent("PersistentVolume", _ADDED_OR_CHANGED),
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),
        ClusterEvent("CSINode", _ADDED_OR_CHANGED),
        ClusterEvent("CSIDriver", _ADDED_OR_CHANGED),
        ClusterEvent("CSIStorageCapacity", _ADDED_OR_CHANGED),
    ),
    "VolumeRestrictions": (
        ClusterEvent("Pod", Action.DELETE),
        ClusterEvent("Node", Action.ADD),
        ClusterEvent("PersistentVolumeClaim", Action.ADD),
    ),
    "VolumeZone": (
        ClusterEvent("StorageClass", Action.ADD),
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),
        ClusterEvent("PersistentVolumeClaim", _ADDED_OR_CHANGED),
        ClusterEvent("PersistentVolume", _ADDED_OR_CHANGED),
    ),
}
"""What may make a pod schedulable that the plugin has rejected. A change of the pod itself always may."""

ASSUMED_POD_FORGOTTEN = ClusterEvent("Pod", Action.DELETE)


def may_help(event: ClusterEvent, rejected_by: Iterable[str]) -> bool:
    """Whether a pod that these plugins rejected is worth another attempt; with no plugin to blame anything may help."""
    plugins = tuple(rejected_by)
    return not plugins or any(_registered(plugin, event) for plugin in plugins)


def _registered(plugin: str, event: ClusterEvent) -> bool:
    """A plugin that says nothing of itself (one of out of tree) is taken to care for everything, as upstream does."""
    events = REGISTERED.get(plugin)
    return events is None or any(
        each.resource == event.resource and bool(each.action & event.action) for each in events
    )


def cluster_event(old: KubernetesObject | None, new: KubernetesObject | None) -> ClusterEvent | None:
    """What a change of one object is to pods that wait; None where it is nothing to any of them."""
    item = new if new is not None else old
    if isinstance(item, Pod):
        return _pod_event(old, new)
    name = type(item).__name__
    if old is None:
        return ClusterEvent(name, Action.ADD)
    if new is None:
        return ClusterEvent(name, Action.DELETE)
    if isinstance(old, Node) and isinstance(new, Node):
        action = _node_changes(old, new)
        return ClusterEvent(name, action) if action else None
    return ClusterEvent(name, Action.UPDATE)


def _node_changes(old: Node, new: Node) -> Action:
    """The parts of a node that differ (nodeSchedulingPropertiesChange, pkg/scheduler/framework/events.go)."""
    action = Action(0)
    if old.status.allocatable != new.status.allocatable:
        action |= Action.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        action |= Action.NODE_LABEL
    # Upstream counts uncordoning among the taints: node lifecycle taints what is cordoned.
    if old.spec.taints != new.spec.taints or old.spec.unschedulable != new.spec.unschedulable:
        action |= Action.NODE_TAINT
    if old.status.declared_features != new.status.declared_features:
        action |= Action.NODE_DECLARED_FEATURE
    return action


def _pod_event(old: KubernetesObject | None, new: KubernetesObject | None) -> ClusterEvent | None:
    before = old if isinstance(old, Pod) and old.spec.node_name else None
    after = new if isinstance(new, Pod) and new.spec.node_name else None
    if before is None and after is None:
        # Pods that wait count for gangs.
        return ClusterEvent("PendingPod", Action.ADD) if old is None else None
    if before is None:
        return ClusterEvent("Pod", Action.ADD)
    if after is None:
        return ClusterEvent("Pod", Action.DELETE)
    action = Action(0)
    if before.metadata.labels != after.metadata.labels:
        action |= Action.POD_LABEL
    if request_key(before) != request_key(after):
        action |= Action.POD_REQUESTS
    return ClusterEvent("Pod", action) if action else None

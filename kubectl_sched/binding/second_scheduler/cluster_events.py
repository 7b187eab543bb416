"""Cluster events, and those that each plugin registers for the pods that it rejected.

Answers to ActionType and ClusterEvent of k8s.io/kube-scheduler/framework/events.go and to the EventsToRegister of each
plugin with SchedulerQueueingHints on.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.component_helpers.pod_requests import request_key
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject


class Action(Flag):
    """The change of an object; UPDATE is any change that has no name of its own here."""

    ADD = auto()
    DELETE = auto()
    NODE_ALLOCATABLE = auto()
    NODE_LABEL = auto()
    NODE_TAINT = auto()
    NODE_DECLARED_FEATURE = auto()
    POD_LABEL = auto()
    POD_REQUESTS = auto()
    POD_TOLERATION = auto()
    POD_GATES = auto()
    POD_CLAIMS = auto()
    UPDATE = auto()


class ClusterEvent(NamedTuple):
    """An action on an object of a kind. `Pod` has a node, `PendingPod` has none; `*` is every kind."""

    resource: str
    action: Action


_ADDED_OR_CHANGED = Action.ADD | Action.UPDATE

REGISTERED: Final[dict[str, tuple[ClusterEvent, ...]]] = {
    "DefaultPreemption": (ClusterEvent("Pod", Action.DELETE),),
    "DynamicResources": (
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL | Action.NODE_ALLOCATABLE),
        ClusterEvent("ResourceClaim", _ADDED_OR_CHANGED | Action.DELETE),
        ClusterEvent("DeviceClass", _ADDED_OR_CHANGED),
        ClusterEvent("ResourceSlice", _ADDED_OR_CHANGED),
        # Upstream sees the taints of rules as changes of the slices.
        ClusterEvent("DeviceTaintRule", _ADDED_OR_CHANGED | Action.DELETE),
        ClusterEvent("PendingPod", Action.POD_CLAIMS),
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
        ClusterEvent("PendingPod", Action.POD_LABEL),
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),
        ClusterEvent("Namespace", _ADDED_OR_CHANGED),
    ),
    "NodeAffinity": (ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),),
    "NodeDeclaredFeatures": (
        ClusterEvent("Node", Action.ADD | Action.NODE_DECLARED_FEATURE),
        ClusterEvent("PendingPod", ~(Action.ADD | Action.DELETE)),
    ),
    "NodeName": (ClusterEvent("Node", Action.ADD),),
    "NodePorts": (ClusterEvent("Pod", Action.DELETE), ClusterEvent("Node", Action.ADD)),
    "NodeResourcesFit": (
        ClusterEvent("Pod", Action.DELETE | Action.POD_REQUESTS),
        ClusterEvent("PendingPod", Action.POD_REQUESTS),
        ClusterEvent("Node", Action.ADD | Action.NODE_ALLOCATABLE),
        ClusterEvent("DeviceClass", _ADDED_OR_CHANGED),
    ),
    "NodeUnschedulable": (
        ClusterEvent("Node", Action.ADD | Action.NODE_TAINT),
        ClusterEvent("PendingPod", Action.POD_TOLERATION),
    ),
    "NodeVolumeLimits": (
        ClusterEvent("CSINode", _ADDED_OR_CHANGED),
        ClusterEvent("Pod", Action.DELETE),
        ClusterEvent("PersistentVolumeClaim", Action.ADD),
        ClusterEvent("VolumeAttachment", Action.DELETE),
    ),
    "PodTopologySpread": (
        ClusterEvent("Pod", Action.ADD | Action.POD_LABEL | Action.DELETE),
        ClusterEvent("PendingPod", Action.POD_LABEL | Action.POD_TOLERATION),
        ClusterEvent("Node", Action.ADD | Action.DELETE | Action.NODE_LABEL | Action.NODE_TAINT),
    ),
    "SchedulingGates": (ClusterEvent("PendingPod", Action.POD_GATES),),
    "TaintToleration": (
        ClusterEvent("Node", Action.ADD | Action.NODE_TAINT),
        ClusterEvent("PendingPod", Action.POD_TOLERATION),
    ),
    "VolumeBinding": (
        ClusterEvent("StorageClass", _ADDED_OR_CHANGED),
        ClusterEvent("PersistentVolumeClaim", _ADDED_OR_CHANGED),
        ClusterEvent("PersistentVolume", _ADDED_OR_CHANGED),
        ClusterEvent("Node", Action.ADD | Action.NODE_LABEL),
        ClusterEvent("CSINode", _ADDED_OR_CHANGED),
        ClusterEvent("CSIDriver", Action.UPDATE),
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
"""The events that may make a pod schedulable which the plugin has rejected (EventsToRegister).

Those of all minors; a hint takes back what a minor has not registered.
"""

BLIND_TO_TAINTS: Final = frozenset(
    plugin
    for plugin, events in REGISTERED.items()
    for event in events
    if event.resource == "Node" and Action.ADD in event.action and Action.NODE_TAINT not in event.action
)
"""The plugins for which up to 1.36 any change of a node's taints is worth another attempt (buildQueueingHintMap)."""


def is_registered(plugin: str, event: ClusterEvent) -> bool:
    """Report whether the plugin has registered the event."""
    registered = REGISTERED.get(plugin, ())
    return any(each.resource == event.resource and bool(each.action & event.action) for each in registered)


ASSUMED_POD_FORGOTTEN = ClusterEvent("Pod", Action.DELETE)


class Happened(NamedTuple):
    """An event with the object before and after it, if it is about one."""

    event: ClusterEvent
    old: KubernetesObject | None = None
    new: KubernetesObject | None = None


EVERYTHING: Final = ClusterEvent("*", Action(0))
"""An event that every plugin takes for its own."""


def cluster_event(old: KubernetesObject | None, new: KubernetesObject | None) -> ClusterEvent | None:
    """Return the event of a change of one object; None if it concerns no pod that waits."""
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
    if old.spec.taints != new.spec.taints or (old.spec.unschedulable and not new.spec.unschedulable):
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


def pending_pod_events(before: Pod, after: Pod) -> list[ClusterEvent]:
    """The events of a change of a pending pod, in upstream's order (PodSchedulingPropertiesChange)."""
    changes = {
        Action.POD_LABEL: before.metadata.labels != after.metadata.labels,
        Action.POD_REQUESTS: request_key(before) != request_key(after),
        Action.POD_GATES: bool(before.spec.scheduling_gates) and not after.spec.scheduling_gates,
        Action.POD_TOLERATION: len(before.spec.tolerations) != len(after.spec.tolerations),
        Action.POD_CLAIMS: before.status.resource_claim_statuses != after.status.resource_claim_statuses,
    }
    actions = [action for action, changed in changes.items() if changed] or [Action.UPDATE]
    return [ClusterEvent("PendingPod", action) for action in actions]

"""Cluster events, and those that each plugin registers for the pods that it rejected.

Answers to ActionType and ClusterEvent of k8s.io/kube-scheduler/framework/events.go and to the EventsToRegister of each
plugin with SchedulerQueueingHints on.
"""

from __future__ import annotations

from enum import Flag, auto
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.component_helpers.pod_requests import request_key
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterator

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


_TABLE: Final = Path(__file__).with_name("cluster_events.txt")


def _registered() -> Iterator[tuple[str, tuple[ClusterEvent, ...]]]:
    for section in _TABLE.read_text("utf-8").split("\n\n")[1:]:
        plugin, *events = section.splitlines()
        yield plugin, tuple(map(_event, events))


def _event(line: str) -> ClusterEvent:
    resource, *actions = line.split()
    return ClusterEvent(resource, reduce(or_, (Action[name] for name in actions)))


REGISTERED: Final = dict(_registered())
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

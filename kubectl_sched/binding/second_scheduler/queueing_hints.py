"""Events that are worth another attempt for a pod that was rejected (EventsToRegister and QueueingHintFn)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.second_scheduler.cluster_events import REGISTERED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_sched.binding.second_scheduler.cluster_events import ClusterEvent, Happened


class QueueingHints(Protocol):
    """The say of a profile's plugins."""

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Tell whether any plugin has registered the event."""

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Tell whether this plugin has registered it."""

    def helps(self, plugin: str, pod: Pod, happened: Happened) -> bool:
        """Tell whether what happened may make the pod schedulable, which the plugin has rejected."""


class PluginHints:
    """The hints of these plugins; one that is not in-tree cares for everything."""

    def __init__(self, plugins: Iterable[str]) -> None:
        self._plugins = frozenset(plugins)

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Tell whether any of the plugins has registered the event."""
        return any(self.is_registered(plugin, event) for plugin in self._plugins)

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Tell whether this plugin has registered it."""
        registered = REGISTERED.get(plugin)
        return registered is None or any(
            each.resource == event.resource and bool(each.action & event.action) for each in registered
        )

    def helps(self, plugin: str, pod: Pod, happened: Happened) -> bool:
        """Tell whether what happened may make the pod schedulable, which the plugin has rejected."""
        if not self.is_registered(plugin, happened.event):
            return False
        if isinstance(happened.new, Pod) and isinstance(happened.old, Pod) and not happened.new.spec.node_name:
            return happened.new.metadata.uid == pod.metadata.uid
        hint = _HINTS.get(plugin)
        return hint is None or hint(pod, happened)


def _never(pod: Pod, happened: Happened) -> bool:
    """The plugins that rejected the pod besides decide."""
    del pod, happened
    return False


def _is_schedulable_again(pod: Pod, happened: Happened) -> bool:
    """NodeUnschedulable: the node is new or was uncordoned."""
    del pod
    old, new = happened.old, happened.new
    if not isinstance(new, Node):
        return True
    return not new.spec.unschedulable and (not isinstance(old, Node) or old.spec.unschedulable)


_HINTS: Mapping[str, Callable[[Pod, Happened], bool]] = {
    "DefaultPreemption": _never,
    "NodeUnschedulable": _is_schedulable_again,
}

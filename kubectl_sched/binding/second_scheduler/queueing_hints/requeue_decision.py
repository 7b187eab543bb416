"""Decides, from the hints of a profile's plugins, whether an event makes a rejected pod worth trying again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.json import encode
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.second_scheduler.cluster_events import BLIND_TO_TAINTS, EVERYTHING, Action, is_registered
from kubectl_sched.binding.second_scheduler.queueing_hints import (
    device_event_hints,
    node_event_hints,
    pod_event_hints,
    podgroup_event_hints,
    storage_event_hints,
)
from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_budget import HINT, BudgetEnded, CycleBudget
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.second_scheduler.cluster_events import ClusterEvent, Happened
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot


class QueueingHints(Protocol):
    """The say of the profiles' plugins."""

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Report whether any plugin has registered the event."""

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Report whether this plugin has registered it."""

    def helps(self, plugin: str, pod: Pod, happened: Happened) -> bool:
        """Report whether what happened may make the pod schedulable, which the plugin has rejected."""


HINTS: Final[Mapping[tuple[str, str], Callable[[HintQuestion], bool]]] = {
    ("DefaultPreemption", "Pod"): pod_event_hints.never,
    ("DynamicResources", "Node"): device_event_hints.node,
    ("DynamicResources", "ResourceClaim"): device_event_hints.resource_claim,
    ("DynamicResources", "PendingPod"): device_event_hints.own_claims,
    ("GangScheduling", "Pod"): podgroup_event_hints.pod_of_group,
    ("GangScheduling", "PendingPod"): podgroup_event_hints.pod_of_group,
    ("GangScheduling", "PodGroup"): podgroup_event_hints.pod_group,
    ("GangScheduling", "CompositePodGroup"): podgroup_event_hints.composite_pod_group,
    ("GangScheduling", "Workload"): podgroup_event_hints.workload,
    ("InterPodAffinity", "Node"): node_event_hints.inter_pod_affinity,
    ("InterPodAffinity", "Pod"): pod_event_hints.inter_pod_affinity,
    ("InterPodAffinity", "PendingPod"): pod_event_hints.own_labels_affinity,
    ("NodeAffinity", "Node"): node_event_hints.node_affinity,
    ("NodeDeclaredFeatures", "Node"): node_event_hints.node_declared_features,
    ("NodeDeclaredFeatures", "PendingPod"): pod_event_hints.own_features,
    ("NodePorts", "Pod"): pod_event_hints.node_ports,
    ("NodeResourcesFit", "Node"): node_event_hints.node_resources_fit,
    ("NodeResourcesFit", "Pod"): pod_event_hints.node_resources_fit,
    ("NodeResourcesFit", "PendingPod"): pod_event_hints.own_requests,
    ("NodeResourcesFit", "DeviceClass"): device_event_hints.device_class,
    ("NodeUnschedulable", "Node"): node_event_hints.node_unschedulable,
    ("NodeUnschedulable", "PendingPod"): pod_event_hints.own_tolerations,
    ("NodeVolumeLimits", "CSINode"): storage_event_hints.attach_limits,
    ("NodeVolumeLimits", "Pod"): pod_event_hints.node_volume_limits,
    ("NodeVolumeLimits", "PersistentVolumeClaim"): storage_event_hints.claim_of_pod,
    ("NodeVolumeLimits", "VolumeAttachment"): storage_event_hints.volume_attachment,
    ("PodTopologySpread", "Node"): node_event_hints.pod_topology_spread,
    ("PodTopologySpread", "Pod"): pod_event_hints.pod_topology_spread,
    ("PodTopologySpread", "PendingPod"): pod_event_hints.own_topology_spread,
    ("TaintToleration", "Node"): node_event_hints.taint_toleration,
    ("VolumeBinding", "StorageClass"): storage_event_hints.topologies_of_class,
    ("VolumeBinding", "PersistentVolumeClaim"): storage_event_hints.claim_of_pod,
    ("VolumeBinding", "CSINode"): storage_event_hints.migrated_plugins,
    ("VolumeBinding", "CSIDriver"): storage_event_hints.storage_capacity_of_driver,
    ("VolumeBinding", "CSIStorageCapacity"): storage_event_hints.storage_capacity,
    ("VolumeRestrictions", "Pod"): pod_event_hints.volume_restrictions,
    ("VolumeRestrictions", "PersistentVolumeClaim"): storage_event_hints.claim_named_by_pod,
    ("VolumeZone", "StorageClass"): storage_event_hints.class_that_waits,
    ("VolumeZone", "PersistentVolumeClaim"): storage_event_hints.claim_named_by_pod,
    ("VolumeZone", "PersistentVolume"): storage_event_hints.zones_of_volume,
}
"""By plugin and resource; without a hint, every event that the plugin has registered is worth another attempt."""


LARGEST_POD: Final = 32 << 10
"""Bytes of JSON that the spec and the labels of a pod may have, as no real pod has, for a hint to look at them."""

_KNOWN_SIZES: Final = 20_000

_STEPS_TO_ASK: Final = 5


class PodSizes:
    """Tells pods that are too large for hints, which compare what a pod asks for with what another one has."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bool] = {}
        """By UID and resourceVersion."""

    def is_too_large(self, item: KubernetesObject | None) -> bool:
        """Report whether the object is a pod that no hint looks at."""
        if not isinstance(item, Pod):
            return False
        version = item.metadata.uid, item.metadata.resource_version
        known = self._known.get(version)
        if known is None:
            if len(self._known) >= _KNOWN_SIZES:
                self._known.clear()
            known = len(encode((item.spec, item.metadata.labels))) > LARGEST_POD
            self._known[version] = known
        return known


class PluginHints:
    """The hints of the plugins of these profiles.

    A hint costs every event as much as the pod that waits is large. One whose tenant made it larger than any real pod
    is tried again after every event that the plugin has registered, as if its hint had failed. So are the pods of a
    namespace whose hints about one event have taken as long as a cycle may; hints are charged to the namespace.

    `cluster` gives a snapshot whose objects besides nodes and pods are up to date.
    """

    def __init__(self, frameworks: Mapping[str, Framework], cluster: Callable[[], Snapshot]) -> None:
        self._frameworks = frameworks
        self._cluster = cluster
        cycles = next((each.handle.limits for each in frameworks.values()), HINT)
        self._limits = replace(HINT, cancellation=cycles.cancellation, charged=cycles.charged)
        self._most_of_an_event = cycles.steps
        self._event: Happened | None = None
        self._used: Counter[str] = Counter()
        """The steps of all hints about the event, by the namespace of the pods that wait."""
        self._sizes = PodSizes()
        self._of_interest: dict[ClusterEvent, bool] = {}
        self._taints_wake = any(each.handle.release.taint_changes_wake for each in frameworks.values())
        self._plugins = frozenset(
            ref.name for framework in frameworks.values() for refs in framework.profile.plugins.values() for ref in refs
        )

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Report whether any of the plugins has registered the event."""
        known = self._of_interest.get(event)
        if known is None:
            known = event == EVERYTHING or any(self.is_registered(plugin, event) for plugin in self._plugins)
            self._of_interest[event] = known
        return known

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Report whether this plugin has registered it."""
        return is_registered(plugin, event) or self._is_blind(plugin, event)

    def _is_blind(self, plugin: str, event: ClusterEvent) -> bool:
        """Report whether the plugin takes any change of taints for its own."""
        changes_taints = event.resource == "Node" and Action.NODE_TAINT in event.action
        return changes_taints and self._taints_wake and plugin in BLIND_TO_TAINTS

    def helps(self, plugin: str, pod: Pod, happened: Happened) -> bool:
        """Report whether what happened may make the pod schedulable, which the plugin has rejected."""
        event, old, new = happened
        hint = HINTS.get((plugin, event.resource))
        if self._is_blind(plugin, event):
            return True
        if not is_registered(plugin, event):
            return False
        if event.resource == "PendingPod" and old is not None and (new is None or new.metadata.uid != pod.metadata.uid):
            return False
        if hint is None or any(map(self._sizes.is_too_large, (pod, old, new))):
            return True
        return self._asked(hint, pod, happened)

    def _asked(self, hint: Callable[[HintQuestion], bool], pod: Pod, happened: Happened) -> bool:
        """Ask the hint, unless the hints of the pod's namespace have taken too long about this event."""
        if self._event is not happened:
            self._event, self._used = happened, Counter()
        if self._used[pod.namespace] > self._most_of_an_event:
            return True
        event, old, new = happened
        before = None if event.action is Action.ADD else old
        after = None if event.action is Action.DELETE else new
        budget = CycleBudget(self._limits)
        question = HintQuestion(pod, before, after, self._frameworks[scheduler_name_of(pod)], self._cluster, budget)
        try:
            budget.spend(_STEPS_TO_ASK)
            return hint(question)
        except (InvalidQuantity, InvalidSelector, PluginError, BudgetEnded):
            return True
        finally:
            self._used[pod.namespace] += budget.steps
            budget.charge(pod.namespace, budget.steps)

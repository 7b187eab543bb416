"""Nodes, namespaces, services and the events of pods (k8s.io/api/core/v1/types.go)."""

from typing import Final, TypeAlias

import msgspec

from kubectl_sched.api.meta import Condition, Int32, Int64, KubernetesObject, Part

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"

RawQuantity: TypeAlias = str | int | float
"""A quantity as it was written; `kubectl_sched.api.apimachinery.quantity` gives it meaning."""

ResourceList: TypeAlias = dict[str, RawQuantity]


class Taint(Part, frozen=True):
    """A mark by which a node repels pods; the effect is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None

    def __str__(self) -> str:
        """Return the taint as kubectl writes it: key=value:effect."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


class NodePodPreemptionPolicy(Part, frozen=True):
    """The names of those who forbid preemption on the node for pods that grow in place."""

    disable_resize_preemption: tuple[str, ...] = ()


class NodeSpec(Part, frozen=True):
    """The part of a node that people write."""

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    provider_id: str = msgspec.field(name="providerID", default="")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None


class ContainerImage(Part, frozen=True):
    """An image on a node, with every name it goes by; sizes are bytes."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeSystemInfo(Part, frozen=True):
    """Facts that the kubelet reports about itself."""

    kubelet_version: str = ""
    operating_system: str = ""


class NodeStatus(Part, frozen=True):
    """The part of a node that the kubelet and controllers write."""

    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()
    declared_features: tuple[str, ...] = ()


class Node(KubernetesObject, frozen=True, tag_field="kind", tag="Node"):
    """A machine that pods can be bound to."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Part, frozen=True):
    """Active or Terminating."""

    phase: str = ""


class Namespace(KubernetesObject, frozen=True, tag_field="kind", tag="Namespace"):
    """Its labels are what namespaceSelectors ask about."""

    status: NamespaceStatus = NamespaceStatus()

    @property
    def added_node_selectors(self) -> dict[str, dict[str, str]]:
        """The labels that admission adds to the nodeSelector of each pod here, by the annotation that has them."""
        annotations = self.metadata.annotations
        texts = {
            "scheduler.alpha.kubernetes.io/node-selector": annotations.namespace_node_selector,
            "openshift.io/node-selector": annotations.project_node_selector,
        }
        pairs = {name: [part.partition("=") for part in (text or "").split(",")] for name, text in texts.items()}
        return {
            name: {key.strip(): value.strip() for key, equals, value in parts if equals}
            for name, parts in pairs.items()
        }


class ServiceSpec(Part, frozen=True):
    """The selector from which PodTopologySpread derives default constraints."""

    selector: dict[str, str] = {}


class Service(KubernetesObject, frozen=True, tag_field="kind", tag="Service"):
    """Read only for its selector."""

    spec: ServiceSpec = ServiceSpec()


class ObjectReference(Part, frozen=True):
    """A reference to any object, as events hold it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class EventSource(Part, frozen=True):
    """The component that wrote an event."""

    component: str = ""
    host: str = ""


class EventSeries(Part, frozen=True):
    """The number of times that an event was seen."""

    count: Int32 = 0
    last_observed_time: str | None = None


class Event(KubernetesObject, frozen=True, tag_field="kind", tag="Event"):
    """An event of v1 or of events.k8s.io/v1, whose names for the same things differ."""

    involved_object: ObjectReference = ObjectReference()
    regarding: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    note: str = ""
    type: str = ""
    source: EventSource = EventSource()
    reporting_component: str = ""
    reporting_controller: str = ""
    count: Int32 = 0
    series: EventSeries | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    deprecated_source: EventSource = EventSource()
    deprecated_first_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None

    @property
    def about(self) -> ObjectReference:
        """The object that the event is about, in either API's field."""
        return self.involved_object if self.involved_object.name else self.regarding

    @property
    def text(self) -> str:
        """The event's words, in either API's field."""
        return self.message or self.note

    @property
    def component(self) -> str:
        """The component that reported the event, from any of the five fields that have held it."""
        reporting = self.reporting_component or self.reporting_controller
        return self.source.component or reporting or self.deprecated_source.component

    @property
    def first_seen(self) -> str | None:
        """The oldest of its times (RFC 3339), None if it has none but its own creation."""
        return self.first_timestamp or self.deprecated_first_timestamp or self.event_time

    @property
    def last_seen(self) -> str:
        """The newest of its times (RFC 3339), empty where it has none."""
        series = self.series.last_observed_time if self.series else None
        return max(
            filter(None, (series, self.last_timestamp, self.deprecated_last_timestamp, self.first_seen)),
            default=self.metadata.creation_timestamp or "",
        )


class ConfigMap(KubernetesObject, frozen=True, tag_field="kind", tag="ConfigMap"):
    """Read only where a scheduler's own configuration is mounted from it, and if it is cluster-autoscaler's status."""

    data: dict[str, str] = {}

    @property
    def autoscaler_status(self) -> str:
        """The status of cluster-autoscaler, in either of its formats; empty if it holds none."""
        text = self.data.get("status", "")
        return text if text.startswith("Cluster-autoscaler status at ") or "autoscalerStatus" in text else ""

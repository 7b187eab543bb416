"""Keeps a pod in the zones of its volumes, as their labels say (plugins/volumezone/volume_zone.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.api.component_helpers.volume_claims import (
    claim_not_found,
    class_not_found,
    class_of_claim,
    volume_not_found,
    zones_of_label,
)
from kubectl_sched.api.storage import WAIT_FOR_FIRST_CONSUMER, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import VolumesSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows
    from kubectl_sched.snapshot.objects import Objects

_CONFLICT = unresolvable("node(s) had no available volume zone")

_GA_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_TOPOLOGY_LABELS: Final = (*_GA_LABELS, *_GA_LABELS.values())


class VolumeTopology(NamedTuple):
    """One zone or region label of a volume of the pod, and the values it lists."""

    volume: str
    claim: str
    key: str
    values: frozenset[str]

    def of_node(self, labels: Mapping[str, str]) -> str | None:
        """The node's own value, from the same label or from the one that has taken its place."""
        value = labels.get(self.key)
        return value if value is not None else labels.get(_GA_LABELS.get(self.key, self.key))


Topologies: TypeAlias = tuple[VolumeTopology, ...]

_STEPS_A_VOLUME: Final = 4

PRE_FILTER_STATE: StateKey[Topologies] = StateKey(name="PreFilterVolumeZone")


class VolumeZone(PreFilterPlugin, FilterPlugin, VolumesSigner):
    """Nodes without any zone or region label take every volume."""

    name: ClassVar[str] = "VolumeZone"
    depends_on: ClassVar[DependsOn] = DependsOn.CLAIMS

    def __init__(self, args: None, handle: Handle) -> None:
        self._grows_in_place = handle.grows_in_place

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Read the labels of the pod's volumes; skip pods whose volumes have none."""
        if not pod.spec.volumes or self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        state.budget.spend(_STEPS_A_VOLUME * len(pod.spec.volumes))
        found = _topologies(pod, nodes.objects)
        if isinstance(found, Status):
            return PreFilterResult(status=found)
        if not found:
            return PreFilterResult(status=SKIP)
        state.write(PRE_FILTER_STATE, found)
        return PreFilterResult()

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """The claim whose volume is not known, and why."""
        for name in _claim_names(pod):
            reason = _volume_of(name, pod.namespace, nodes.objects)
            if isinstance(reason, Status):
                kind = _looked_up(name, pod.namespace, nodes.objects)
                why = reason.message
                if kind is not None and not nodes.objects.all(kind):
                    why = f"no {kind.__name__} was read"
                text = f"the zone of claim {pod.namespace}/{name} cannot be told: {why}"
                return (Evidence(text=text, facts={"claim": name, "namespace": pod.namespace}),)
        return ()

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes of other zones and regions, and those that have labels but not the volume's."""
        topologies = self._topologies(state, pod, nodes)
        if isinstance(topologies, Status):
            return Column.filled(len(nodes), topologies)
        node_labels = _node_labels(nodes)
        state.budget.spend(len(topologies) * len(node_labels.values))
        return node_labels.map(lambda labels: _CONFLICT if _conflict(topologies, labels) else SUCCESS)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each volume that is elsewhere: where it is, and where the node is."""
        topologies = self._topologies(state, pod, nodes)
        if isinstance(topologies, Status):
            return self.explain_pre_filter(state, pod, nodes) if topologies.is_rejected else ()
        labels = nodes.node(row).labels
        if not _is_labelled(labels):
            return ()
        return tuple(
            _evidence(topology, topology.of_node(labels))
            for topology in topologies
            if topology.of_node(labels) not in topology.values
        )

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The volume that all of these nodes are too far from, and where it is."""
        topologies = self._topologies(state, pod, nodes)
        labels = [each for each, _ in _node_labels(nodes).take(rows).counts()]
        for topology in () if isinstance(topologies, Status) else topologies:
            if all(topology.of_node(each) not in topology.values for each in labels):
                return f"are not in {_place(topology)} of volume {topology.volume} (claim {topology.claim})"
        return super().summarize(state, pod, nodes, rows)

    def _topologies(self, state: CycleState, pod: Pod, nodes: Snapshot) -> Topologies | Status:
        """Return the state of PreFilter, computed anew if PreFilter did not run."""
        if not pod.spec.volumes or self._grows_in_place(pod):
            return ()
        kept = state.get(PRE_FILTER_STATE)
        return _topologies(pod, nodes.objects) if kept is None else kept


def _claim_names(pod: Pod) -> list[str]:
    volumes = pod.spec.volumes
    return [volume.persistent_volume_claim.claim_name for volume in volumes if volume.persistent_volume_claim]


def _topologies(pod: Pod, objects: Objects) -> Topologies | Status:
    """The labels of all bound volumes (getPVbyPod), or why one of them cannot be told."""
    found: list[VolumeTopology] = []
    for name in _claim_names(pod):
        volume = _volume_of(name, pod.namespace, objects)
        if isinstance(volume, Status):
            return volume
        if volume is not None:
            found += topologies_of(volume, name)
    return tuple(found)


def topologies_of(volume: PersistentVolume, claim: str) -> list[VolumeTopology]:
    """The zones and regions that a volume's labels name."""
    labels = volume.metadata.labels
    values = ((key, zones_of_label(labels[key])) for key in _TOPOLOGY_LABELS if key in labels)
    return [VolumeTopology(volume.name, claim, key, zones) for key, zones in values if zones is not None]


def _volume_of(name: str, namespace: str, objects: Objects) -> PersistentVolume | Status | None:
    """The volume of a claim; None while it waits for its first consumer."""
    if not name:
        return unresolvable("PersistentVolumeClaim had no name")
    claim = objects.get(PersistentVolumeClaim, name, namespace)
    if claim is None:
        return unresolvable(claim_not_found(name))
    if claim.spec.volume_name:
        volume = objects.get(PersistentVolume, claim.spec.volume_name)
        return unresolvable(volume_not_found(claim.spec.volume_name)) if volume is None else volume
    return _why_unbound(claim, objects)


def _looked_up(name: str, namespace: str, objects: Objects) -> type[KubernetesObject] | None:
    """The kind of the object at which `_volume_of` ends; None for a claim that names neither volume nor class."""
    claim = objects.get(PersistentVolumeClaim, name, namespace)
    if claim is None:
        return PersistentVolumeClaim
    if claim.spec.volume_name:
        return PersistentVolume
    return StorageClass if class_of_claim(claim) else None


def _why_unbound(claim: PersistentVolumeClaim, objects: Objects) -> Status | None:
    """Return the status for an unbound claim; None if its class waits for the first consumer."""
    class_name = class_of_claim(claim)
    if not class_name:
        return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = objects.get(StorageClass, class_name)
    if storage_class is None:
        return unresolvable(class_not_found(class_name))
    if storage_class.volume_binding_mode is None:
        return unresolvable(f"VolumeBindingMode not set for StorageClass {quoted(class_name)}")
    if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
        return None
    return unresolvable("PersistentVolume had no name")


def _node_labels(nodes: Snapshot) -> Column[dict[str, str]]:
    """The zone and region labels of the nodes, few of which are distinct."""
    first, second, third, fourth = (nodes.label(key) for key in _TOPOLOGY_LABELS)
    pairs = first.combined(second).combined(third.combined(fourth))
    return pairs.map(
        lambda pair: {
            key: value for key, value in zip(_TOPOLOGY_LABELS, (*pair[0], *pair[1]), strict=True) if value is not None
        }
    )


def _is_labelled(labels: Mapping[str, str]) -> bool:
    return any(key in labels for key in _TOPOLOGY_LABELS)


def _conflict(topologies: Topologies, labels: Mapping[str, str]) -> bool:
    return bool(labels) and any(topology.of_node(labels) not in topology.values for topology in topologies)


def _place(topology: VolumeTopology) -> str:
    """`zone a or b`."""
    return f"{topology.key.rpartition('/')[2]} {' or '.join(sorted(topology.values))}"


def _evidence(topology: VolumeTopology, value: str | None) -> Evidence:
    kind = topology.key.rpartition("/")[2]
    values = sorted(topology.values)
    here = f"has no label {topology.key}" if value is None else f"is in {kind} {value}"
    return Evidence(
        text=f"{here}; volume {topology.volume} (claim {topology.claim}) is in {' or '.join(values)}",
        facts={
            "claim": topology.claim,
            "persistentVolume": topology.volume,
            "label": topology.key,
            "wanted": [*values],
            "value": value,
        },
    )

"""Volumes, claims, classes and drivers out of a few words, for the tests of the volume plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.plugins.clusters import node
from tests.plugins.random_volumes import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject

ZONE = "topology.kubernetes.io/zone"


def stored(kind: str, name: str, *, metadata: Mapping[str, Any] | None = None, **fields: Any) -> KubernetesObject:
    """An object of any storage kind with fields in Kubernetes' own names; claims are in `default`."""
    namespace = {"namespace": "default"} if kind == "PersistentVolumeClaim" else {}
    return decoded({"kind": kind, "metadata": {"name": name, **namespace, **(metadata or {})}, **fields})


def volume(name: str, *, metadata: Mapping[str, Any] | None = None, phase: str = "Available", **spec: Any) -> Any:
    """A PersistentVolume of 5Gi and class `slow` that one node may write to."""
    given = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow"} | spec
    return stored("PersistentVolume", name, metadata=metadata, spec=given, status={"phase": phase})


def claim(name: str, *, to: str = "", size: str = "5Gi", metadata: Mapping[str, Any] | None = None, **spec: Any) -> Any:
    """A PersistentVolumeClaim of class `slow`, bound to the volume `to`, if any."""
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if to else {}
    given = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "slow",
        "resources": {"requests": {"storage": size}},
        "volumeName": to,
    }
    status = {"phase": "Bound" if to else "Pending"}
    meta = {"annotations": annotations, **(metadata or {})}
    return stored("PersistentVolumeClaim", name, metadata=meta, spec=given | spec, status=status)


def storage_class(name: str = "slow", provisioner: str = "disk.csi.example", **fields: Any) -> Any:
    """A StorageClass that waits for the first consumer."""
    return stored(
        "StorageClass", name, **({"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"} | fields)
    )


def csi_node(name: str, *, migrated: str = "", **limits: int | None) -> Any:
    """A CSINode with a driver `NAME.csi.example` for each limit; None is no limit."""
    drivers = [
        {"name": f"{driver}.csi.example", "allocatable": {} if limit is None else {"count": limit}}
        for driver, limit in limits.items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return stored("CSINode", name, metadata={"annotations": annotations}, spec={"drivers": drivers})


def in_zone(zone: str) -> dict[str, Any]:
    """The node affinity of a volume that is in one zone."""
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def node_in(zone: str, name: str = "") -> Node:
    """A node in a zone, named after it unless a name is given."""
    return node(name or f"node-{zone}", labels={ZONE: zone})


def using(*claims: str) -> dict[str, Any]:
    """The volumes of a pod that uses these claims."""
    return {"volumes": [{"name": f"v-{name}", "persistentVolumeClaim": {"claimName": name}} for name in claims]}

"""Pods that leave a drained node: those that come back elsewhere, and those with a volume that is local to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume


REPLACED_AT_ONCE: Final = frozenset({"ReplicaSet", "ReplicationController", "Job"})
"""Controllers that make the next pod while the last is still terminating; a StatefulSet waits for its end."""


def comes_back(pod: Pod, patient_jobs: Collection[str]) -> bool:
    """Report whether a controller makes another in its place, on whatever node."""
    has_owner = pod.metadata.controller is not None and not pod.is_static and not pod.is_daemon
    return has_owner and not is_replaced(pod, patient_jobs)


def is_replaced(pod: Pod, patient_jobs: Collection[str]) -> bool:
    """Report whether the pod is terminating and its controller counts it no more.

    `patient_jobs` are the keys of Jobs that wait until it has failed.
    """
    owner = pod.metadata.controller
    if pod.metadata.deletion_timestamp is None or owner is None or owner.kind not in REPLACED_AT_ONCE:
        return False
    return owner.kind != "Job" or f"{pod.namespace}/{owner.name}" not in patient_jobs


def with_local_volumes(objects: Iterable[KubernetesObject]) -> Callable[[Pod], bool]:
    """Return what reports whether a pod has a volume that is local to its node."""
    objects = list(objects)
    claims = {item.key: item for item in objects if isinstance(item, PersistentVolumeClaim)}
    volumes = {item.name: item for item in objects if isinstance(item, PersistentVolume)}

    def is_local(pod: Pod, volume: Volume) -> bool:
        source = volume.persistent_volume_claim
        claim = claims.get(f"{pod.namespace}/{source.claim_name}") if source is not None else None
        bound = volumes.get(claim.spec.volume_name) if claim is not None else None
        return bound is not None and _is_of_one_host(bound)

    return lambda pod: any(is_local(pod, volume) for volume in pod.spec.volumes)


def _is_of_one_host(volume: PersistentVolume) -> bool:
    required = volume.spec.node_affinity.required if volume.spec.node_affinity is not None else None
    return required is not None and any(
        expression.key == HOSTNAME for term in required.node_selector_terms for expression in term.match_expressions
    )

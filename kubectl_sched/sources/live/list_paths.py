"""Under which path an API server lists each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from kubectl_sched.sources.kinds import Kind

_VERSIONS = {
    "aks.azure.com": ("v1alpha1", "v1beta1", "v1"),
    "policy": ("v1", "v1beta1"),
    "storage.k8s.io": ("v1", "v1beta1"),
    "autoscaling.x-k8s.io": ("v1", "v1beta1"),
    "jobset.x-k8s.io": ("v1alpha2",),
    "kueue.x-k8s.io": ("v1beta2", "v1beta1", "v1alpha1"),
    "resource.k8s.io": ("v1", "v1beta2", "v1beta1", "v1alpha3"),
    "scheduling.run.ai": ("v2alpha2", "v2"),
    "scheduling.sigs.k8s.io": ("v1alpha1",),
    "scheduling.volcano.sh": ("v1beta1",),
    "visibility.kueue.x-k8s.io": ("v1beta2", "v1beta1"),
    "scheduling.k8s.io": ("v1", "v1alpha3", "v1alpha2", "v1alpha1"),
}
"""The versions of groups that are not just v1: those that any supported server has, the one to prefer first."""


def group_of(kind: Kind) -> str:
    """The API group to ask: events are also in the core group, ReplicaSets no longer in extensions."""
    return min(kind.groups - {"extensions"})


def list_paths(kind: Kind, namespace: str = "") -> list[str]:
    """The paths to try, one after the other until one is served."""
    group = group_of(kind)
    within = f"namespaces/{quote(namespace, safe='')}/" if namespace and kind.namespaced else ""
    base = f"/apis/{group}/" if group else "/api/"
    return [f"{base}{version}/{within}{kind.plural}" for version in _VERSIONS.get(group, ("v1",))]


def pending_workload_paths(namespace: str, local_queue: str) -> list[str]:
    """The paths of Kueue's visibility API for the workloads that wait in a LocalQueue, as `list_paths` has them."""
    group = "visibility.kueue.x-k8s.io"
    within = f"namespaces/{quote(namespace, safe='')}/localqueues/{quote(local_queue, safe='')}/pendingworkloads"
    return [f"/apis/{group}/{version}/{within}" for version in _VERSIONS[group]]

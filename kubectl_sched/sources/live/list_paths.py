"""Under which path an API server lists each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

import msgspec

from kubectl_sched.api.decoders import decoder

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    "scheduling.k8s.io": ("v1", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
}
"""The versions of groups that are not just v1: those that any supported server has, the one to prefer first."""


class _Resource(msgspec.Struct, frozen=True):
    resource: str = ""


class _Version(msgspec.Struct, frozen=True):
    version: str = ""
    resources: tuple[_Resource, ...] | None = None


class _Name(msgspec.Struct, frozen=True):
    name: str = ""


class _Group(msgspec.Struct, frozen=True):
    """A group of aggregated discovery, or of plain discovery, which has its name beside the versions."""

    name: str = ""
    metadata: _Name = _Name()
    versions: tuple[_Version, ...] = ()


class _Groups(msgspec.Struct, frozen=True):
    items: tuple[_Group, ...] = ()
    groups: tuple[_Group, ...] = ()


DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
"""The `Accept` header for the groups with all their resources in one answer; a server may give the groups alone."""

Served: TypeAlias = "dict[tuple[str, str], tuple[str, ...]]"
"""The versions in which a server has resources, by group and plural; of whole groups by an empty plural."""


def group_of(kind: Kind) -> str:
    """The API group to ask: events are also in the core group, ReplicaSets no longer in extensions."""
    return min(kind.groups - {"extensions"})


def served_in(answer: bytes) -> Served:
    """Return what a server says of itself at `/apis`. Raises msgspec.DecodeError."""
    found = decoder(_Groups).decode(answer)
    served: Served = {}
    for group in found.items:
        for each in group.versions:
            for resource in each.resources or ():
                key = group.metadata.name, resource.resource
                served[key] = (*served.get(key, ()), each.version)
    return served | {(group.name, ""): tuple(each.version for each in group.versions) for group in found.groups}


def list_paths(kind: Kind, namespace: str = "", served: Sequence[str] = ()) -> list[str]:
    """The paths to try, one after the other until one is served; `served` are the versions that are known to be."""
    group = group_of(kind)
    within = f"namespaces/{quote(namespace, safe='')}/" if namespace and kind.namespaced else ""
    base = f"/apis/{group}/" if group else "/api/"
    return [f"{base}{version}/{within}{kind.plural}" for version in _versions(group, served)]


def _versions(group: str, served: Sequence[str]) -> Sequence[str]:
    known = _VERSIONS.get(group, ("v1",))
    return [version for version in known if version in served] or known


def pending_workloads_path(namespace: str, local_queue: str, served: Sequence[str]) -> str:
    """The path of Kueue's visibility API for the workloads that wait in a LocalQueue."""
    group = "visibility.kueue.x-k8s.io"
    within = f"namespaces/{quote(namespace, safe='')}/localqueues/{quote(local_queue, safe='')}/pendingworkloads"
    return f"/apis/{group}/{_versions(group, served)[0]}/{within}"

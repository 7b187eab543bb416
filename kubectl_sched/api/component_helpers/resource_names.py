"""Kinds of resources, recognized by their names.

Answers to pkg/apis/core/v1/helper/helpers.go, IsScalarResourceName and IsDRAExtendedResourceName of
pkg/scheduler/util/utils.go, and k8s.io/component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from kubectl_sched.api.apimachinery.validation import label_key_errors
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

_NATIVE: Final = "kubernetes.io/"
_REQUESTS: Final = "requests."
_HUGE_PAGES: Final = "hugepages-"
_ATTACHABLE_VOLUMES: Final = "attachable-volumes-"


@lru_cache(maxsize=1 << 12)
def is_extended_resource_name(name: str) -> bool:
    """Report whether a resource, such as `nvidia.com/gpu`, is not of Kubernetes itself (IsExtendedResourceName)."""
    if "/" not in name or _NATIVE in name or name.startswith(_REQUESTS):
        return False
    return not label_key_errors(_REQUESTS + name)


def is_huge_page_resource_name(name: str) -> bool:
    """Report whether a resource is huge pages of some size (IsHugePageResourceName)."""
    return name.startswith(_HUGE_PAGES)


@lru_cache(maxsize=1 << 12)
def is_scalar_resource_name(name: str) -> bool:
    """Report whether NodeInfo counts a resource besides cpu, memory and ephemeral-storage (IsScalarResourceName)."""
    return (
        is_extended_resource_name(name)
        or is_huge_page_resource_name(name)
        or _NATIVE in name
        or name.startswith(_ATTACHABLE_VOLUMES)
    )


@lru_cache(maxsize=1 << 12)
def is_counted_resource_name(name: str) -> bool:
    """Report whether NodeInfo counts the requests of a resource (Resource.Add)."""
    return name in {CPU, MEMORY, EPHEMERAL_STORAGE} or is_scalar_resource_name(name)


def is_dra_extended_resource_name(name: str) -> bool:
    """Report whether devices may back a resource, by its name (IsDRAExtendedResourceName)."""
    return is_extended_resource_name(name) or name.startswith(DEVICE_CLASS_RESOURCE_PREFIX)


def is_supported_pod_level_resource(name: str) -> bool:
    """Report whether a pod may ask for a resource as a whole (IsSupportedPodLevelResource)."""
    return name in {CPU, MEMORY} or is_huge_page_resource_name(name)

"""The DeviceClass behind an extended resource.

Answers to extendedresourcecache in k8s.io/dynamic-resource-allocation/deviceclass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.resource import DeviceClass
    from kubectl_sched.config.allocator_versions import DeviceRules


def class_of_resource(classes: Sequence[DeviceClass], rules: DeviceRules) -> dict[str, str]:
    """The class behind each extended resource: of two the newer, of two as old the first by name."""
    found: dict[str, DeviceClass] = {}
    for one in classes:
        named = one.spec.extended_resource_name
        if not rules.implicit_class_is_extended:
            found[DEVICE_CLASS_RESOURCE_PREFIX + one.name if named is None else named] = one
            continue
        if named is not None and named in found and not _comes_before(one, found[named]):
            if rules.losing_class_is_extended:
                found[DEVICE_CLASS_RESOURCE_PREFIX + one.name] = one
            continue
        if named is not None:
            found[named] = one
        found[DEVICE_CLASS_RESOURCE_PREFIX + one.name] = one
    return {resource: one.name for resource, one in found.items()}


def _comes_before(one: DeviceClass, other: DeviceClass) -> bool:
    mine, theirs = one.metadata.creation_timestamp or "", other.metadata.creation_timestamp or ""
    return mine > theirs or (mine == theirs and one.name < other.name)

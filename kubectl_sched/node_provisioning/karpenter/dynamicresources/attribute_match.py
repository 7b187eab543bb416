"""A claim's constraint that devices have an attribute in common (pkg/scheduling/dynamicresources/constraint.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.plugins.dynamic_resources.allocator.constraints import attribute_values, published_attribute

if TYPE_CHECKING:
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice


class AttributeMatch:
    """The devices of some requests, or of all if none is named, have one value of an attribute.

    Attributes that a provider knows to be equal without knowing the value are not known here: a device without the
    attribute is refused.
    """

    def __init__(self, requests: frozenset[str], attribute: str) -> None:
        self._requests = requests
        self._attribute = attribute
        self._values: list[tuple[str, frozenset[object]]] = []

    def add(self, request: str, alternative: str, device: SliceDevice) -> bool:
        """Take a device in, and report whether it may be there."""
        if not self._concerns(request, alternative):
            return True
        found = published_attribute(device, self._attribute)
        values = attribute_values(found, lists=False) if found is not None else None
        if found is None or (self._values and (values is None or values != self._values[0])):
            return False
        self._values.append(values or ("", frozenset()))
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Undo one addition."""
        if self._concerns(request, alternative):
            self._values.pop()

    def reset(self) -> None:
        """Forget all devices."""
        self._values.clear()

    def _concerns(self, request: str, alternative: str) -> bool:
        names = self._requests
        return not names or request in names or (bool(alternative) and f"{request}/{alternative}" in names)

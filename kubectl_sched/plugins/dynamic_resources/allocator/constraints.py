"""Constraints on the devices of a claim: what they must share, or must not (allocator_*.go, constraint.go)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.resource import DeviceAttribute, DeviceConstraint
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.requests import RequestData

Lookup: TypeAlias = "Callable[[RequestData, SliceDevice, str], DeviceAttribute | None]"
Values: TypeAlias = tuple[str, frozenset[str | int | bool]]
"""The type of an attribute's values, and the values."""

_UNKNOWN: Values = ("unknown", frozenset())


class Constraint(ABC):
    """Told of each device that is about to be allocated, and of each that is given back, last one first."""

    def __init__(
        self, published: DeviceConstraint, attribute: str, lookup: Lookup, *, lists: bool, unsupported_fail: bool
    ) -> None:
        self._requests = frozenset(published.requests)
        self.attribute = attribute
        self._lookup = lookup
        self._lists = lists
        self._unsupported_fail = unsupported_fail

    def concerns(self, request: RequestData) -> bool:
        """Report whether it is about the request; without any names it is about all."""
        if not self._requests or request.base_name in self._requests:
            return True
        return request.parent_name is not None and request.full_name in self._requests

    def add(self, request: RequestData, device: SliceDevice) -> bool:
        """Report whether the device may be added; if so, it is."""
        if not self.concerns(request):
            return True
        attribute = self._lookup(request, device, self.attribute)
        if attribute is None:
            return False
        values = attribute_values(attribute, self._lists)
        if self._unsupported_fail:
            values = _supported(values, device, self.attribute)
        if values is None and not self._lists:
            values = _UNKNOWN  # Upstream takes the first device without a look at the type.
        return values is not None and self._add(request, device, values)

    def remove(self, request: RequestData) -> None:
        """Take back the last device added."""
        if self.concerns(request):
            self._remove(request)

    @abstractmethod
    def _add(self, request: RequestData, device: SliceDevice, values: Values) -> bool: ...

    @abstractmethod
    def _remove(self, request: RequestData) -> None: ...


class MatchAttribute(Constraint):
    """All devices have the same value, or of lists some value in common."""

    def __init__(
        self, published: DeviceConstraint, attribute: str, lookup: Lookup, *, lists: bool, unsupported_fail: bool
    ) -> None:
        super().__init__(published, attribute, lookup, lists=lists, unsupported_fail=unsupported_fail)
        self._common: list[Values] = []

    def _add(self, request: RequestData, device: SliceDevice, values: Values) -> bool:
        if self._common:
            kind, common = self._common[-1]
            if kind != values[0] or not common & values[1]:
                return False
            values = (kind, common & values[1])
        self._common.append(values)
        return True

    def _remove(self, request: RequestData) -> None:
        if self._common:
            self._common.pop()


class DistinctAttribute(Constraint):
    """No two devices have the same value. What the minors compare with differs (`DeviceRules.distinct_by`)."""

    def __init__(
        self,
        published: DeviceConstraint,
        attribute: str,
        lookup: Lookup,
        *,
        lists: bool,
        unsupported_fail: bool,
        compared: Literal["device", "request", "value"],
    ) -> None:
        super().__init__(published, attribute, lookup, lists=lists, unsupported_fail=unsupported_fail)
        self._compared = compared
        self._seen: list[Values] = []
        self._of_request: dict[str, tuple[SliceDevice, Values]] = {}
        self._count = 0

    def _add(self, request: RequestData, device: SliceDevice, values: Values) -> bool:
        if self._compared == "value":
            if any(_overlap(values, other) for other in self._seen):
                return False
            self._seen.append(values)
            return True
        if self._count and any(self._is_same(device, values, other) for other in self._of_request.values()):
            return False
        self._of_request[request.base_name] = (device, values)
        self._count += 1
        return True

    def _is_same(self, device: SliceDevice, values: Values, other: tuple[SliceDevice, Values]) -> bool:
        if self._compared == "device":
            return device is other[0]
        return _overlap(values, other[1])

    def _remove(self, request: RequestData) -> None:
        if self._compared == "value":
            self._seen.pop()
            return
        self._of_request.pop(request.base_name, None)
        self._count -= 1


def make_constraint(
    published: DeviceConstraint,
    lookup: Lookup,
    *,
    lists: bool,
    unsupported_fail: bool,
    distinct_by: Literal["device", "request", "value"] | None,
    where: str,
) -> Constraint:
    """The constraint; `distinct_by` None if the allocator does not know distinctAttribute."""
    if published.match_attribute is not None:
        return MatchAttribute(
            published, published.match_attribute, lookup, lists=lists, unsupported_fail=unsupported_fail
        )
    if published.distinct_attribute is not None and distinct_by is not None:
        return DistinctAttribute(
            published,
            published.distinct_attribute,
            lookup,
            lists=lists,
            unsupported_fail=unsupported_fail,
            compared=distinct_by,
        )
    raise AllocationFailed(f"{where}: empty constraint (unsupported constraint type?)")


def published_attribute(device: SliceDevice, name: str) -> DeviceAttribute | None:
    """The attribute of a fully qualified name; the driver's own may be written without its domain (lookupAttribute)."""
    attributes = device.device.attributes
    if name in attributes:
        return attributes[name]
    domain, slash, short = name.partition("/")
    return attributes.get(short) if slash and domain == device.id.driver else None


def attribute_values(attribute: DeviceAttribute, lists: bool) -> Values | None:
    """The attribute's values; None if it has none of a known type."""
    if lists:
        for kind, several in (
            ("int", attribute.int_values),
            ("bool", attribute.bool_values),
            ("string", attribute.string_values),
            ("version", attribute.version_values),
        ):
            if several:
                return kind, frozenset(several)
    for kind, value in (
        ("string", attribute.string_value),
        ("int", attribute.int_value),
        ("bool", attribute.bool_value),
        ("version", attribute.version_value),
    ):
        if value is not None:
            return kind, frozenset((value,))
    return None


def _supported(values: Values | None, device: SliceDevice, name: str) -> Values:
    """Return the values, versions without build metadata; raise AllocationFailed if they cannot be read."""
    from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Semver

    failure = AllocationFailed(f"device {device.id}: unsupported attribute value for {name}")
    if values is None:
        raise failure
    if values[0] != "version":
        return values
    try:
        return values[0], frozenset(str(Semver.parse(str(version))) for version in values[1])
    except CelError as wrong:
        raise failure from wrong


def _overlap(one: Values, other: Values) -> bool:
    return one is _UNKNOWN or (one[0] == other[0] and bool(one[1] & other[1]))

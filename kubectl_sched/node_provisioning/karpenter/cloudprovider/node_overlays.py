"""The instance types of each NodePool under its NodeOverlays (pkg/controllers/nodeoverlay)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NODE_POOL
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, NOT_IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement_validation import requirement_errors
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    is_compatible,
    label_requirements,
    merged,
    requirements_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.karpenter import NodeOverlay, NodePool
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements


_STANDARD_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


class _Price(NamedTuple):
    """The price or adjustment of an offering, and the weight of the last NodeOverlay that was about it."""

    change: str
    lowest_weight: int


class _Update:
    """The changes of one instance type of one NodePool so far (instanceTypeUpdate)."""

    def __init__(self) -> None:
        self.prices: dict[str, _Price] = {}
        self.capacity: Resources = {}
        self._lowest: Collection[str] = ()
        self._lowest_weight = 0

    def conflicts(self, overlay: NodeOverlay, offerings: Iterable[Offering]) -> bool:
        """Report whether a NodeOverlay of the same weight was about the same price or resource."""
        weight = overlay.spec.weight or 0
        about = [self.prices.get(_key(each)) for each in offerings] if _change(overlay) else []
        if any(each is not None and each.lowest_weight == weight for each in about):
            return True
        return self._lowest_weight == weight and not set(self._lowest).isdisjoint(overlay.spec.capacity or ())

    def add(self, overlay: NodeOverlay, offerings: Iterable[Offering]) -> None:
        """Add what no heavier NodeOverlay has said."""
        weight, change, capacity = overlay.spec.weight or 0, _change(overlay), overlay.spec.capacity
        if change:
            for each in offerings:
                known = self.prices.get(_key(each))
                self.prices[_key(each)] = _Price(known.change if known is not None else change, weight)
        if capacity is not None:
            self.capacity = {**parse_resource_list(capacity), **self.capacity}
            self._lowest, self._lowest_weight = tuple(capacity), weight

    def applied(self, kind: InstanceType) -> InstanceType:
        """The instance type with the changes; an offering whose price changes loses its own capacity (apply)."""
        offerings = tuple(
            Offering(
                each.requirements,
                adjusted_price(each.price, price.change),
                available=each.available,
                reservation_capacity=each.reservation_capacity,
            )
            if (price := self.prices.get(_key(each))) is not None
            else each
            for each in kind.offerings
        )
        capacity = {**kind.capacity, **self.capacity}
        return InstanceType(
            kind.name, kind.requirements, offerings, capacity, kind.overhead, kind.volume_limits, kind.device_slices
        )


def overlaid(
    types: Mapping[str, Sequence[InstanceType]],
    pools: Iterable[NodePool],
    overlays: Iterable[NodeOverlay],
    well_known: frozenset[str],
    restricted_domains: frozenset[str],
) -> dict[str, Sequence[InstanceType]]:
    """Apply the NodeOverlays that are valid, the heaviest first, but none that conflicts with one of its weight."""
    known = [pool for pool in pools if types.get(pool.name)]
    updates: dict[str, dict[str, _Update]] = {pool.name: {} for pool in known}
    valid = [each for each in overlays if not each.is_invalid and _is_valid(each, well_known, restricted_domains)]
    by_name = sorted(valid, key=lambda each: each.name, reverse=True)
    for overlay in sorted(by_name, key=lambda each: -(each.spec.weight or 0)):
        touched = [
            (updates[pool.name].get(kind.name) or _Update(), pool.name, kind.name, offerings)
            for pool in known
            for kind, offerings in _touched(pool, types[pool.name], overlay, well_known)
        ]
        if any(update.conflicts(overlay, offerings) for update, _, _, offerings in touched):
            continue
        for update, pool_name, kind_name, offerings in touched:
            update.add(overlay, offerings)
            updates[pool_name][kind_name] = update
    return {name: _applied(own, updates.get(name, {})) for name, own in types.items()}


def adjusted_price(price: float, change: str) -> float:
    """The price itself, or an amount or a percentage more or less, and never below nothing (AdjustedPrice)."""
    if not change.startswith(("+", "-")):
        return float(change)
    adjusted = price * (1 + float(change[:-1]) / 100) if change.endswith("%") else price + float(change)
    return max(adjusted, 0.0)


def _is_valid(overlay: NodeOverlay, well_known: frozenset[str], restricted_domains: frozenset[str]) -> bool:
    """Report whether Karpenter takes a NodeOverlay's requirements and resources (RuntimeValidate)."""
    if not _STANDARD_RESOURCES.isdisjoint(overlay.spec.capacity or ()):
        return False
    return not any(
        (each.operator == NOT_IN and not each.values)
        or any(requirement_errors(each.key, each.operator, each.values, well_known, restricted_domains))
        for each in overlay.spec.requirements
    )


def _applied(types: Sequence[InstanceType], updates: Mapping[str, _Update]) -> Sequence[InstanceType]:
    if not updates:
        return types
    return tuple(updates[each.name].applied(each) if each.name in updates else each for each in types)


def _touched(
    pool: NodePool, types: Iterable[InstanceType], overlay: NodeOverlay, well_known: frozenset[str]
) -> Iterator[tuple[InstanceType, list[Offering]]]:
    """The instance types that a NodeOverlay is about, with their offerings (getOverlaidOfferings)."""
    wanted = merged(requirement(each.key, each.operator, each.values) for each in overlay.spec.requirements)
    labels: Requirements = label_requirements(pool.spec.template.metadata.labels)
    of_pool = merged([requirement(NODE_POOL, IN, (pool.name,))], labels.values())
    for kind in types:
        if is_compatible(merged(of_pool.values(), kind.requirements.values()), wanted):
            offerings = [each for each in kind.offerings if is_compatible(wanted, each.requirements, well_known)]
            if offerings:
                yield kind, offerings


def _change(overlay: NodeOverlay) -> str:
    return overlay.spec.price or overlay.spec.price_adjustment


def _key(offering: Offering) -> str:
    return requirements_text(offering.requirements)

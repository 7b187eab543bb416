"""The order of instance types by price, their truncation, and the values that a requirement must leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable
    from kubectl_sched.node_provisioning.karpenter.karpenter_release import KarpenterRelease
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements


def ordered_by_price(table: InstanceTypeTable, rows: Sequence[int], requirements: Requirements) -> list[int]:
    """The rows, cheapest first, those of one price as sort.Slice leaves them (OrderByPrice)."""
    prices = table.prices(requirements)
    return go_sort(list(rows), lambda left, right: prices[left] < prices[right])


def has_equal_prices(table: InstanceTypeTable, rows: Sequence[int], requirements: Requirements) -> bool:
    """Report whether the order of some of the rows does not follow from their prices."""
    prices = table.prices(requirements)
    return len({prices[row] for row in rows}) < len(rows)


def too_few_values(
    types: Sequence[InstanceType], requirements: Requirements, release: KarpenterRelease
) -> dict[str, int]:
    """The labels of which the types leave fewer values than their minValues, and how many (SatisfiesMinValues)."""
    if not types:
        return {}
    short = {}
    for key, wanted in requirements.items():
        if wanted.min_values is None:
            continue
        values = {value for each in types for value in of_key(each.requirements, key).values}
        if release.min_values_count_allowed:
            values = set(filter(wanted.has, values))
        if len(values) < wanted.min_values:
            short[key] = len(values)
    return short


def min_values_text(short: dict[str, int]) -> str:
    """Karpenter's words for labels with too few values."""
    return f"minValues requirement is not met for label(s) (label(s)=[{' '.join(sorted(short))}])"

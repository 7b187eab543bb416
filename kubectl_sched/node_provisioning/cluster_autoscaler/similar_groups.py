"""Node groups that cluster-autoscaler balances with each other, and what keeps two of them apart.

Facts of processors/nodegroupset, the same from 1.33 to 1.36: the labels that are left aside on each cloud are in
similar_groups.json; Cluster API leaves aside none of its own. Groups are compared by their templates, with
--balance-similar-node-groups.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from kubectl_sched.api.apimachinery.quantity import ZERO, InvalidQuantity, parse_resource_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.core import Node, ResourceList
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions

_TABLE: Final = Path(__file__).with_name("similar_groups.json")
_TEMPLATE_LABELS: Final = frozenset({"cluster-autoscaler.kubernetes.io/template-node"})
_ALWAYS_FREE: Final = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
_POOLS_OF_AZURE: Final = ("kubernetes.azure.com/agentpool", "agentpool")


class Difference(NamedTuple):
    """One thing that keeps two groups from being balanced; `label` is empty where it is no label."""

    words: str
    label: str = ""


class Template(NamedTuple):
    """A group's template node, and the requests of the pods that a fresh node has."""

    node: Node
    requested: Mapping[str, Quantity]


def differences(one: Template, other: Template, options: AutoscalerOptions, cloud: str) -> Iterator[Difference]:
    """Yield what keeps two groups from being balanced; nothing for similar ones (IsCloudProviderNodeInfoSimilar)."""
    mine, theirs = one.node.metadata.labels, other.node.metadata.labels
    if options.balancing_labels:
        yield from _of_labels(mine, theirs, set(options.balancing_labels), needed=True)
        return
    if cloud == "azure" and any(mine.get(key) and mine.get(key) == theirs.get(key) for key in _POOLS_OF_AZURE):
        return
    try:
        yield from _of_amounts(one, other, options)
    except InvalidQuantity:
        return
    ignored = {*_ignored()[""], *_ignored().get(cloud, ()), *options.balancing_ignored_labels, *_TEMPLATE_LABELS}
    yield from _of_labels(mine, theirs, (mine.keys() | theirs.keys()) - ignored, needed=False)


def _of_labels(
    mine: Mapping[str, str], theirs: Mapping[str, str], keys: set[str], *, needed: bool
) -> Iterator[Difference]:
    for key in sorted(keys):
        values = mine.get(key), theirs.get(key)
        if values[0] != values[1] or (needed and None in values):
            yield Difference(f"label {key} differs ({' and '.join(_shown(each) for each in values)})", key)


def _shown(value: str | None) -> str:
    return "without it" if value is None else value or "empty"


def _of_amounts(one: Template, other: Template, options: AutoscalerOptions) -> Iterator[Difference]:
    for field, ratio in (("capacity", 0.0), ("allocatable", options.allocatable_ratio)):
        mine, theirs = (parse_resource_list(_amounts(each.node, field)) for each in (one, other))
        for name in sorted(mine.keys() | theirs.keys()):
            allowed = options.memory_ratio if (field, name) == ("capacity", "memory") else ratio
            if name not in mine or name not in theirs or not _within(mine[name], theirs[name], allowed):
                yield Difference(f"{field} of {name} differs ({mine.get(name, ZERO)} and {theirs.get(name, ZERO)})")
                return
    free = [_free(each) for each in (one, other)]
    for name in sorted(free[0].keys() | free[1].keys()):
        if name not in free[0] or name not in free[1] or not _within(free[0][name], free[1][name], options.free_ratio):
            yield Difference(f"DaemonSets and static pods leave different amounts of {name} free")
            return


def _amounts(node: Node, field: str) -> ResourceList:
    return node.status.capacity if field == "capacity" else node.status.allocatable


def _free(template: Template) -> dict[str, Quantity]:
    has = parse_resource_list(template.node.status.allocatable)
    names = _ALWAYS_FREE | template.requested.keys()
    requested = {**template.requested, "pods": ZERO}  # of pods only the number that a node takes counts
    return {name: has.get(name, ZERO) - requested.get(name, ZERO) for name in names}


def _within(one: Quantity, other: Quantity, ratio: float) -> bool:
    """Report whether two amounts differ by no more than a share of the larger (resourceListWithinTolerance)."""
    smaller, larger = sorted((one.milli_value(), other.milli_value()))
    return larger - smaller <= larger * ratio


@cache
def _ignored() -> dict[str, tuple[str, ...]]:
    return msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, tuple[str, ...]])

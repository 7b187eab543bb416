"""Instance types out of a file for Karpenter's kwok provider (kwok/cloudprovider/helpers.go)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_sched.api.affinity import NodeSelectorRequirement
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity, parse_resource_list
from kubectl_sched.api.core import ZONE, RawQuantity
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import merged, selector_requirements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

_GROUP: Final = "karpenter.kwok.sh"
_SIZE: Final = f"{_GROUP}/instance-size"
_FAMILY: Final = f"{_GROUP}/instance-family"
_CPU: Final = f"{_GROUP}/instance-cpu"
_MEMORY: Final = f"{_GROUP}/instance-memory"
KWOK_LABELS: Final = frozenset({_SIZE, _FAMILY, _CPU, _MEMORY})
"""The labels that the kwok provider adds to those that are well known."""

_AWS: Final = re.compile(r"\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)", re.ASCII)
_OVERHEAD: Final = {"cpu": parse_quantity("100m"), "memory": parse_quantity("10Mi")}
_PODS: Final = parse_quantity("110")


class _FileOffering(msgspec.Struct, frozen=True):
    requirements: tuple[NodeSelectorRequirement, ...] = msgspec.field(name="Requirements", default=())
    price: float = msgspec.field(name="Price", default=0.0)
    reservation_capacity: int = msgspec.field(name="ReservationCapacity", default=0)


class _FileInstanceType(msgspec.Struct, frozen=True):
    name: str
    architecture: str = ""
    operating_systems: tuple[str, ...] = msgspec.field(name="operatingSystems", default=())
    resources: dict[str, RawQuantity] = {}
    offerings: tuple[_FileOffering, ...] = ()


_LEVELS: Final = (_FileInstanceType, _FileOffering, NodeSelectorRequirement)
"""The structs of a file, each within the one before."""


class UnusableInstanceTypes(SchedError):  # noqa: N818 - read as a sentence: raise UnusableInstanceTypes
    """A file that is not a list of instance types."""


def instance_types_of_file(content: bytes, path: str) -> tuple[InstanceType, ...]:
    """The instance types of a file; raise UnusableInstanceTypes."""
    try:
        found = msgspec.convert(_with_own_keys(msgspec.json.decode(content), _LEVELS), tuple[_FileInstanceType, ...])
        types = tuple(map(_instance_type, found))
    except (*UNDECODABLE, InvalidQuantity) as error:
        message = f"{path} is not a list of instance types as Karpenter's kwok provider reads it: {error}"
        raise UnusableInstanceTypes(message) from error
    if not types:
        raise UnusableInstanceTypes(f"{path} has no instance type")
    return types


def well_known_labels(types: Sequence[InstanceType]) -> frozenset[str]:
    """The labels that become well known through such instance types."""
    offered = {key for each in types for offering in each.offerings for key in offering.requirements}
    return KWOK_LABELS | offered


def _with_own_keys(value: Any, levels: tuple[type[msgspec.Struct], ...]) -> Any:
    """Return the value with keys as the structs write them: Go ignores their case, and leaves fields of null alone."""
    if isinstance(value, list):
        return [_with_own_keys(each, levels) for each in value]
    if not isinstance(value, dict) or not levels:
        return value
    names = {name.casefold(): name for name in levels[0].__struct_encode_fields__}
    inner: dict[str | None, tuple[type[msgspec.Struct], ...]] = {"offerings": levels[1:], "Requirements": levels[1:]}
    own = ((names.get(key.casefold(), key), each) for key, each in value.items() if each is not None)
    return {name: _with_own_keys(each, inner.get(name, ())) for name, each in own}


def _instance_type(stated: _FileInstanceType) -> InstanceType:
    offerings = tuple(
        Offering(selector_requirements(each.requirements), each.price, reservation_capacity=each.reservation_capacity)
        for each in stated.offerings
    )
    capacity = {"pods": _PODS, **parse_resource_list(stated.resources)}
    return InstanceType(stated.name, _requirements(stated), offerings, capacity, dict(_OVERHEAD))


def _requirements(stated: _FileInstanceType) -> Requirements:
    cpu, memory = (
        str(parse_quantity(stated.resources[name])) if name in stated.resources else "" for name in ("cpu", "memory")
    )
    aws = _AWS.fullmatch(stated.name)
    labels = {
        INSTANCE_TYPE: (stated.name,),
        "kubernetes.io/arch": (stated.architecture,),
        "kubernetes.io/os": stated.operating_systems,
        ZONE: _offered(stated, ZONE),
        CAPACITY_TYPE: _offered(stated, CAPACITY_TYPE),
        _SIZE: (aws[1] if aws is not None else cpu,),
        _FAMILY: (_family(stated.name),),
        _CPU: (cpu,),
        _MEMORY: (memory,),
    }
    return merged(requirement(key, IN, values) for key, values in labels.items())


def _offered(stated: _FileInstanceType, key: str) -> tuple[str, ...]:
    """The values of a label over all offerings, of each its first requirement on it."""
    firsts = (next((each for each in of.requirements if each.key == key), None) for of in stated.offerings)
    return tuple(value for each in firsts if each is not None for value in each.values)


def _family(name: str) -> str:
    parts = re.split("[.-]", name, maxsplit=1)
    return parts[0] if len(parts) > 1 else name[:1]

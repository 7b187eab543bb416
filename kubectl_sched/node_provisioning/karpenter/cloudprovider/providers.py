"""The labels that cloud providers add to Karpenter's; the table is providers.json.

Facts of github.com/aws/karpenter-provider-aws (pkg/apis/v1, pkg/operator), github.com/Azure/karpenter-provider-azure
(pkg/apis/v1beta1, pkg/utils/zones), github.com/cloudpilot-ai/karpenter-provider-gcp (pkg/apis/v1alpha1), the kwok
provider, and the documentation of EKS Auto Mode.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import AZURE_DISK_ZONE, AZURE_NO_ZONE, NORMALIZED
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import Offering

_TABLE: Final = Path(__file__).with_name("providers.json")
_EC2_NAME: Final = pattern(r"([a-z]{1,16})(\d{1,2})[a-z0-9-]{0,16}\.([a-z0-9-]{1,16})")
_MEBIBYTE: Final = 2**20


class Provider(msgspec.Struct, frozen=True, rename="camel"):
    """A cloud provider, by the API group of its NodeClasses."""

    group: str
    name: str
    restricted_domain: str
    """The domain whose other labels no pod may name; empty if there is none, or none is documented."""

    reservation_label: str
    """The label of a reservation's ID."""

    type_prefix: str
    type_labels: tuple[str, ...]
    """The labels, after the prefix, of which an instance type has one value or says that it has none."""

    other_labels: tuple[str, ...]
    constant_labels: dict[str, str] = {}
    """The labels that every node has."""

    disk_zone_label: str = ""
    """The label in which the driver of the cloud's disks repeats a node's zone."""

    @property
    def well_known(self) -> frozenset[str]:
        """The labels that pods may ask for though no NodePool names them."""
        of_types = (self.type_prefix + each for each in self.type_labels)
        return frozenset((*of_types, *self.other_labels, *self.constant_labels))

    def names_types_as_ec2(self) -> bool:
        """Report whether labels of a type follow from a name such as `m5.xlarge`."""
        return self.group in {"karpenter.k8s.aws", "eks.amazonaws.com"}


@cache
def providers() -> tuple[Provider, ...]:
    """The providers whose labels are known."""
    return msgspec.json.decode(_TABLE.read_bytes(), type=tuple[Provider, ...])


def providers_of(groups: Iterable[str]) -> tuple[Provider, ...]:
    """The known providers among the API groups of NodeClasses."""
    wanted = frozenset(groups)
    return tuple(each for each in providers() if each.group in wanted)


def labels_by_others(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that the kubelet, the cloud's controller and its disk driver add to a node with such labels."""
    groups = {key.partition("/")[0] for key in labels}
    of_drivers = {each.disk_zone_label for each in providers_of(groups)}
    found = {
        key: labels[stands_for]
        for key, stands_for in NORMALIZED.items()
        if stands_for in labels and (key in of_drivers or "beta." in key)
    }
    if found.get(AZURE_DISK_ZONE) == AZURE_NO_ZONE:
        found[AZURE_DISK_ZONE] = ""
    return found


def reservation_label(found: Sequence[Provider], types: Iterable[InstanceType]) -> str:
    """The label of a reservation's ID: the provider's, else the known one that the offerings have; else empty."""
    known = next((each.reservation_label for each in found if each.reservation_label), "")
    if known:
        return known
    offered = {key for each in types for of in each.offerings if of.is_reserved for key in of.requirements}
    return next((each.reservation_label for each in providers() if each.reservation_label in offered), "")


def with_provider_labels(kind: InstanceType, found: Iterable[Provider]) -> InstanceType:
    """Return an instance type with the provider's labels that follow from its name and its size."""
    stated: dict[str, str] = {}
    for provider in found:
        stated |= provider.constant_labels
        parts = _EC2_NAME.fullmatch(kind.name) if provider.names_types_as_ec2() else None
        if parts is not None:
            own = {
                "category": parts[1],
                "generation": parts[2],
                "family": kind.name.partition(".")[0],
                "size": parts[3],
            }
            own |= _sizes(kind.capacity)
            stated |= {provider.type_prefix + name: value for name, value in own.items()}
    added = [requirement(key, IN, (value,)) for key, value in stated.items() if key not in kind.requirements]
    if not added:
        return kind
    offerings: tuple[Offering, ...] = kind.offerings
    requirements = merged(kind.requirements.values(), added)
    return InstanceType(
        kind.name, requirements, offerings, kind.capacity, kind.overhead, kind.volume_limits, kind.device_slices
    )


def _sizes(capacity: Mapping[str, Quantity]) -> dict[str, str]:
    cpu, memory = capacity.get("cpu", ZERO), capacity.get("memory", ZERO)
    return {"cpu": str(cpu.value()), "memory": str(memory.value() // _MEBIBYTE)}

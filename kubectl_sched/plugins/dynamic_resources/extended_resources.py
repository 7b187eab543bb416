"""Extended resources that devices stand behind (extendeddynamicresources.go, extendedresourcecache)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.component_helpers.resource_names import is_dra_extended_resource_name, is_extended_resource_name
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import ContainerExtendedResourceRequest
from kubectl_sched.api.resource import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from kubectl_sched.dynamic_resource_allocation.extended_resource_class import class_of_resource
from kubectl_sched.framework.status import Status, unresolvable
from kubectl_sched.plugins.dynamic_resources.claims import SPECIAL_NAME
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.snapshot import NodeInfo, Snapshot


class ExtendedResources(Record, frozen=True, kw_only=True):
    """The extended resources of a pod that may come from devices, and the classes behind them."""

    claim: ResourceClaim
    amounts: Mapping[str, int]
    classes: Mapping[str, str]


def extended_resources(pod: Pod, nodes: Snapshot, rules: DeviceRules) -> ExtendedResources | None:
    """None if no class is behind anything that the pod asks for (preFilterExtendedResources)."""
    known = is_dra_extended_resource_name if rules.implicit_class_is_extended else is_extended_resource_name
    amounts = {name: amount.value() for name, amount in pod_requests(pod).items() if known(name) and not amount.is_zero}
    if not amounts:
        return None
    classes = class_of_resource(nodes.objects.all(DeviceClass), rules)
    if not any(name in classes for name in amounts):
        return None
    found = _claim_of_earlier_cycle(pod, nodes)
    fresh = ResourceClaim(metadata=ObjectMeta(name=SPECIAL_NAME, namespace=pod.metadata.namespace, uid=SPECIAL_NAME))
    return ExtendedResources(claim=found or fresh, amounts=amounts, classes=classes)


def _claim_of_earlier_cycle(pod: Pod, nodes: Snapshot) -> ResourceClaim | None:
    return next(
        (
            claim
            for claim in nodes.objects.all(ResourceClaim)
            if claim.metadata.annotations.extended_resource_claim == "true"
            and any(
                owner.controller and owner.name == pod.metadata.name and owner.uid == pod.metadata.uid
                for owner in claim.metadata.owner_references
            )
        ),
        None,
    )


def claim_on_node(
    wanted: ExtendedResources, pod: Pod, node: NodeInfo, rules: DeviceRules, *, other_claims: bool
) -> ResourceClaim | Status | None:
    """The claim for what the node has no device plugin for, None if that is nothing (filterExtendedResources)."""
    if wanted.claim.spec.devices.requests:
        return unresolvable("cannot schedule extended resource claim")
    claimed = claimed_on(wanted, node, rules)
    if isinstance(claimed, Status):
        return claimed
    if (not other_claims and not any(claimed.values())) or wanted.claim.status.allocation is not None:
        return None
    requests = tuple(_requests(pod, claimed, wanted.classes, rules))
    return msgspec.structs.replace(wanted.claim, spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests)))


def claimed_on(wanted: ExtendedResources, node: NodeInfo, rules: DeviceRules) -> dict[str, int] | Status:
    """Return the amounts that have to come from devices on this node, or why they cannot be had at all."""
    claimed: dict[str, int] = {}
    allocatable = node.node.status.allocatable
    for name, amount in wanted.amounts.items():
        plugged = name in allocatable
        if name in wanted.classes and not (
            plugged and (not rules.implicit_class_is_extended or node.allocatable(name))
        ):
            claimed[name] = amount
        elif name in wanted.classes and plugged and rules.plugged_resource_is_claimed_too:
            claimed[name] = 0
        elif not plugged:
            return unresolvable("cannot fit resource")
    return claimed


def request_mappings(
    pod: Pod, claimed: Mapping[str, int], classes: Mapping[str, str], rules: DeviceRules
) -> list[ContainerExtendedResourceRequest]:
    """Map each container's resource to the request behind it, for the pod's status (createRequestsAndMappings)."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    init_count = len(pod.spec.init_containers) if rules.implicit_class_is_extended else 0
    return [
        ContainerExtendedResourceRequest(
            container_name=containers[index].name, resource_name=resource, request_name=request
        )
        for resource in sorted(claimed)
        for index, request in _backing(containers, init_count, resource, classes)
    ]


def _backing(
    containers: Sequence[Container], init_count: int, name: str, classes: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """(container, request): those that last first, then init containers that end, whose own requests are one."""
    ends, lasting = _ending_and_lasting(containers, init_count, name, classes)
    yield from ((index, request.name) for index, request in lasting.items())
    own = {
        index: made
        for index in range(len(containers))
        if ends[index] and (made := _request(containers, index, name, classes, _from(index, lasting))) is not None
    }
    largest = max(own.values(), key=_count, default=None)
    for index in range(len(containers)):
        if ends[index] and (asked := _request(containers, index, name, classes)) is not None:
            missing = _count(asked)
            for request in _from(index, lasting):
                if missing > 0:
                    yield index, request.name
                    missing -= _count(request)
            if missing > 0 and largest is not None:
                yield index, largest.name


def _ending_and_lasting(
    containers: Sequence[Container], init_count: int, name: str, classes: Mapping[str, str]
) -> tuple[list[bool], dict[int, DeviceRequest]]:
    """Say of each container whether it ends before the others start; and the requests of those that do not."""
    ends = [index < init_count and one.restart_policy != "Always" for index, one in enumerate(containers)]
    requests = {index: _request(containers, index, name, classes) for index, end in enumerate(ends) if not end}
    return ends, {index: request for index, request in requests.items() if request is not None}


def _from(index: int, requests: Mapping[int, DeviceRequest]) -> list[DeviceRequest]:
    return [request for other, request in requests.items() if other >= index]


def _requests(
    pod: Pod, claimed: Mapping[str, int], classes: Mapping[str, str], rules: DeviceRules
) -> list[DeviceRequest]:
    """One request for each container and resource; init containers share (createRequestsAndMappings)."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    found: list[DeviceRequest] = []
    for name in sorted(claimed):
        if not rules.implicit_class_is_extended:
            found += (made for index in range(len(containers)) if (made := _request(containers, index, name, classes)))
        else:
            found += _shared_requests(containers, len(pod.spec.init_containers), name, classes)
    return sorted(found, key=lambda request: request.name) if rules.implicit_class_is_extended else found


def _shared_requests(
    containers: Sequence[Container], init_count: int, name: str, classes: Mapping[str, str]
) -> Iterator[DeviceRequest]:
    """Init containers that end use the devices of those that follow, and the largest of their own requests."""
    ends, lasting = _ending_and_lasting(containers, init_count, name, classes)
    own = (_request(containers, index, name, classes, _from(index, lasting)) for index, end in enumerate(ends) if end)
    largest = max((made for made in own if made is not None), key=_count, default=None)
    if largest is not None:
        yield largest
    yield from lasting.values()


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _request(
    containers: Sequence[Container],
    index: int,
    name: str,
    classes: Mapping[str, str],
    reusable: Sequence[DeviceRequest] = (),
) -> DeviceRequest | None:
    asked = containers[index].resources.requests
    if name not in asked or name not in classes:
        return None
    quantity = parse_quantity(asked[name])
    missing = quantity.value() - sum(map(_count, reusable))
    if quantity.is_zero or quantity.value() * 1000 != quantity.milli_value() or missing <= 0:
        return None
    exactly = ExactDeviceRequest(device_class_name=classes[name], allocation_mode="ExactCount", count=missing)
    return DeviceRequest(name=f"container-{index}-request-{sorted(asked).index(name)}", exactly=exactly)

"""Devices that members of a group share in its cycle, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from tests.plugins.clusters import node, pod
from tests.scheduler.test_schedule_one_podgroup import MINORS, SMALL, group, nodes_of, run

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject

SKIPS = "DRAOptionalNodeOperations"
ONE_CPU: dict[str, dict[str, Any]] = {
    "1.36": {"nodeAllocatableResourceMappings": {"cpu": {"allocationMultiplier": "1"}}},
    "1.37": {"nodeAllocatableResources": {"cpu": {"mapping": {"deviceMultiplier": "1"}}}},
}
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}


def sharing(cpu: str, device: dict[str, Any], **spec: Any) -> list[KubernetesObject]:
    """Two members that use one claim, and the only device for it, within the reach of all nodes."""
    published = {"driver": "d.example.com", "pool": POOL, "allNodes": True, "devices": [{"name": "d"} | device], **spec}
    request = {"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}
    named = {"name": "shared", "namespace": "default", "uid": "uid-shared"}
    resources = {"requests": {"cpu": cpu}, "claims": [{"name": "d"}]}
    of_members: dict[str, Any] = {
        "schedulingGroup": {"podGroupName": "train"},
        "containers": [{"name": "main", "resources": resources}],
        "resourceClaims": [{"name": "d", "resourceClaimName": "shared"}],
    }
    return [
        msgspec.convert({"metadata": {"name": "any"}}, DeviceClass),
        msgspec.convert({"metadata": {"name": "s"}, "spec": published}, ResourceSlice),
        msgspec.convert({"metadata": named, "spec": {"devices": {"requests": [request]}}}, ResourceClaim),
        pod("m0", **of_members),
        pod("m1", **of_members),
    ]


def test_the_device_of_a_pending_claim_takes_of_the_node_for_each_member_in_1_36() -> None:
    only = node("a1", allocatable=SMALL)
    gates = {"DRANodeAllocatableResources": True}
    assert nodes_of(run("1.36", group(), only, *sharing("1", ONE_CPU["1.36"]), **gates)) == {"m0": "a1", "m1": "a1"}
    result = run("1.36", group(), only, *sharing("2", ONE_CPU["1.36"]), **gates)
    assert nodes_of(result) == {"m0": "a1", "m1": None}
    assert (result.members[1].message or "").startswith("0/1 nodes are available: 1 Insufficient cpu.")


@pytest.mark.parametrize("groups", [False, True])
def test_the_device_of_a_pending_claim_that_takes_of_the_node_is_not_shared_since_1_37(groups: bool) -> None:
    gates = {"DRANodeAllocatableResources": True, "DRAWorkloadResourceClaims": groups}
    claims: Any = {"resourceClaims": [{"name": "d", "resourceClaimName": "shared"}]}
    result = run("1.37", group(**claims), node("a1", allocatable=SMALL), *sharing("1", ONE_CPU["1.37"]), **gates)
    assert nodes_of(result) == {"m0": "a1", "m1": None}
    assert (result.members[1].message or "").startswith(
        "0/1 nodes are available: 1 node allocatable resource claim shared has a mapped device and cannot be shared"
    )


@pytest.mark.parametrize("minor", MINORS)
def test_operations_are_skipped_only_where_the_allocator_knows_of_it(minor: str) -> None:
    objects = [node("a1", allocatable=SMALL), *sharing("1", {}, skipNodeOperations=["*"])]
    assert nodes_of(run(minor, group(), *objects)) == {"m0": "a1", "m1": "a1"}


def test_a_node_that_cannot_skip_operations_is_named_with_the_pending_claim() -> None:
    nodes = [node("a1", allocatable=SMALL, declaredFeatures=[SKIPS]), node("a2", allocatable=SMALL)]
    objects = [*nodes, *sharing("3", {}, skipNodeOperations=["*"])]
    result = run("1.37", group(), *objects, **{SKIPS: True})
    assert nodes_of(result) == {"m0": "a1", "m1": None}
    assert (result.members[1].message or "").startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 resource claim default/shared allocation requires "
        "DRAOptionalNodeOperations feature on the node."
    )

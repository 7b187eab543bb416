"""Everything that cannot be replayed is named."""

from __future__ import annotations

from typing import Any

import msgspec

from kubectl_sched.api.resource import DeviceClass, ResourceClaim
from kubectl_sched.api.scheduling import PodGroup
from tests.plugins.clusters import node, pod
from tests.scheduler.cycles import explained


def test_a_group_is_named_with_what_it_needs_and_who_is_in_it() -> None:
    group = msgspec.convert(
        {
            "metadata": {"name": "ring", "namespace": "default"},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
        },
        PodGroup,
    )
    member: dict[str, Any] = {"schedulingGroup": {"podGroupName": "ring"}}
    result = explained(pod("a", **member), node(), pod("b", on="w1", **member), pod("c"), group, GenericWorkload=True)
    assert any(
        warning.startswith("the pod is one of group ring (minCount 3; members seen: 2, a, b)")
        for warning in result.warnings
    )


def test_a_pod_without_group_and_claims_hears_nothing_of_it() -> None:
    assert not any("not replayed" in warning for warning in explained(pod(), node()).warnings)


def test_the_filter_timeout_of_devices_is_named() -> None:
    device_class = msgspec.convert({"metadata": {"name": "gpu"}}, DeviceClass)
    requests = [{"name": "one", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]
    claim = msgspec.convert(
        {
            "apiVersion": "resource.k8s.io/v1",
            "metadata": {"name": "mine", "namespace": "default"},
            "spec": {"devices": {"requests": requests}},
        },
        ResourceClaim,
    )
    result = explained(pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}]), node(), claim, device_class)
    assert any("takes over 10 s; that timeout is not replayed" in warning for warning in result.warnings)

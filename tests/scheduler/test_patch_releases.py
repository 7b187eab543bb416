"""What patch releases changed, on both sides of each change, as upstream's sources and changelogs have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from kubectl_sched.api.core import Namespace
from kubectl_sched.api.resource import Counter, CounterSet
from kubectl_sched.config import FeatureGateError, KubeVersion, load_configuration
from kubectl_sched.config.features import known_gate
from kubectl_sched.scheduler.result import Outcome
from tests.plugins.clusters import node, pod
from tests.plugins.devices.test_dynamic_resources import allocated, claim, claimer, device, device_class, published
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.scheduler.result import ScheduleResult

HOSTNAME = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("patch", "fits"),
    [
        ("1.33.13", True),
        ("1.34.12", False),
        ("1.34.13", True),
        ("1.35.9", False),
        ("1.35.10", True),
        ("1.36.5", False),
        ("1.36.6", True),
        ("1.36", True),
        ("1.37.1", True),
    ],
)
@pytest.mark.parametrize("operator", ["DoesNotExist", "NotIn"])
def test_negative_namespace_selectors(operator: str, patch: str, fits: bool) -> None:
    selector = {"key": "team", "operator": operator, "values": ["x"] if operator == "NotIn" else []}
    term = {
        "topologyKey": HOSTNAME,
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaceSelector": {"matchExpressions": [selector]},
    }
    away: dict[str, Any] = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    there = pod("db-0", on="w1", metadata={"namespace": "theirs", "labels": {"app": "db"}})
    namespaces = [_namespace("default"), _namespace("theirs", team="x")]
    assert explain(pod(**away), node(labels={HOSTNAME: "w1"}), there, *namespaces, version=patch).fits is fits


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("1.33.13", "node(s) had untolerated taint {team: x}"),
        ("1.34.1", "node(s) had untolerated taint {team: x}"),
        ("1.34.2", "node(s) had untolerated taint(s)"),
        ("1.35.0", "node(s) had untolerated taint(s)"),
    ],
)
def test_taints_are_no_longer_named(patch: str, reason: str) -> None:
    tainted = node(taints=[{"key": "team", "value": "x", "effect": "NoSchedule"}])
    assert reason in (explain(pod(), tainted, version=patch).message or "")


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ("1.34.11", "claim default/gpus: number of requested devices 33 exceeds the claim limit of 32"),
        ("1.34.12", "request r: adding 33 devices exceeds the claim limit of 32, with 0 already accounted for"),
        ("1.35.8", "claim default/gpus: number of requested devices 33 exceeds the claim limit of 32"),
        ("1.35.9", "request r: adding 33 devices exceeds the claim limit of 32, with 0 already accounted for"),
        ("1.36.4", "claim default/gpus: number of requested devices 33 exceeds the claim limit of 32"),
        ("1.36.5", "request r: adding 33 devices exceeds the claim limit of 32, with 0 already accounted for"),
        ("1.37.0", "claim default/gpus: number of requested devices 33 exceeds the claim limit of 32"),
        ("1.37.1", "request r: adding 33 devices exceeds the claim limit of 32, with 0 already accounted for"),
    ],
)
def test_the_limit_of_devices(patch: str, text: str) -> None:
    assert text in str(_of_claims(patch, claim(count=33)).error)


@pytest.mark.parametrize("patch", ["1.35.5", "1.36.1"])
def test_a_claim_allocated_before_fails_the_score(patch: str) -> None:
    result = _of_claims(patch, claim("old", status=allocated("g0")), claim("new"))
    assert result.outcome is Outcome.ERROR
    assert str(result.error).endswith("number of allocations 1 is smaller than number of claims")


@pytest.mark.parametrize("patch", ["1.35.6", "1.36.2", "1.37.1"])
def test_a_claim_allocated_before_is_scored(patch: str) -> None:
    assert _of_claims(patch, claim("old", status=allocated("g0")), claim("new")).fits


@pytest.mark.parametrize("patch", ["1.35.5", "1.36.1"])
def test_all_devices_with_counters_end_the_scheduler(patch: str) -> None:
    result = _of_claims(patch, claim(allocationMode="All", count=0))
    assert "crashes here" in str(result.error)


@pytest.mark.parametrize("patch", ["1.35.6", "1.36.2", "1.37.1"])
def test_all_devices_with_counters_are_taken(patch: str) -> None:
    assert _of_claims(patch, claim(allocationMode="All", count=0)).fits


@pytest.mark.parametrize(
    ("patch", "count", "fits"),
    [("1.33.0", 16, True), ("1.33.0", 17, False), ("1.33.1", 17, True), ("1.33.1", 32, True), ("1.33.1", 33, False)],
)
def test_devices_of_a_request_count_twice_against_the_limit(patch: str, count: int, fits: bool) -> None:
    devices = published(*(device(f"g{number:02}") for number in range(40)), on="w1")
    objects = (node("w1"), device_class(), devices, claim(count=count))
    result = explain(claimer("gpus"), *objects, version=patch, DynamicResourceAllocation=True)
    assert result.fits is fits
    if count > 32:
        assert "number of requested devices 33 exceeds the claim limit of 32" in str(result.error)
    else:
        assert [each.reasons for each in result.rejections(0)] == ([] if fits else [("cannot allocate all claims",)])


PORT_80 = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]
SIDECAR_80 = [{**PORT_80[0], "restartPolicy": "Always"}]


@pytest.mark.parametrize(
    ("patch", "fits"), [("1.32", True), ("1.33.5", True), ("1.33.6", False), ("1.34.0", False), ("1.37", False)]
)
@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        ({"containers": PORT_80}, {"initContainers": SIDECAR_80}),
        ({"initContainers": SIDECAR_80}, {"containers": PORT_80}),
        ({"initContainers": SIDECAR_80}, {"initContainers": SIDECAR_80}),
    ],
)
def test_host_ports_of_sidecars(wanted: dict[str, Any], used: dict[str, Any], patch: str, fits: bool) -> None:
    there = pod("there", on="w1", **used)
    assert explain(pod("new", **wanted), node("w1"), there, version=patch).fits is fits


def test_a_victim_frees_the_ports_that_it_counts_with() -> None:
    there = pod("there", on="w1", priority=0, containers=PORT_80, initContainers=SIDECAR_80)
    urgent = pod("new", priority=5, containers=PORT_80, initContainers=SIDECAR_80)
    for patch in ("1.33.5", "1.33.6"):
        found = explain(urgent, node("w1"), there, version=patch).post_filter
        assert found is not None
        assert found.nominated_node == "w1"


RESIZED: dict[str, Any] = {"name": "main", "resources": {"requests": {"cpu": "1"}}}


@pytest.mark.parametrize(
    ("patch", "crashes"), [("1.33.0", True), ("1.33.3", True), ("1.33.4", False), ("1.34.0", False), ("1.32", False)]
)
@pytest.mark.parametrize(
    ("requests", "condition", "status"),
    [
        ({}, [], RESIZED),
        ({}, [], {"name": "main", "resources": {}, "allocatedResources": {"cpu": "1"}}),
        (
            {"cpu": "1"},
            [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
            {"name": "main", "resources": {}, "allocatedResources": {"cpu": "1"}},
        ),
    ],
)
def test_requests_that_only_the_status_has(
    requests: dict[str, str], condition: list[Any], status: dict[str, Any], patch: str, crashes: bool
) -> None:
    of_spec = [{"name": "main", "resources": {"requests": requests}}]
    there = pod("there", on="w1", containers=of_spec, status={"conditions": condition, "containerStatuses": [status]})
    result = explain(pod("new"), node("w1"), there, version=patch)
    assert result.fits is not crashes
    error = "pod default/there has a container without requests whose status has some: assignment to entry in nil map"
    assert str(result.error).endswith(error) is crashes


@pytest.mark.parametrize(
    ("gates", "spec", "status"),
    [
        ({"InPlacePodVerticalScaling": False}, {}, RESIZED),
        ({}, {"requests": {"cpu": "1"}}, {"name": "main", "resources": {}, "allocatedResources": {"cpu": "1"}}),
        ({}, {}, {"name": "main", "allocatedResources": {"cpu": "1"}}),
        ({}, {}, {"name": "another", "resources": {"requests": {"cpu": "1"}}}),
    ],
)
def test_requests_that_can_be_counted(gates: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> None:
    containers = [{"name": "main", "resources": spec}]
    there = pod("there", on="w1", containers=containers, status={"containerStatuses": [status]})
    assert explain(pod("new"), node("w1"), there, version="1.33.0", **gates).fits


@pytest.mark.parametrize(
    ("patch", "is_on"),
    [("1.34.0", True), ("1.34.1", True), ("1.34.2", False), ("1.34", False), ("1.35.0", True), ("1.35.1", False)],
)
def test_the_default_of_a_gate(patch: str, is_on: bool) -> None:
    version = KubeVersion.parse(patch)
    assert load_configuration(None, version).features.enabled("SchedulerAsyncAPICalls") is is_on
    gate = known_gate("SchedulerAsyncAPICalls", version)
    assert gate is not None
    assert gate.default is is_on


def test_a_gate_of_a_later_patch_is_refused() -> None:
    name = "StatefulSetSemanticRevisionComparison"
    with pytest.raises(FeatureGateError, match=r"Kubernetes has it from 1\.34\.2, this is 1\.34\.1"):
        load_configuration(None, KubeVersion.parse("1.34.1"), {name: False})
    assert not load_configuration(None, KubeVersion.parse("1.34.2"), {name: False}).features.enabled(name)


def _of_claims(patch: str, *claims: ResourceClaim) -> ScheduleResult:
    """The cycle of a pod that uses the claims, where two nodes reach two devices that consume counters."""
    consumed = [{"counterSet": "s", "counters": {"u": {"value": "1"}}}]
    devices = published(
        *(device(name, consumesCounters=consumed) for name in ("g0", "g1")), on="", resourceSliceCount=2
    )
    counters = CounterSet(name="s", counters={"u": Counter(value="2")})
    sets = replace(published(on="", name="sets"), spec=replace(devices.spec, devices=(), shared_counters=(counters,)))
    names = [each.metadata.name for each in claims]
    objects = (node(), node("w2"), device_class(), devices, sets, *claims)
    return explain(claimer(*names), *objects, version=patch, DRAPartitionableDevices=True)


def _namespace(name: str, **labels: str) -> Namespace:
    return convert({"metadata": {"name": name, "labels": labels}}, Namespace)

"""What patch releases changed, on both sides of each change, as upstream's sources and changelogs have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from kubectl_sched.api.core import Namespace
from kubectl_sched.api.resource import Counter, CounterSet
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

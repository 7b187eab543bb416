"""Behaviour that Kubernetes 1.38 changed, on both sides of the change, as of v1.38.0-beta.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.api.storage import CSIDriver, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from kubectl_sched.scheduler.result import Outcome
from tests.plugins.clusters import node, pod, requests
from tests.plugins.devices.test_dynamic_resources import (
    allocated,
    claim,
    claimer,
    device,
    device_class,
    published,
)
from tests.plugins.random_devices import DRIVER
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult

ZONE = "topology.kubernetes.io/zone"
FOUR_CPUS = {"cpu": "4", "memory": "16Gi", "pods": "110"}
BOTH = pytest.mark.parametrize(("version", "is_new"), [("1.37", False), ("1.38", True)])


@BOTH
def test_an_empty_spread_selector_counts_every_pod(version: str, is_new: bool) -> None:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    zones = [node(name, labels={ZONE: name}) for name in ("a", "b")]
    there = [pod(f"db-{number}", on="a") for number in range(2)]
    result = explain(pod(topologySpreadConstraints=[constraint]), *zones, *there, version=version)
    assert [result.nodes.names[row] for row in result.feasible] == (["b"] if is_new else ["a", "b"])


@BOTH
def test_fit_scores_the_requests_of_the_pod_as_a_whole(version: str, is_new: bool) -> None:
    whole = pod(containers=[{"name": "main"}], resources={"requests": {"cpu": "4", "memory": "8Gi"}})
    result = explain(whole, node("w1"), node("w2"), version=version)
    (points,) = [each.raw[0] for each in result.scores if each.plugin == "NodeResourcesFit"]
    assert points == (50 if is_new else 98)


@BOTH
@pytest.mark.parametrize("labels", [{}, {"app": "db"}])
def test_a_budget_with_an_empty_selector_protects_every_pod(labels: dict[str, str], version: str, is_new: bool) -> None:
    budget = msgspec.convert(
        {
            "metadata": {"name": "all", "namespace": "default"},
            "spec": {"selector": {}},
            "status": {"disruptionsAllowed": 0},
        },
        PodDisruptionBudget,
    )
    there = pod("db-0", on="w1", metadata={"labels": labels}, **requests(cpu="4"))
    result = explain(pod(priority=9, **requests(cpu="4")), node(allocatable=FOUR_CPUS), there, budget, version=version)
    assert result.post_filter is not None
    assert result.post_filter.candidates[0].pdb_violations == is_new


@pytest.mark.parametrize(("version", "victim"), [("1.37", "first"), ("1.38", "last")])
def test_the_smaller_uid_is_spared(version: str, victim: str) -> None:
    there = [
        pod(name, on="w1", metadata={"uid": uid}, **requests(cpu="2"))
        for name, uid in (("last", "uid-b"), ("first", "uid-a"))
    ]
    result = explain(pod(priority=9, **requests(cpu="2")), node(allocatable=FOUR_CPUS), *there, version=version)
    assert result.post_filter is not None
    assert [each.name for each in result.post_filter.victims] == [victim]


@BOTH
def test_a_fraction_of_a_byte_of_storage_counts(version: str, is_new: bool) -> None:
    claimed = _storage(PersistentVolumeClaim, "data", {"resources": {"requests": {"storage": "1000500m"}}})
    capacity = _storage(CSIStorageCapacity, "left", capacity="1000400m", storageClassName="fast", nodeTopology={})
    driver = _storage(CSIDriver, "disks.x.io", {"storageCapacity": True})
    fast = _storage(StorageClass, "fast", provisioner="disks.x.io", volumeBindingMode="WaitForFirstConsumer")
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    result = explain(pod(volumes=volumes), node(), claimed, capacity, driver, fast, version=version)
    assert result.fits is not is_new


@BOTH
def test_all_devices_of_an_incomplete_pool_fail_the_node_alone(version: str, is_new: bool) -> None:
    broken = published(device("g0"), resourceSliceCount=2)
    result = _of_claim(claim(allocationMode="All", count=0), broken, version=version)
    assert (result.outcome is Outcome.ERROR) is not is_new
    told = str(result.error) if not is_new else ", ".join(result.verdicts["DynamicResources"][0].reasons)
    assert told.endswith(f"asks for all devices, but resource pool {DRIVER}/p is currently being updated")


@BOTH
def test_a_capacity_may_be_asked_for_by_its_full_name(version: str, is_new: bool) -> None:
    shared = device("g0", allowMultipleAllocations=True, capacity={"memory": {"value": "4Gi"}})
    asked = claim(capacity={"requests": {f"{DRIVER}/memory": "2Gi"}})
    assert _of_claim(asked, published(shared), version=version).fits is is_new


@BOTH
def test_a_negative_capacity_is_an_error(version: str, is_new: bool) -> None:
    policy = {"default": "1", "validRange": {"min": "1", "step": "1"}}
    shared = device("g0", allowMultipleAllocations=True, capacity={"m": {"value": "4", "requestPolicy": policy}})
    result = _of_claim(claim(capacity={"requests": {"m": "-1"}}), published(shared), version=version)
    assert (result.outcome is Outcome.ERROR) is is_new
    if is_new:
        assert str(result.error).endswith(f'capacity "{DRIVER}/m": capacity value is negative: request -1')


@BOTH
def test_a_device_that_was_shared_is_not_given_away_as_a_whole(version: str, is_new: bool) -> None:
    status = allocated("g0")
    status["allocation"]["devices"]["results"][0]["shareID"] = "11111111-1111-1111-1111-111111111111"
    result = _of_claim(claim("new"), published(device("g0")), claim("old", status=status), version=version)
    assert result.fits is not is_new


@BOTH
def test_an_attribute_that_cannot_be_compared_is_an_error(version: str, is_new: bool) -> None:
    strange = {"name": "g0", "attributes": {"model": {"version": "99999999999999999999.0.0"}}}
    asked = claim(constraints=[{"matchAttribute": f"{DRIVER}/model"}])
    result = _of_claim(asked, published(strange), version=version)
    assert (result.outcome is Outcome.ERROR) is is_new
    if is_new:
        said = f"device {DRIVER}/p/g0: unsupported attribute value for {DRIVER}/model"
        assert str(result.error).endswith(f"claim default/gpus, request r: {said}")


def _of_claim(asked: Any, *objects: Any, version: str) -> ScheduleResult:
    """The cycle of a pod with the claim over two nodes."""
    return explain(claimer(asked.name), node(), node("w2"), device_class(), asked, *objects, version=version)


def _storage(kind: Any, name: str, spec: dict[str, Any] | None = None, **fields: Any) -> Any:
    metadata = {"name": name, "namespace": "" if kind in {CSIDriver, StorageClass} else "default"}
    if kind is PersistentVolumeClaim:
        spec = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], **(spec or {})}
    return msgspec.convert({"metadata": metadata, **({"spec": spec} if spec else {}), **fields}, kind)

"""Warnings about a dump as a whole: only what matters for the pods that were explained."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.storage import PersistentVolumeClaim, StorageClass
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.sources.dump.dump import Dump
from tests.plugins.clusters import node, pod, requests
from tests.plugins.storage_objects import claim, volume
from tests.render.worlds import explained

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject

NOW = datetime(2026, 6, 1, 5, 0, tzinfo=UTC)
BOTH = frozenset({"Node", "Pod"})
READY = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-06-01T03:00:00Z"}]
SYSTEM = pod("dns", on="w1", metadata={"namespace": "kube-system"})
TWO_NODES = [node("w1", conditions=READY), node("w2", conditions=READY), SYSTEM]


def lines(*objects: KubernetesObject, present: frozenset[str] = BOTH, name: str = "web-0") -> list[str]:
    """Return the sentences that change the answer, and one that has all premises and the age of the dump."""
    found = completeness(Dump(objects=objects, present=present), [explained(objects, name).result], NOW)
    assert found.notes == (*found.changing, *found.premises)
    return [*found.changing, " ".join(found.premises)]


def owned(kind: str, **labels: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}
    return {"metadata": {"labels": labels, "ownerReferences": [owner]}}


def test_how_old_it_is() -> None:
    assert lines(*TWO_NODES, pod("web-0")) == ["about the dump: taken no earlier than 2026-06-01 03:00 (2 h ago)"]


@pytest.mark.parametrize(
    ("spec", "kinds"),
    [
        ({}, []),
        ({"metadata": {"labels": {"app": "web"}}}, ["Service"]),
        (owned("ReplicaSet"), ["ReplicaSet"]),
        (owned("StatefulSet", app="web"), ["Service", "StatefulSet"]),
        (owned("Job"), []),
        (
            {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]},
            ["PersistentVolume", "PersistentVolumeClaim"],
        ),
    ],
)
def test_kinds_that_the_pod_needs_are_missed(spec: dict[str, Any], kinds: list[str]) -> None:
    told = " ".join(lines(*TWO_NODES, pod("web-0", **spec))).replace("Without", "without")
    assert (f"without {', '.join(kinds)}," in told) if kinds else ("without" not in told)


def test_limits_on_volumes_are_missed_where_claims_are_there() -> None:
    claiming = pod("web-0", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}])
    volumes = {"PersistentVolume", "PersistentVolumeClaim", "StorageClass"}
    named = {"metadata": {"name": "d", "namespace": "default"}, "spec": {"storageClassName": "late"}}
    late = {"metadata": {"name": "late"}, "provisioner": "a.example", "volumeBindingMode": "WaitForFirstConsumer"}
    there = (msgspec.convert(named, PersistentVolumeClaim), msgspec.convert(late, StorageClass))
    line, _ = lines(*TWO_NODES, claiming, *there, present=BOTH | volumes)
    assert line.startswith("Without CSINode, limits on volumes are not counted, so nodes may have less room for")
    blind, _ = lines(*TWO_NODES, claiming)
    assert "CSINode" not in blind


def test_nothing_is_missed_that_is_there_without_objects() -> None:
    (line,) = lines(*TWO_NODES, pod("web-0", **owned("ReplicaSet")), present=BOTH | {"ReplicaSet"})
    assert "without" not in line


def test_spreading_does_not_matter_where_there_is_no_choice() -> None:
    (line,) = lines(node("w1", conditions=READY), SYSTEM, pod("web-0", **owned("ReplicaSet")))
    assert "without" not in line


def test_budgets_matter_only_to_a_pod_that_preempts() -> None:
    base = [node("w1", conditions=READY), SYSTEM, pod("low", on="w1", **requests(cpu="8"))]
    two = [*base, node("w2", conditions=READY), pod("low-too", on="w2", **requests(cpu="8"))]
    preempting, _ = lines(*two, pod("web-0", priority=5, **requests(cpu="1")))
    (without_choice,) = lines(*base, pod("web-0", priority=5, **requests(cpu="1")))
    (helpless,) = lines(*two, pod("web-0", **requests(cpu="1")))
    assert preempting == "Without PodDisruptionBudget, preemption may choose another node"
    assert "PodDisruptionBudget" not in without_choice + helpless


def test_pods_of_few_namespaces_are_not_all_pods() -> None:
    (line,) = lines(node("w1", conditions=READY), pod("web-0"))
    assert "it has pods of default only, so nodes may be fuller than they seem" in line


def test_an_old_dump_is_said_to_be_old_first() -> None:
    old = [{**READY[0], "lastHeartbeatTime": "2026-05-20T03:00:00Z"}]
    told = lines(node("w1", conditions=old), SYSTEM, pod("web-0"))
    assert told == ["the dump is 12 days old (taken no earlier than 2026-05-20 03:00)", ""]


def test_a_kind_that_the_answer_names_besides_is_not_named_twice() -> None:
    claiming = pod("web-0", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    objects = (*TWO_NODES, claiming)
    dump, results = Dump(objects=objects, present=BOTH), [explained(objects, "web-0").result]
    assert completeness(dump, results, NOW).changing
    assert not completeness(dump, results, NOW, told=["PersistentVolume"]).changing


def test_without_a_node_list_nothing_is_feasible() -> None:
    assert lines(pod("web-0"), present=frozenset({"Pod"}))[0].startswith("the dump has no node list")


@pytest.mark.parametrize(
    ("claimed", "lacks"),
    [
        ({"storageClassName": "fast"}, True),
        ({"storageClassName": "fast", "volumeName": "pv"}, False),
        ({"volumeName": "pv"}, False),
        ({"storageClassName": ""}, False),
    ],
)
def test_classes_are_missed_only_by_a_claim_that_is_served_by_one(claimed: dict[str, Any], lacks: bool) -> None:
    claiming = pod("web-0", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    present = BOTH | {"PersistentVolumeClaim", "PersistentVolume", "CSINode"}
    told = lines(*TWO_NODES, claim("data", **claimed), claiming, present=present)
    missed = "Without StorageClass, not all is known of the pod's claims, so the volume plugins may reject too much"
    assert told[0].startswith(missed) is lacks


def test_limits_are_not_missed_by_volumes_that_are_not_attached() -> None:
    claiming = pod("web-0", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}])
    local = volume("pv", local={"path": "/mnt"})
    volumes = {"PersistentVolume", "PersistentVolumeClaim", "StorageClass"}
    bound = claim("d", volumeName="pv")
    assert len(lines(*TWO_NODES, bound, local, claiming, present=BOTH | volumes)) == 1

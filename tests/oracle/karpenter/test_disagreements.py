"""The disagreements that docs/new-nodes.md names: Karpenter makes a node for a pod, and kube-scheduler refuses it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.discovery.replay_setup import Replay
from tests.node_provisioning.test_new_nodes import ONLY_GENERATION_2, TYPES, answered, node, pod, pool
from tests.oracle.karpenter.generate import HOSTNAME, WELL_KNOWN, claim, condition, selector, term
from tests.oracle.karpenter.oracle import KarpenterOracle, instance_types

if TYPE_CHECKING:
    from tests.oracle.build import Oracle

Json = dict[str, Any]

pytestmark = pytest.mark.oracle

DOCS = Path(__file__).parents[3] / "docs" / "new-nodes.md"


def own_pool() -> Json:
    """A NodePool of the provider that the program has."""
    reference = {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}
    conditions = [condition(kind, "True") for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]
    return pool("general", nodeClassRef=reference) | {"status": {"conditions": conditions}}


def storage_class() -> Json:
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disks"},
            "provisioner": "example.com/disks", "volumeBindingMode": "WaitForFirstConsumer"}  # fmt: skip


def volume(**source: Any) -> Json:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce", "ReadWriteOncePod"],
            "storageClassName": "disks",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": "data",
                         "uid": "data"}, **source}  # fmt: skip
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": spec,
            "status": {"phase": "Bound"}}  # fmt: skip


def bound(mode: str) -> Json:
    stated = claim("data", "disks", "disk")
    annotations = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    return {**stated, "metadata": {**stated["metadata"], "uid": "data", "annotations": annotations},
            "spec": {**stated["spec"], "accessModes": [mode]}, "status": {"phase": "Bound"}}  # fmt: skip


def with_disk(**more: Any) -> Json:
    return pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}], **more)


def renamed(stated: Json, name: str) -> Json:
    return {**stated, "metadata": {**stated["metadata"], "name": name, "uid": name}, "status": {"phase": "Running"}}


ON_GONE_NODE = {"local": {"path": "/disk"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term(selector(HOSTNAME, "gone"))]}}}  # fmt: skip
CSI = {"csi": {"driver": "example.com/disks", "volumeHandle": "disk"}}
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
DISAGREEMENTS = [
    pytest.param(
        [storage_class(), volume(**ON_GONE_NODE), bound("ReadWriteOnce"), with_disk()],
        "",
        "node(s) didn't match PersistentVolume's node affinity",
        id="a local volume",
    ),
    pytest.param(
        [storage_class(), volume(**CSI), bound("ReadWriteOncePod"), with_disk(), node("n1"),
         renamed(with_disk(nodeName="n1"), "other")],
        "",
        IN_USE,
        id="a volume for one pod",
    ),
    pytest.param(
        [pod()], ONLY_GENERATION_2, "node(s) didn't match scheduler-enforced node affinity", id="added affinity"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("objects", "config", "reason"), DISAGREEMENTS)
def test_both_programs_disagree_as_the_answer_and_the_docs_say(
    oracle: Oracle, tmp_path: Path, objects: list[Json], config: str, reason: str
) -> None:
    everything = [own_pool(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}, *objects]
    (tmp_path / "types.json").write_bytes(TYPES)
    types = instance_types("kwok", str(tmp_path / "types.json"))
    with KarpenterOracle() as karpenter:
        (made,) = claims(karpenter, everything, types)
    assert "default/web" in made["pods"]

    cheapest = next(each for each in types if each["name"] == made["instanceTypes"][0])
    request = {
        "id": "new",
        "objects": [*everything, node_of(made, cheapest)],
        "config": config,
        "pods": ["default/web"],
    }
    (said,) = oracle.ask(request)
    assert not said.get("error")
    reasons = said["nodes"]["new"]["filter"]["reasons"]
    assert reason in reasons or oracle.minor < "1.36"  # the docs have the words of today

    (tmp_path / "scheduler.yaml").write_text(config)
    replay = Replay(config=str(tmp_path / "scheduler.yaml") if config else None, kube_version=oracle.patch)
    ours = answered(tmp_path, *everything, replay=replay)["karpenter"]
    assert (ours["verdict"], ours["thenScheduler"]["outcome"]) == ("Created", "Unschedulable")
    assert ours["thenScheduler"]["reasons"] == reasons
    assert f"`{reason}`" in re.sub(r"\s+", " ", DOCS.read_text())


def claims(karpenter: KarpenterOracle, objects: list[Json], types: list[Json]) -> list[Json]:
    """The NodeClaims that Karpenter makes."""
    unschedulable = {
        "phase": "Pending",
        "conditions": [condition("PodScheduled", "False") | {"reason": "Unschedulable"}],
    }
    stated = [each | {"status": unschedulable} if each["metadata"].get("uid") == "web" else each for each in objects]
    request = {"id": "new", "objects": stated, "instanceTypes": {"": {"types": types}}, "wellKnownLabels": WELL_KNOWN}
    (result,) = karpenter.ask(request)["results"]
    found: list[Json] = result["claims"]
    return found


def node_of(made: Json, of_type: Json) -> Json:
    """The node that the instance type becomes."""
    known = [*of_type["requirements"], *of_type["offerings"][0]["requirements"]]
    labels = {each["key"]: each["values"][0] for each in known if each["operator"] == "In"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "new", "labels": {**made["nodeClaim"]["labels"], **labels, HOSTNAME: "new"}},
            "status": {"capacity": of_type["capacity"], "allocatable": of_type["capacity"],
                       "conditions": [condition("Ready", "True")]}}  # fmt: skip

"""`explain --new-nodes`, from a dump to the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import Question, explain
from kubectl_sched.render.data.explanation_data import explanation_data
from kubectl_sched.sources import read
from kubectl_sched.sources.pod_selection import Selection

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def instance_type(name: str, cpu: str, price: float) -> Json:
    requirements = [{"key": key, "operator": "In", "values": [value]}
                    for key, value in ((ZONE, "a"), (CAPACITY_TYPE, "spot"))]  # fmt: skip
    return {"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
            "resources": {"cpu": cpu, "memory": "8Gi"},
            "offerings": [{"Price": price, "Requirements": requirements}]}  # fmt: skip


TYPES = json.dumps([instance_type("m5.xlarge", "4", 0.2), instance_type("m5.large", "2", 0.1)]).encode()


def pool(name: str, **spec: Any) -> Json:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    conditions = [{"type": kind, "status": "True"} for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]
    template = {"spec": {"nodeClassRef": reference, "requirements": [], **spec}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"template": template}, "status": {"conditions": conditions}}  # fmt: skip


def pod(cpu: str = "1500m", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "web"},
            "spec": {"containers": [container], **spec}, "status": {"phase": "Pending"}}  # fmt: skip


def answered(folder: Path, *objects: Json, types: bytes | None = TYPES) -> Json:
    """The `newNodes` of the pod `web`, its `assumed` beside `karpenter`."""
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    selection = Selection(targets=("pod", "web"))
    stated = (types, "types.json") if types is not None else None
    question = Question(selection=selection, new_nodes=True, instance_types=stated)
    answer, _ = explain(question, read([str(path)]))
    found: Json = explanation_data(answer.explanations[0], "")["newNodes"]
    return found


def node(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": f"x://{name}"},
            "status": {"capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"},
                       "allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}}}  # fmt: skip


def test_a_node_is_made_of_the_cheapest_types_that_fit(tmp_path: Path) -> None:
    found = answered(tmp_path, pool("general"), pod())["karpenter"]
    assert found["verdict"] == "Created"
    assert found["nodePool"] == "general"
    assert found["instanceTypes"] == ["m5.large", "m5.xlarge"]
    assert found["thenScheduler"] == {"outcome": "Schedulable", "plugin": "", "reasons": []}


def test_the_nodepool_that_refuses_is_quoted_in_karpenters_words(tmp_path: Path) -> None:
    tainted = pool("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    found = answered(tmp_path, tainted, pod())["karpenter"]
    assert (found["verdict"], found["error"]) == ("Impossible", "did not tolerate taint (taint=gpu:NoSchedule)")
    assert found["nodePools"] == [{"name": "gpu", "verdict": "Impossible", "reason": found["error"]}]


def test_a_pod_that_is_too_large_for_the_types_seen_is_unknown_and_not_impossible(tmp_path: Path) -> None:
    seen = node("n1", **{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large",
                         ZONE: "a", CAPACITY_TYPE: "spot", "karpenter.sh/initialized": "true"})  # fmt: skip
    found = answered(tmp_path, pool("general"), seen, pod("16"), types=None)["karpenter"]
    assert found["verdict"] == "Unknown"
    assert found["error"].startswith("no instance type has enough resources")
    assert answered(tmp_path, pool("general"), seen, pod("16"))["karpenter"]["verdict"] == "Impossible"


def test_a_pod_that_names_a_restricted_label_is_ignored_in_karpenters_words(tmp_path: Path) -> None:
    gone = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["karpenter-new-node"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [gone]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    found = answered(tmp_path, pool("general"), pod(affinity=affinity))["karpenter"]
    assert found["verdict"] == "Impossible"
    assert "using label kubernetes.io/hostname is not allowed" in found["error"]


def test_without_a_nodepool_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(SchedError, match="there is no NodePool"):
        answered(tmp_path, pod())

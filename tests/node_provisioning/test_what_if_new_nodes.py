"""`whatif --new-nodes`: what does not fit is placed on the nodes that Karpenter would make."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
from kubectl_sched.queries.provisioning.provisioned_nodes import provisioned_nodes
from kubectl_sched.queries.what_if.question import WhatIfQuestion
from kubectl_sched.queries.whatif import WhatIfAnswer, what_if
from kubectl_sched.render.answers.what_if_data import what_if_data
from kubectl_sched.render.answers.whatif import what_if_sentence
from kubectl_sched.simulation.workloads_to_place import Sizing
from kubectl_sched.sources.dump.reader import read
from tests.node_provisioning.test_new_nodes import TYPES, node, pod, pool

Json = dict[str, Any]


def answered(folder: Path, *objects: Json, replicas: int, cpu: str = "1500m") -> WhatIfAnswer:
    """The answer about so many pods."""
    cluster, manifest = folder / "cluster.json", folder / "web.json"
    default = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [default, *objects]}))
    made = pod(cpu)
    made["spec"]["containers"][0]["image"] = "web"
    manifest.write_text(json.dumps({key: made[key] for key in ("apiVersion", "kind", "spec")} | {
        "metadata": {"name": "web", "namespace": "default"}}))  # fmt: skip
    flags = NewNodesFlags(instance_types=(TYPES, "types.json"))
    question = WhatIfQuestion(targets=(str(manifest),), sizing=Sizing(replicas=replicas), new_nodes=flags)
    return what_if(question, read([str(cluster)]))


def test_pods_that_fit_nowhere_are_placed_on_nodes_of_the_cheapest_types(tmp_path: Path) -> None:
    answer = answered(tmp_path, pool("general"), node("n1"), replicas=3)
    data = what_if_data(answer.result, answer.kubernetes_version, answer.kubernetes_patch, ())
    assert (data["placed"], data["unplaced"]) == (3, 0)
    assert [each["nodePool"] for each in data["newNodes"]] == ["general"] * len(data["newNodes"])
    assert set(data["perNode"]) == {each["name"] for each in data["newNodes"]}
    assert f"{len(data['newNodes'])} of these made by Karpenter" in what_if_sentence(answer.result)


def test_the_nodes_that_are_there_are_filled_first(tmp_path: Path) -> None:
    answer = answered(tmp_path, pool("general"), node("n1"), replicas=2, cpu="800m")
    assert {each.node for each in answer.result.simulated.placements} == {"n1", "general-new-1"}
    assert [each.instance_type for each in answer.result.new_nodes] == ["m5.large"]


def test_no_node_is_made_where_everything_fits(tmp_path: Path) -> None:
    answer = answered(tmp_path, pool("general"), node("n1"), replicas=1, cpu="800m")
    assert answer.result.new_nodes == ()


def test_a_pod_for_which_karpenter_makes_no_node_stays_unplaced_with_its_reason(tmp_path: Path) -> None:
    answer = answered(tmp_path, pool("general"), node("n1"), replicas=1, cpu="64")
    assert answer.result.simulated.unplaced == 1
    assert any("Karpenter would create no node for default/web" in each for each in answer.result.warnings)


def test_pods_that_karpenter_does_not_look_at_are_told_apart() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "x", "uid": "x", "controller": True}
    made = pod()
    made["metadata"]["ownerReferences"] = [owner]
    unplaced = msgspec.convert(made, Pod)
    found = provisioned_nodes([msgspec.convert(pool("general"), NodePool)], [unplaced], (TYPES, "types.json"))
    assert found.nodes == ()
    reason = "a pod of a DaemonSet needs the node that it is for"
    assert found.notes[1:] == (f"Karpenter would create no node for default/web: {reason}",)


def test_without_a_nodepool_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(SchedError, match="no NodePool"):
        answered(tmp_path, node("n1"), replicas=1)

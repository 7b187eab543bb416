"""The figures of `capacity` add up to those of the objects, and it names the reason why free room does not help."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

import kubectl_sched as ks
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.capacity import CapacityQuestion, capacity
from kubectl_sched.queries.room.shapes import parse_shape, shapes_of
from kubectl_sched.render.capacity_tables import zone_tables
from kubectl_sched.sources import Dump
from kubectl_sched.sources.dump.reader import read
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.random_clusters import clusters
from tests.program import run

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod

GPUS = "fixtures/room/gpus.yaml"
GPU = "nvidia.com/gpu"


def answer(*objects: KubernetesObject, shapes: tuple[str, ...] = ()) -> Any:
    return capacity(CapacityQuestion(shapes=shapes), Dump(objects=objects))


def resources(found: Any) -> dict[tuple[str, str], Any]:
    return {(pool.name, each.name): each for pool in found.pools for each in pool.resources}


@settings(max_examples=examples(100), deadline=None)
@given(clusters())
def test_the_pools_add_up_to_the_cluster(cluster: tuple[list[Node], list[Pod]]) -> None:
    nodes = snapshot(*cluster[0], *cluster[1])
    found = capacity(CapacityQuestion(shapes=("cpu=1",)), Dump(objects=(*cluster[0], *cluster[1])))
    assert sorted(name for pool in found.pools for name in pool.nodes) == sorted(nodes.names)
    for name in ("cpu", "memory", "pods"):
        of_pools = [each for (_, resource), each in resources(found).items() if resource == name]
        requested = nodes.pod_count if name == "pods" else nodes.requested(name)
        assert sum(each.allocatable for each in of_pools) == nodes.allocatable(name).sum()
        assert sum(each.requested for each in of_pools) == requested.sum()
        for each in of_pools:
            assert each.allocatable == each.requested + each.free - each.overcommitted
            assert 0 <= each.stranded <= each.free
            assert each.largest <= each.free


@settings(max_examples=examples(60), deadline=None)
@given(clusters())
def test_what_fits_and_what_is_stranded_in_the_pools_adds_up_to_the_shape(
    cluster: tuple[list[Node], list[Pod]],
) -> None:
    found = answer(*cluster[0], *cluster[1], shapes=("a=cpu=1,memory=1Gi", "b=cpu=7"))
    for index, shape in enumerate(found.shapes):
        parts = [pool.shapes[index] for pool in found.pools]
        assert sum(part.fits for part in parts) == shape.capacity.total
        for which, stranded in enumerate(shape.stranded):
            of_pools = [part.stranded[which] for part in parts]
            assert sum(each.stranded for each in of_pools) == stranded.stranded
            assert sum(each.free for each in of_pools) == stranded.free
            for each in (stranded, *of_pools):
                assert sum(blocked.free for blocked in each.blocked_by) == each.stranded


def test_eleven_of_24_free_gpus_do_not_help_for_three_reasons() -> None:
    found = ks.read("fixtures/room/stranded.yaml").capacity(f"train=cpu=16,{GPU}=4").to_dict()
    ((of_pool,),) = [pool["shapes"] for pool in found["pools"]]
    gpus = of_pool["stranded"][1]
    assert (of_pool["fits"], gpus["resource"], gpus["free"], gpus["stranded"]) == (3, GPU, 24, 11)
    assert gpus["blockedBy"] == [
        {"reasons": ["Insufficient cpu"], "nodes": 1, "free": 5},
        {"reasons": [f"Insufficient {GPU}"], "nodes": 1, "free": 3},
        {"reasons": ["node(s) were unschedulable"], "nodes": 1, "free": 3},
    ]


def test_what_no_pod_of_the_shape_can_use_is_stranded_for_reasons_that_add_up() -> None:
    found = ks.read(GPUS).capacity().to_dict()
    train = next(each for each in found["shapes"] if each["name"] == "ml/Job/train")
    gpus = next(each for each in train["stranded"] if each["resource"] == GPU)
    assert (train["fits"], gpus["free"], gpus["stranded"]) == (0, 15, 15)
    assert gpus["blockedBy"] == [{"reasons": [f"Insufficient {GPU}"], "nodes": 3, "free": 15}]
    (pool,) = (each for each in found["pools"] if each["name"] == "pool=gpu")
    of_pool = next(each for each in pool["resources"] if each["name"] == GPU)
    assert (of_pool["free"], of_pool["stranded"], of_pool["largest"], of_pool["largestOn"]) == (15, 0, 6, "gpu-1")


def test_a_pool_counts_as_stranded_what_none_of_the_shapes_that_request_it_reaches() -> None:
    objects = (
        node("full", allocatable={"cpu": "4", "memory": "1Gi", "pods": "10", GPU: "2"}),
        node("free", allocatable={"cpu": "4", "memory": "1Gi", "pods": "10", GPU: "4"}),
        pod("busy", on="full", **requests(cpu="4")),
    )
    found = answer(*objects, shapes=(f"a=cpu=1,{GPU}=1", f"b=cpu=1,{GPU}=3", "c=memory=1Mi"))
    each = resources(found)["no role, no taints", GPU]
    assert (each.free, each.stranded) == (6, 2)
    assert [shape.capacity.total for shape in found.shapes] == [4, 1, 19]


def test_nodes_that_are_cordoned_or_not_ready_have_no_largest_pod() -> None:
    taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    found = answer(node("w1", taints=taints), node("w2", unschedulable=True), shapes=("cpu=1",))
    assert {each.largest for each in resources(found).values()} == {0}


@pytest.mark.parametrize(
    ("taints", "unschedulable", "told"),
    [
        (["not-ready"], False, "not ready"),
        (["unreachable", "unschedulable"], True, "cordoned, unreachable"),
        ([], True, "cordoned"),
        ([], False, ""),
    ],
)
def test_a_pool_that_takes_no_pods_says_why_and_is_not_called_full(
    taints: list[str], unschedulable: bool, told: str
) -> None:
    keys = [{"key": f"node.kubernetes.io/{each}", "effect": "NoSchedule"} for each in taints]
    found = answer(node("w1", taints=keys, unschedulable=unschedulable))
    assert found.pools[0].closed == told
    (table, *_) = zone_tables(found, found.pools)
    assert table.headings[-1] == ("Full or closed" if told else "on")
    assert table.texts[0][-1] == (told or "w1")


def test_a_pool_without_a_label_is_called_by_its_roles_and_taints() -> None:
    taints = [{"key": "example.com/node", "value": "fake", "effect": "NoSchedule"}]
    found = answer(
        node("w1", labels={"node-role.kubernetes.io/agent": ""}, taints=taints), node("w2", labels={"pool": "a=b"})
    )
    (table, *_) = zone_tables(found, found.pools)
    assert [row[0] for row in table.texts] == ["role agent, taint example.com/node=fake:NoSchedule", "a=b"]


def test_nodes_that_say_nothing_of_what_they_have_are_empty() -> None:
    (pool,) = answer(node("w1", allocatable={}), shapes=("cpu=1",)).pools
    assert pool.fullness.tolist() == [0.0]


@pytest.mark.parametrize("amount", ["-1", "-9223372036854775808", "0"])
def test_a_node_with_less_than_nothing_has_nothing(amount: str) -> None:
    found = resources(
        answer(node("n1", allocatable={"cpu": amount}), pod(on="n1", **requests(cpu="500m")), shapes=("a=cpu=1",))
    )
    cpu = next(each for (_, name), each in found.items() if name == "cpu")
    assert (cpu.allocatable, cpu.requested, cpu.free, cpu.overcommitted, cpu.largest) == (0, 500, 0, 500, 0)
    assert cpu.allocatable == cpu.requested + cpu.free - cpu.overcommitted


def test_sums_exceed_int64() -> None:
    most = 2**63 - 1
    found = resources(answer(*(node(name, allocatable={"memory": str(most)}) for name in ("n1", "n2", "n3"))))
    memory = next(each for (_, name), each in found.items() if name == "memory")
    assert (memory.allocatable, memory.free) == (3 * most, 3 * most)


@pytest.mark.parametrize(
    ("text", "name", "asked"),
    [
        ("cpu=4,memory=16Gi", "cpu=4,memory=16Gi", {"cpu": "4", "memory": "16Gi"}),
        (f"train=cpu=4,{GPU}=1", "train", {"cpu": "4", GPU: "1"}),
        ("cpu=1", "cpu=1", {"cpu": "1"}),
        ("cpu=cpu=1", "cpu", {"cpu": "1"}),
    ],
)
def test_a_shape_has_a_name_or_is_its_own(text: str, name: str, asked: dict[str, str]) -> None:
    shape = parse_shape(text, "default")
    assert (shape.name, shape.pod.spec.containers[0].resources.requests) == (name, asked)


@pytest.mark.parametrize(
    "text",
    ["", "cpu", "cpu=", "=4", "a=b=c=d", "cpu=1,", "cpu=1,cpu=2", "cpu=-1", "c pu=1", "x=", "cpu=1,gpu=2", "pods=1"],
)
def test_a_shape_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SchedError, match="--shape"):
        parse_shape(text, "default")


def test_shapes_are_of_pods_that_no_plugin_tells_apart() -> None:
    def owned(name: str, kind: str, owner: str, **fields: Any) -> Any:
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
        return pod(name, metadata={"ownerReferences": [reference]}, **fields)

    found = shapes_of(
        [
            owned("a-0", "StatefulSet", "a", on="w1", **requests(cpu="1")),
            owned("a-1", "StatefulSet", "a", **requests(cpu="1")),
            owned("b-0", "StatefulSet", "b", on="w1", **requests(cpu="1")),
            owned("c-0", "StatefulSet", "c", on="w1", nodeSelector={"a": "b"}, **requests(cpu="1")),
            owned("agent", "DaemonSet", "agent", on="w1", **requests(cpu="1")),
            pod("done", on="w1", status={"phase": "Succeeded"}, **requests(cpu="2")),
        ]
    )
    assert [(each.name, each.running, each.pending, each.workloads) for each in found] == [
        ("default/StatefulSet/a", 2, 1, 2),
        ("default/StatefulSet/c", 1, 0, 1),
    ]


def test_a_shape_keeps_what_its_pods_tolerate_and_choose() -> None:
    choosy: dict[str, Any] = {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"kind": "gpu"}}
    found = answer(
        node("gpu", labels={"kind": "gpu"}, taints=[{"key": "gpu", "effect": "NoSchedule"}]),
        node("other"),
        pod("web", **choosy, **requests(cpu="4")),
    )
    (shape,) = found.shapes
    assert shape.capacity.per_node.tolist() == [2, 0]


def test_the_library_says_what_the_command_prints() -> None:
    done = run("capacity", "--from", GPUS, "--shape", "web=cpu=1", "-o", "json")
    assert done.returncode == 0
    assert ks.read(GPUS).capacity("web=cpu=1").to_dict() == json.loads(done.stdout)
    assert ks.read(GPUS).capacity("web=cpu=1").fits == {"web": json.loads(done.stdout)["shapes"][0]["fits"]}


def owned(name: str, kind: str, owner: str, namespace: str = "default", **fields: Any) -> Any:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
    return pod(name, metadata={"ownerReferences": [reference], "namespace": namespace}, **fields)


def test_workloads_of_one_name_are_told_apart_by_namespace_and_kind() -> None:
    found = answer(
        node("w1"),
        owned("web-a", "ReplicaSet", "web", **requests(cpu="3")),
        owned("web-0", "StatefulSet", "web", **requests(cpu="4")),
        owned("web-b", "ReplicaSet", "web", namespace="shop", **requests(cpu="9")),
    )
    assert {each.shape.name: each.capacity.total for each in found.shapes} == {
        "default/ReplicaSet/web": 2,
        "default/StatefulSet/web": 2,
        "shop/ReplicaSet/web": 0,
    }


@pytest.mark.parametrize("source", ["fixtures/triage", "fixtures/demo", GPUS, "fixtures/room/stranded.yaml"])
def test_a_pending_workload_has_room_where_explain_says_that_its_pod_fits(source: str) -> None:
    explained = json.loads(run("explain", "pods", "--pending", "-A", "--from", source, "-o", "json").stdout)
    items = explained.get("items", [explained] if "outcome" in explained else [])
    fits = {(each["pod"]["namespace"], each["pod"]["name"]): bool(each["feasible"]) for each in items}
    found = capacity(CapacityQuestion(), read([source]))
    for each in found.shapes:
        own = each.shape.own
        if own is not None:
            assert (each.capacity.total > 0) == fits[own.namespace, own.name], each.shape.name
        assert bool(each.why) == (not each.capacity.total)


def test_what_is_stranded_does_not_depend_on_the_namespace_that_is_asked_about() -> None:
    answers = (ks.read(GPUS).capacity(namespace=namespace).to_dict() for namespace in (None, "shop"))
    everywhere, of_one = (
        [(each["name"], each["stranded"]) for pool in found["pools"] for each in pool["resources"]] for found in answers
    )
    assert everywhere == of_one


def test_of_more_than_a_thousand_distinct_requests_the_largest_are_asked_and_a_note_says_so() -> None:
    pods = [pod(f"p{index}", on="w1", **requests(cpu=f"{index + 1}m")) for index in range(1001)]
    found = answer(node("w1", allocatable={"cpu": "2000", "memory": "1Gi", "pods": "2000"}), *pods)
    assert "stranded: the largest 1,000 of 1,001 distinct requests were asked" in found.notes
    assert resources(found)["no role, no taints", "cpu"].stranded == 0


def test_a_reason_is_never_empty() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    found = answer(node("w1"), node("w2"), pod("pinned", affinity=affinity, **requests(cpu="9")))
    told = [blocked.reasons for shape in found.shapes for part in shape.stranded for blocked in part.blocked_by]
    assert told
    assert all(all(reasons) and reasons for reasons in told)

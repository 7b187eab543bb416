from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.resource import DeviceClass, DeviceClassSpec
from kubectl_sched.config.types import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SUCCESS, Status, unresolvable, unschedulable
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from tests.plugins.clusters import explained, filtered, make, node, pod, reasons, requests, scored, snapshot

GPU = "nvidia.com/gpu"
OWN_NAME = "deviceclass.resource.kubernetes.io/gpu"
ALL_THREE = unresolvable("Insufficient cpu", "Insufficient memory", f"Insufficient {GPU}")
SMALL = {"cpu": "2", "memory": "4Gi", "pods": "3", GPU: "2", "ephemeral-storage": "10Gi"}


def wanting(**amounts: str) -> Any:
    return pod("new", **requests(**amounts))


def gpus(count: str, **more: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "resources": {"requests": {GPU: count, **more}}}]}


def there(name: str, **amounts: str) -> Any:
    return pod(name, on="w1", **requests(**amounts))


@pytest.mark.parametrize(
    ("incoming", "status"),
    [
        (pod("new"), SUCCESS),
        (wanting(cpu="1"), SUCCESS),
        (wanting(cpu="1001m"), unschedulable("Insufficient cpu")),
        (wanting(cpu="2001m"), unresolvable("Insufficient cpu")),
        (wanting(memory="3Gi"), SUCCESS),
        (wanting(memory="3221225473"), unschedulable("Insufficient memory")),
        (wanting(ephemeral_storage="11Gi"), unresolvable("Insufficient ephemeral-storage")),
        (pod("new", **gpus("1")), SUCCESS),
        (pod("new", **gpus("2")), unschedulable(f"Insufficient {GPU}")),
        (
            pod("new", **gpus("2", cpu="2", memory="5Gi")),
            unresolvable("Insufficient cpu", "Insufficient memory", f"Insufficient {GPU}"),
        ),
        (wanting(cpu="0", memory="0"), SUCCESS),
    ],
)
def test_every_reason_is_told_and_one_impossible_one_makes_all_unresolvable(incoming: Any, status: Status) -> None:
    running = pod("there", on="w1", **gpus("1", cpu="1", memory="1Gi"))
    assert filtered(make(NodeResourcesFit), incoming, snapshot(node("w1", allocatable=SMALL), running)) == [status]


def test_until_1_33_nothing_is_unresolvable() -> None:
    nodes = snapshot(node("w1", allocatable=SMALL))
    assert filtered(make(NodeResourcesFit, version="1.33"), wanting(cpu="3"), nodes) == [
        unschedulable("Insufficient cpu")
    ]


def test_too_many_pods_stands_first() -> None:
    pods = [there(f"p{number}", cpu="1") for number in range(3)]
    nodes = snapshot(node("w1", allocatable=SMALL), *pods)
    assert reasons(make(NodeResourcesFit), wanting(cpu="1"), nodes) == {"w1": ("Too many pods", "Insufficient cpu")}
    assert reasons(make(NodeResourcesFit), pod("new"), nodes) == {"w1": ("Too many pods",)}


def test_a_node_without_the_resource_is_too_small() -> None:
    nodes = snapshot(node("plain"), node("gpu", allocatable=SMALL))
    assert filtered(make(NodeResourcesFit), pod("new", **gpus("1")), nodes) == [
        unresolvable(f"Insufficient {GPU}"),
        SUCCESS,
    ]


@pytest.mark.parametrize(
    "args",
    [
        NodeResourcesFitArgs(ignored_resources=(GPU,)),
        NodeResourcesFitArgs(ignored_resource_groups=("nvidia.com",)),
    ],
)
def test_ignored_resources(args: NodeResourcesFitArgs) -> None:
    nodes = snapshot(node("w1"))
    assert filtered(make(NodeResourcesFit, args), pod("new", **gpus("4")), nodes) == [SUCCESS]
    assert not filtered(make(NodeResourcesFit, args), pod("new", **gpus("4", cpu="9")), nodes)[0].is_success


def test_only_extended_resources_can_be_ignored() -> None:
    args = NodeResourcesFitArgs(ignored_resources=("hugepages-2Mi", "cpu"))
    nodes = snapshot(node("w1"))
    incoming = pod("new", **requests(cpu="9", hugepages_2Mi="2Mi"))
    assert reasons(make(NodeResourcesFit, args), incoming, nodes) == {
        "w1": ("Insufficient cpu", "Insufficient hugepages-2Mi")
    }


def test_init_containers_sidecars_overhead_and_the_pod_as_a_whole() -> None:
    nodes = snapshot(node("w1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"}))
    one = {"resources": {"requests": {"cpu": "1"}}}
    fits = make(NodeResourcesFit)
    assert reasons(fits, pod("init", initContainers=[one, one, one], containers=[one]), nodes) == {}
    sidecars = [{**one, "restartPolicy": "Always"}, {**one, "restartPolicy": "Always"}]
    assert reasons(fits, pod("side", initContainers=sidecars, containers=[one]), nodes)
    assert reasons(fits, pod("over", containers=[one], overhead={"cpu": "1001m"}), nodes)
    assert reasons(fits, pod("level", containers=[one], resources={"requests": {"cpu": "3"}}), nodes)
    assert reasons(fits, pod("less", containers=[one, one, one], resources={"requests": {"cpu": "2"}}), nodes) == {}


def test_an_in_place_resize_counts_until_the_kubelet_has_done_it() -> None:
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
    shrinking = {
        "containerStatuses": [
            {"name": "main", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}
        ]
    }
    nodes = snapshot(node("w1", allocatable=SMALL), pod("there", on="w1", containers=[container], status=shrinking))
    assert reasons(make(NodeResourcesFit), wanting(cpu="500m"), nodes) == {"w1": ("Insufficient cpu",)}


def test_sidecars_need_their_feature() -> None:
    sidecar = pod("new", initContainers=[{"name": "side", "restartPolicy": "Always"}], containers=[])
    nodes = snapshot(node())
    result = make(NodeResourcesFit, version="1.37").pre_filter(CycleState(), sidecar, nodes)
    assert result.status == SUCCESS


def test_filter_without_prefilter_fails_in_upstream_s_words() -> None:
    with pytest.raises(PluginError, match='error reading "PreFilterNodeResourcesFit" from cycleState: not found'):
        make(NodeResourcesFit).filter(CycleState(), pod(), snapshot(node()))


def device_class(extended: str | None) -> DeviceClass:
    return DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=extended))


@pytest.mark.parametrize(
    ("resource", "allocatable", "version", "gate", "fits"),
    [
        (GPU, {}, "1.36", None, True),
        (GPU, {}, "1.35", None, False),
        (GPU, {}, "1.35", True, True),
        (GPU, {}, "1.34", True, True),
        (GPU, {GPU: "0"}, "1.36", None, True),
        (GPU, {GPU: "0"}, "1.34", True, False),
        (GPU, {GPU: "1"}, "1.36", None, False),
        (OWN_NAME, {}, "1.36", None, True),
        ("deviceclass.resource.kubernetes.io/other", {}, "1.36", None, False),
        ("hugepages-2Mi", {}, "1.36", None, False),
        ("hugepages-2Mi", {}, "1.34", True, True),
        ("hugepages-2Mi", {"hugepages-2Mi": "0"}, "1.34", True, False),
    ],
)
def test_a_resource_that_devices_back_is_left_to_them(
    resource: str, allocatable: dict[str, str], version: str, gate: bool | None, fits: bool
) -> None:
    gates = {} if gate is None else {"DRAExtendedResource": gate}
    nodes = snapshot(node("w1", allocatable={"pods": "10", **allocatable}), device_class(GPU))
    incoming = pod("new", containers=[{"name": "main", "resources": {"requests": {resource: "4"}}}])
    assert (reasons(make(NodeResourcesFit, version=version, **gates), incoming, nodes) == {}) is fits


@pytest.mark.parametrize(("version", "lacking"), [("1.34", {"w1": (f"Insufficient {OWN_NAME}",)}), ("1.35", {})])
def test_in_1_34_a_class_has_one_name_only(version: str, lacking: dict[str, Any]) -> None:
    nodes = snapshot(node("w1", allocatable={"pods": "10"}), device_class(GPU))
    both = pod("new", **gpus("1", **{OWN_NAME: "1"}))
    assert reasons(make(NodeResourcesFit, version=version, DRAExtendedResource=True), both, nodes) == lacking


def scoring(kind: str, *resources: tuple[str, int], shape: tuple[tuple[int, int], ...] = ()) -> NodeResourcesFitArgs:
    points = tuple(UtilizationShapePoint(utilization=at, score=score) for at, score in shape)
    return NodeResourcesFitArgs(
        scoring_strategy=ScoringStrategy(
            type=kind,
            resources=tuple(ResourceSpec(name=name, weight=weight) for name, weight in resources),
            requested_to_capacity_ratio=RequestedToCapacityRatioParam(shape=points) if shape else None,
        )
    )


BOTH = (("cpu", 1), ("memory", 1))


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        # With the pod 3 of 4 cpu and 2 of 8 Gi: 25 and 75 % would be free.
        (scoring("LeastAllocated", *BOTH), 50),
        (scoring("LeastAllocated", ("cpu", 3), ("memory", 1)), (3 * 25 + 75) // 4),
        (scoring("MostAllocated", *BOTH), 50),
        (scoring("MostAllocated", ("cpu", 3), ("memory", 1)), (3 * 75 + 25) // 4),
        (scoring("RequestedToCapacityRatio", *BOTH, shape=((0, 0), (100, 10))), 50),
        (scoring("RequestedToCapacityRatio", ("cpu", 1), ("memory", 2), shape=((0, 10), (100, 0))), 58),
        (scoring("RequestedToCapacityRatio", *BOTH, shape=((0, 0), (50, 0), (100, 10))), 50),
        (scoring("LeastAllocated", ("cpu", 1), (GPU, 5)), 25),
    ],
)
def test_strategies(args: NodeResourcesFitArgs, expected: int) -> None:
    nodes = snapshot(
        node("w1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", GPU: "8"}),
        there("old", cpu="1", memory="1Gi"),
    )
    assert scored(make(NodeResourcesFit, args), wanting(cpu="2", memory="1Gi"), nodes) == [expected]


def test_scoring_assumes_100m_and_200mi_for_containers_that_do_not_say() -> None:
    nodes = snapshot(node("w1", allocatable={"cpu": "1", "memory": "400Mi", "pods": "10"}))
    silent = pod("new", containers=[{"name": "main"}])
    assert scored(make(NodeResourcesFit), silent, nodes) == [(90 + 50) // 2]
    nothing = wanting(cpu="0", memory="0")
    assert scored(make(NodeResourcesFit), nothing, nodes) == [100]


def test_scoring_looks_at_the_containers_alone() -> None:
    nodes = snapshot(node("w1", allocatable={"cpu": "4", "memory": "4Gi", "pods": "10"}))
    whole = pod("new", resources={"requests": {"cpu": "4", "memory": "4Gi"}}, **requests(cpu="1", memory="1Gi"))
    assert scored(make(NodeResourcesFit), whole, nodes) == [75]


def test_scores_without_prescore_are_the_same() -> None:
    nodes = snapshot(node("w1", allocatable=SMALL))
    plugin, incoming = make(NodeResourcesFit), wanting(cpu="1", memory="1Gi")
    rows = nodes.pod_count.argsort()
    assert plugin.score(CycleState(), incoming, nodes, rows).tolist() == scored(plugin, incoming, nodes)


def test_without_resources_scoring_fails() -> None:
    with pytest.raises(PluginError, match="resources not found"):
        scored(make(NodeResourcesFit, scoring("LeastAllocated")), wanting(cpu="1"), snapshot(node()))


def test_evidence_says_wanted_free_capacity_and_by_whom() -> None:
    train = pod("train-0", on="w1", metadata={"namespace": "team-a"}, **gpus("4"))
    nodes = snapshot(
        node("w1", allocatable={**SMALL, GPU: "8", "pods": "10"}),
        train,
        pod("b", on="w1", **gpus("1")),
        pod("a", on="w1", **gpus("1")),
        there("cpu-only", cpu="1"),
    )
    incoming = pod("new", **gpus("4"))
    texts, hints = explained(make(NodeResourcesFit), incoming, nodes)
    assert texts == [f"wants 4 {GPU}; 2 of 8 free (6 requested by 3 pods, largest: team-a/train-0 4)"]
    assert hints == []
    (evidence,) = make(NodeResourcesFit).explain_filter(CycleState(), incoming, nodes, 0)
    told = {"resource": GPU, "wanted": 4, "used": 6, "capacity": 8, "free": 2, "unit": "", "users": 3}
    assert evidence.facts.items() >= told.items()
    assert evidence.distance == 0.5


def test_evidence_of_cpu_says_who_leaves() -> None:
    leaving = pod("old", on="w1", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"}, **requests(cpu="1500m"))
    nodes = snapshot(node("w1", allocatable=SMALL), leaving)
    texts, hints = explained(make(NodeResourcesFit), wanting(cpu="1"), nodes)
    assert texts == ["wants 1 cpu; 0.5 of 2 free (1.5 requested by 1 pod, largest: default/old 1.5)"]
    assert hints == ["pod default/old is terminating since 2026-01-02T03:04:05Z and will free 1.5 cpu"]


@pytest.mark.parametrize(
    ("incoming", "text", "hints"),
    [
        (
            wanting(cpu="100"),
            "wants 100 cpu; the whole node has 2",
            ["cpu: 100 is 100 whole CPUs; 100m would be 0.1", "no node is large enough: big has the most, 8"],
        ),
        (wanting(memory="8Gi"), "wants 8Gi memory; the whole node has 4Gi", []),
        (
            pod("new", containers=[{"name": "main", "resources": {"requests": {"nvidia.com/gpus": "1"}}}]),
            "wants 1 nvidia.com/gpus; the node has none",
            [f"no node has nvidia.com/gpus; there is {GPU}"],
        ),
    ],
)
def test_requests_that_the_node_could_never_meet(incoming: Any, text: str, hints: list[str]) -> None:
    nodes = snapshot(node("w1", allocatable=SMALL), node("big"))
    assert explained(make(NodeResourcesFit), incoming, nodes) == ([text], hints)


def test_too_many_pods_names_the_limit() -> None:
    nodes = snapshot(node("w1", allocatable={**SMALL, "pods": "1"}), there("old", cpu="1"))
    assert explained(make(NodeResourcesFit), pod("new"), nodes)[0] == ["has 1 pod and takes at most 1"]


def test_scores_are_explained_by_resource() -> None:
    nodes = snapshot(node("w1", allocatable=SMALL), pod("silent", on="w1", containers=[{"name": "main"}]))
    plugin, incoming = make(NodeResourcesFit), wanting(cpu="900m", memory="1848Mi")
    cpu, memory = plugin.explain_score(CycleState(), incoming, nodes, 0)
    assert cpu.text == "1 of 2 cpu would be requested: 50 points, as emptier nodes get more"
    assert cpu.hints == ("scoring assumes 0.1 cpu for containers there that request none",)
    assert memory.text == "2Gi of 4Gi memory would be requested: 50 points, as emptier nodes get more"

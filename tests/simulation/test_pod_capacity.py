"""Counting how many more pods fit gives what creating them one after the other gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation import pod_capacity as module
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.pod_capacity import MOST_REPLAYED, pod_capacity
from kubectl_sched.simulation.queue_simulation import Simulation
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.random_clusters import clusters, incoming_pods

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot


def scheduler(nodes: Snapshot) -> Scheduler:
    return Scheduler(load_configuration(None, KubeVersion.parse("1.36"), None), nodes)


def placed(incoming: Pod, nodes: Snapshot) -> dict[str, int]:
    """The number of copies on each node, once one more fits nowhere."""
    simulation = Simulation(scheduler(nodes))
    simulation.fill(
        QueuedPod(
            pod=structs.replace(incoming, metadata=structs.replace(incoming.metadata, name=f"c{index}", uid=str(index)))
        )
        for index in range(MOST_REPLAYED)
    )
    counts: dict[str, int] = {}
    for each in simulation.placements:
        counts[each.node or ""] = counts.get(each.node or "", 0) + 1
    return counts


def counted(incoming: Pod, nodes: Snapshot) -> dict[str, int]:
    per_node = pod_capacity(incoming, scheduler(nodes)).per_node.tolist()
    return {name: number for name, number in zip(nodes.names, per_node, strict=True) if number}


@settings(max_examples=examples(200), deadline=None)
@given(clusters(), incoming_pods(), st.sampled_from(["100m", "700m", "3"]))
def test_what_is_counted_is_what_would_be_placed(
    cluster: tuple[list[Node], list[Pod]], incoming: Pod, cpu: str
) -> None:
    nodes = snapshot(*cluster[0], *cluster[1])
    asking = pod("incoming", **requests(cpu=cpu, memory="1Gi"))
    spec = structs.replace(incoming.spec, containers=asking.spec.containers, node_name="", preemption_policy="Never")
    incoming = structs.replace(incoming, spec=spec)
    assert counted(incoming, nodes) == placed(incoming, nodes)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (requests(cpu="3"), {"w1": 2, "w2": 1}),
        (requests(cpu="8"), {"w1": 1}),
        (requests(cpu="9"), {}),
        (requests(memory="8Gi"), {"w1": 2, "w2": 2}),
    ],
)
def test_nodes_that_depend_on_nothing_else_fill_up_at_once(
    spec: dict[str, Any], expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Simulation", None)
    nodes = snapshot(node("w1"), node("w2"), pod("busy", on="w2", **requests(cpu="5")))
    assert counted(pod("web", **spec), nodes) == expected


def test_pods_that_keep_apart_are_placed_one_after_the_other() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart: dict[str, Any] = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    }
    nodes = snapshot(*(node(name, labels={"kubernetes.io/hostname": name}) for name in ("w1", "w2", "w3")))
    incoming = pod("web", metadata={"labels": {"app": "web"}}, **requests(cpu="1"), **apart)
    assert counted(incoming, nodes) == {"w1": 1, "w2": 1, "w3": 1}


def test_the_counting_of_such_pods_stops_somewhere() -> None:
    port: dict[str, Any] = {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    nodes = snapshot(*(node(f"w{index}") for index in range(MOST_REPLAYED + 1)))
    found = pod_capacity(pod("web", **port), scheduler(nodes))
    assert (found.total, found.at_least) == (MOST_REPLAYED, True)

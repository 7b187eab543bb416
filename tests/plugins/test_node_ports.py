from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SKIP, SUCCESS
from kubectl_sched.plugins.node_ports import NodePorts
from kubectl_sched.snapshot.host_ports import ALL_ADDRESSES, host_ports
from tests.plugins.clusters import explained, filtered, make, node, pod, reasons, snapshot

TAKEN = {"w1": ("node(s) didn't have free ports for the requested pod ports",)}


def with_ports(name: str, *ports: dict[str, Any], on: str = "", **fields: Any) -> Any:
    return pod(name, on=on, containers=[{"name": "main", "ports": list(ports)}], **fields)


@pytest.mark.parametrize(
    ("wanted", "used", "rejected"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, TAKEN),
        ({"hostPort": 80}, {"hostPort": 81}, {}),
        ({"hostPort": 80}, {"hostPort": 80, "protocol": "TCP"}, TAKEN),
        ({"hostPort": 80}, {"hostPort": 80, "protocol": "UDP"}, {}),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80, "hostIP": "10.0.0.2"}, {}),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80}, TAKEN),
        ({"hostPort": 80}, {"hostPort": 80, "hostIP": "10.0.0.1"}, TAKEN),
        ({"hostPort": 80, "hostIP": ALL_ADDRESSES}, {"hostPort": 80, "hostIP": "10.0.0.1"}, TAKEN),
        ({"hostPort": 80}, {"containerPort": 80}, {}),
    ],
)
def test_conflicts(wanted: dict[str, Any], used: dict[str, Any], rejected: dict[str, Any]) -> None:
    nodes = snapshot(node("w1"), node("w2"), with_ports("there", used, on="w1"))
    assert reasons(make(NodePorts), with_ports("new", wanted), nodes) == rejected


def test_only_sidecars_and_containers_hold_ports() -> None:
    port = [{"hostPort": 80}]
    init = pod(initContainers=[{"name": "init", "ports": port}], containers=[{"name": "main"}])
    sidecar = pod(initContainers=[{"name": "side", "ports": port, "restartPolicy": "Always"}], containers=[])
    assert host_ports(init) == ()
    assert [str(port) for port in host_ports(sidecar)] == ["80/TCP"]


def test_pods_without_host_ports_are_skipped() -> None:
    assert filtered(make(NodePorts), with_ports("new", {"containerPort": 80}), snapshot(node())) == [SKIP]


def test_filter_without_prefilter_fails_in_upstream_s_words() -> None:
    with pytest.raises(PluginError, match='reading "PreFilterNodePorts" from cycleState: not found'):
        make(NodePorts).filter(CycleState(), with_ports("new", {"hostPort": 80}), snapshot(node()))


def test_a_pod_that_leaves_frees_its_port() -> None:
    nodes = snapshot(node("w1"), with_ports("there", {"hostPort": 80}, on="w1"))
    new = with_ports("new", {"hostPort": 80})
    assert reasons(make(NodePorts), new, nodes) == TAKEN
    assert filtered(make(NodePorts), new, nodes.remove_pod("default", "there")) == [SUCCESS]


def test_evidence_names_who_has_the_port() -> None:
    leaving = with_ports(
        "old",
        {"hostPort": 80, "hostIP": "10.0.0.1"},
        on="w1",
        metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"},
    )
    texts, hints = explained(make(NodePorts), with_ports("new", {"hostPort": 80}), snapshot(node("w1"), leaving))
    assert texts == ["host port 80/TCP is taken by default/old (as 10.0.0.1:80/TCP)"]
    assert hints == [
        "the pod wants the port on all addresses, which leaves none for a single one",
        "default/old is terminating since 2026-01-02T03:04:05Z; the port is free once it is gone",
    ]

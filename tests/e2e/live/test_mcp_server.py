"""`kubectl sched mcp` over a running cluster: an agent's questions, each of which reads the cluster anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.agent import answer_in, loop, with_server

if TYPE_CHECKING:
    from tests.e2e.api import Api
    from tests.e2e.control_plane import ControlPlane
    from tests.mcp.agent import Ask

pytestmark = pytest.mark.e2e

PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"


def node(api: Api, name: str, cpu: str) -> None:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    status = {"capacity": amounts, "allocatable": amounts}
    api.create(NODES, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}, "status": status})
    api.merge(f"{NODES}/{name}", {"spec": {"taints": None}})


def pod(api: Api, name: str, cpu: str) -> None:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    api.create(PODS, {"metadata": {"name": name}, "spec": {"containers": [container]}})


def test_an_agent_explains_what_is_pending_and_sees_what_changes(control_plane: ControlPlane, api: Api) -> None:
    for name in ("n1", "n2"):
        node(api, name, "4")
    pod(api, "big", "6")
    before = [each["metadata"]["resourceVersion"] for each in api.get(PODS)["items"]]

    async def talk(ask: Ask) -> Any:
        found = await loop(ask)
        assert found["explain"]["pod"] == {"namespace": "default", "name": "big"}
        assert found["explain"]["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
        assert found["explain"]["outcome"] == "Unschedulable"
        node(api, "n3", "8")
        explained = answer_in(await ask("explain", {"target": "big"}))
        assert (explained["outcome"], explained["best"]) == ("Schedulable", ["n3"])
        refused, text = await ask("explain", {"target": "no-such-pod"})
        assert refused
        assert "there is no pod no-such-pod" in text

    with_server(("--kubeconfig", str(control_plane.kubeconfig)), talk)
    assert [each["metadata"]["resourceVersion"] for each in api.get(PODS)["items"]] == before, "nothing was written"

"""`bind --watch` as the only scheduler of gangs of 1.35, with the rights of the manifests, and killed meanwhile."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.e2e.binding_cluster import PODS, events, node, node_of
from tests.e2e.group_planes import GroupPlane
from tests.e2e.patience import until
from tests.e2e.second_scheduler.groups.group_watching import are_bound, create_amid_kills, nodes, used_rights, watcher
from tests.e2e.second_scheduler.test_watch_manifests import NAME
from tests.e2e.watchers import create_pods, plain_pod, pods_by_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.api import Api, Json
    from tests.e2e.control_plane import ControlPlane

pytestmark = pytest.mark.e2e

WORKLOADS = "/apis/scheduling.k8s.io/v1alpha1/namespaces/default/workloads"
GANGS = 30


@pytest.fixture
def groups() -> GroupPlane:
    """Workloads, the gangs of 1.35."""
    return GroupPlane("1.35", "GenericWorkload=true,GangScheduling=true", ("v1alpha1",))


def gang(api: Api, name: str, size: int, cpu: str, minimum: int) -> list[Json]:
    """Make a workload of one gang; the pods that are to be made."""
    policy = {"gang": {"minCount": minimum}}
    api.create(WORKLOADS, {"metadata": {"name": name}, "spec": {"podGroups": [{"name": "all", "policy": policy}]}})
    part = {"workloadRef": {"name": name, "podGroup": "all"}}
    return [plain_pod(f"{name}-{index}", NAME, cpu, **part) for index in range(size)]


def nominated(api: Api, pods: list[Json]) -> list[str]:
    """The nodes on which pods wait in Permit."""
    now = pods_by_name(api)
    said = (now[pod["metadata"]["name"]]["status"].get("nominatedNodeName", "") for pod in pods)
    return [node for node in said if node]


def test_a_gang_holds_its_nodes_until_its_quorum_is_there(
    control_plane: ControlPlane, api: Api, groups: GroupPlane, kubeconfig: Path, audit_log: Path
) -> None:
    for name in ("n1", "n2"):
        node(api, name, "4")
    with watcher(kubeconfig, groups) as program:
        program.until_ready()
        fits = gang(api, "fits", 3, "1", 3)
        create_pods(control_plane, fits[:2])
        create_pods(control_plane, [plain_pod("alone", NAME, "100m")])
        until(lambda: node_of(api, "alone"))
        assert nodes(api, fits[:2]) == ["", ""], "a gang waits for its pods"
        create_pods(control_plane, fits[2:])
        until(lambda: all(nodes(api, fits)))
        for pod in fits:
            name = pod["metadata"]["name"]
            until(lambda name=name: len(events(api, name, "Scheduled")) == 1)  # type: ignore[misc]

        large = gang(api, "large", 3, "2500m", 3)
        create_pods(control_plane, large)
        until(lambda: nominated(api, large))
        assert nodes(api, large) == [""] * 3
        (waits,) = (pod for pod in large if nominated(api, [pod]))
        api.delete(f"{PODS}/{waits['metadata']['name']}")
        (told,) = until(
            lambda: [
                event
                for event in events(api, waits["metadata"]["name"], "FailedScheduling")
                if event["note"] == "0/1 nodes are available: 1 removed."
            ]
        )
        assert told["reportingController"] == NAME
        node(api, "n3", "4")
        node(api, "n4", "4")
        create_pods(control_plane, [waits])
        until(lambda: all(nodes(api, large)))
        assert program.stop() == 0
    assert used_rights(audit_log) == {("scheduling.k8s.io", "workloads", verb) for verb in ("list", "watch")}


def test_after_kills_no_gang_that_does_not_fit_is_bound_and_all_that_fit_are_bound_whole(
    control_plane: ControlPlane, api: Api, groups: GroupPlane, kubeconfig: Path
) -> None:
    chance = random.Random(35)  # noqa: S311 - to be repeatable
    for number in range(20):
        node(api, f"n{number}", "16")
    wanted: list[tuple[list[Json], bool]] = []
    made: list[Json] = []
    for number in range(GANGS):
        size = chance.randint(2, 8)
        pods = gang(api, f"g{number}", size, "500m", size)
        too_large = number % 8 == 0
        if too_large:
            pods[-1] = plain_pod(f"g{number}-{size - 1}", NAME, "17", workloadRef=pods[-1]["spec"]["workloadRef"])
        wanted.append((pods, not too_large))
        made += pods
    create_amid_kills(control_plane, kubeconfig, groups, made, 30, chance)
    with watcher(kubeconfig, groups) as program:
        program.until_ready()
        until(lambda: all(are_bound(api, [pod for pods, fits in wanted if fits for pod in pods])))
        for pods, fits in wanted:
            if not fits:
                until(lambda pods=pods: len(nominated(api, pods)) == len(pods) - 1)  # type: ignore[misc]
        assert program.stop() == 0
    for pods, fits in wanted:
        bound = are_bound(api, pods)
        assert all(bound) if fits else not any(bound)

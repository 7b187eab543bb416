"""`bind --watch` as the only scheduler of groups, with the rights of the manifests, and killed meanwhile."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.e2e.binding_cluster import events, node, node_of
from tests.e2e.patience import until
from tests.e2e.second_scheduler.groups.group_watching import are_bound, create_amid_kills, nodes, used_rights, watcher
from tests.e2e.second_scheduler.test_watch_manifests import NAME
from tests.e2e.watchers import create_pods, plain_pod

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.api import Api, Json
    from tests.e2e.control_plane import ControlPlane
    from tests.e2e.group_planes import GroupPlane

pytestmark = pytest.mark.e2e

GANGS = 40
USED_RIGHTS = {("podgroups", "list"), ("podgroups", "watch"), ("podgroups/status", "patch")}
"""All of the role but those for CompositePodGroups, whose gate is off, and for the Workloads of 1.35."""


def group(api: Api, groups: GroupPlane, name: str, size: int, cpu: str, minimum: int | None) -> list[Json]:
    """Make a group, of the basic policy without a minimum; the pods that are to be made."""
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    api.create(groups.groups, {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy}})
    named = {"schedulingGroup": {"podGroupName": name}}
    return [plain_pod(f"{name}-{index}", NAME, cpu, **named) for index in range(size)]


def is_said(api: Api, groups: GroupPlane, name: str, status: str) -> bool:
    said = groups.said(api, name)
    return said is not None and said["status"] == status


def test_gangs_are_bound_as_a_whole_and_basic_groups_as_far_as_they_fit(
    control_plane: ControlPlane, api: Api, groups: GroupPlane, kubeconfig: Path, audit_log: Path
) -> None:
    for name in ("n1", "n2"):
        node(api, name, "4")
    with watcher(kubeconfig, groups) as program:
        program.until_ready()
        fits = group(api, groups, "fits", 3, "1", 3)
        create_pods(control_plane, fits[:2])
        create_pods(control_plane, [plain_pod("alone", NAME, "100m")])
        until(lambda: node_of(api, "alone"))
        assert nodes(api, fits[:2]) == ["", ""], "a gang waits for its pods"
        create_pods(control_plane, fits[2:])
        until(lambda: all(nodes(api, fits)))
        until(lambda: is_said(api, groups, "fits", "True"))
        for pod in fits:
            name = pod["metadata"]["name"]
            until(lambda name=name: len(events(api, name, "Scheduled")) == 1)  # type: ignore[misc]

        large = group(api, groups, "large", 3, "3500m", 2)
        create_pods(control_plane, large)
        until(lambda: is_said(api, groups, "large", "False"))
        first = large[0]["metadata"]["name"]
        told, *_ = until(lambda: events(api, first, "FailedScheduling"))
        assert told["reportingController"] == NAME
        assert nodes(api, large) == [""] * 3
        node(api, "n3", "4")
        node(api, "n4", "4")
        until(lambda: sum(map(bool, nodes(api, large))) == 2)
        until(lambda: is_said(api, groups, "large", "True"))

        basic = group(api, groups, "basic", 3, "1500m", None)
        create_pods(control_plane, basic)
        until(lambda: any(nodes(api, basic)))
        assert program.stop() == 0
    assert used_rights(audit_log) == {("scheduling.k8s.io", *each) for each in USED_RIGHTS}


def test_after_kills_no_gang_is_bound_in_part_and_all_that_fit_are_bound(
    control_plane: ControlPlane, api: Api, groups: GroupPlane, kubeconfig: Path
) -> None:
    chance = random.Random(21)  # noqa: S311 - to be repeatable
    for number in range(20):
        node(api, f"n{number}", "16")
    wanted: list[tuple[list[Json], bool]] = []
    made: list[Json] = []
    for number in range(GANGS):
        size = chance.randint(2, 8)
        too_large = number % 8 == 0
        minimum = None if number % 5 == 0 and not too_large else size
        pods = group(api, groups, f"g{number}", size, "17" if too_large else "500m", minimum)
        wanted.append((pods, not too_large))
        made += pods
    create_amid_kills(control_plane, kubeconfig, groups, made, 40, chance)
    with watcher(kubeconfig, groups) as program:
        program.until_ready()
        until(lambda: all(are_bound(api, [pod for pods, fits in wanted if fits for pod in pods])))
        for number, (_, fits) in enumerate(wanted):
            until(lambda name=f"g{number}", says=str(fits): is_said(api, groups, name, says))  # type: ignore[misc]
        assert program.stop() == 0
    for pods, fits in wanted:
        bound = are_bound(api, pods)
        assert all(bound) if fits else not any(bound)

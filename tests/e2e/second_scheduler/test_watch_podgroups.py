"""`bind --watch` as the only scheduler of groups, with the rights of the manifests, and killed meanwhile."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest

from tests.e2e.api import Api
from tests.e2e.binding_cluster import events, node, node_of
from tests.e2e.control_plane import ADMIN_TOKEN
from tests.e2e.group_planes import PLANES, GroupPlane
from tests.e2e.patience import until
from tests.e2e.second_scheduler.test_watch_manifests import GROUPS_ROLE, NAME, PATHS, manifest, right_of
from tests.e2e.watchers import WatcherProcess, audited_plane, create_pods, noted, plain_pod, pods_by_name
from tests.oracle.build import GoMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.api import Json
    from tests.e2e.control_plane import ControlPlane

pytestmark = pytest.mark.e2e

GANGS = 40
USED_RIGHTS = {("podgroups", "list"), ("podgroups", "watch"), ("podgroups/status", "patch")}
"""All of the role but those for CompositePodGroups, whose gate is off, and for the Workloads of 1.35."""


@pytest.fixture
def audit_log(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture(params=PLANES)
def groups(request: pytest.FixtureRequest) -> GroupPlane:
    """The gates and the API of a minor."""
    return PLANES[request.param]


@pytest.fixture
def control_plane(audit_log: Path, groups: GroupPlane) -> Iterator[ControlPlane]:
    flags = (groups.served,)
    try:
        with audited_plane(audit_log, feature_gates=groups.gates, more_flags=flags, minor=groups.minor) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane.port, ADMIN_TOKEN) as connection:
        yield connection


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, api: Api) -> Path:
    return kubeconfig_with_groups(control_plane, api)


def kubeconfig_with_groups(control_plane: ControlPlane, api: Api) -> Path:
    """Make the one of the ServiceAccount of the manifests, with the role for groups."""
    for each in manifest():
        if each["kind"] in {"ServiceAccount", "ClusterRole", "ClusterRoleBinding"}:
            api.create(PATHS[each["kind"]], each)
    subjects = [{"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": GROUPS_ROLE}
    about = {"name": f"{NAME}-groups"}
    api.create(PATHS["ClusterRoleBinding"], {"metadata": about, "roleRef": role, "subjects": subjects})
    path = f"{PATHS['ServiceAccount']}/{NAME}/token"
    token = api.create(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    given = control_plane.kubeconfig_for("service-account")
    given.write_text(given.read_text().replace('"service-account"', json.dumps(token["status"]["token"])))
    return given


def watcher(kubeconfig: Path, groups: GroupPlane) -> WatcherProcess:
    flags = ("--leader-elect=false", "--take-over", "--feature-gates", groups.gates)
    return WatcherProcess(kubeconfig, "--scheduler-name", NAME, *flags)


def group(api: Api, groups: GroupPlane, name: str, size: int, cpu: str, minimum: int | None) -> list[Json]:
    """Make a group, of the basic policy without a minimum; the pods that are to be made."""
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    api.create(groups.groups, {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy}})
    named = {"schedulingGroup": {"podGroupName": name}}
    return [plain_pod(f"{name}-{index}", NAME, cpu, **named) for index in range(size)]


def nodes(api: Api, pods: list[Json]) -> list[str]:
    return [node_of(api, pod["metadata"]["name"]) for pod in pods]


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
        (told,) = until(lambda: events(api, first, "FailedScheduling"))
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
    seen = [(right, event["responseStatus"]["code"]) for event in noted(audit_log) if (right := right_of(event))]
    assert 403 not in {code for _, code in seen}
    used = {right for right, _ in seen if right[0] == "scheduling.k8s.io"}
    assert used == {("scheduling.k8s.io", *each) for each in USED_RIGHTS}


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
    chance.shuffle(made)
    kills = 0
    while made:
        with watcher(kubeconfig, groups) as program:
            program.until_ready()
            part, made = made[:40], made[40:]
            create_pods(control_plane, part)
            time.sleep(chance.uniform(0.0, 0.4))
            program.kill()
            kills += 1
    with watcher(kubeconfig, groups) as program:
        all_of = [pod["metadata"]["name"] for pods, fits in wanted if fits for pod in pods]
        until(lambda: all(pods_by_name(api)[name]["spec"].get("nodeName") for name in all_of))
        for number, (_, fits) in enumerate(wanted):
            until(lambda name=f"g{number}", says=str(fits): is_said(api, groups, name, says))  # type: ignore[misc]
        assert program.stop() == 0
    assert kills >= 4
    now = pods_by_name(api)
    for pods, fits in wanted:
        bound = [bool(now[pod["metadata"]["name"]]["spec"].get("nodeName")) for pod in pods]
        assert all(bound) if fits else not any(bound)

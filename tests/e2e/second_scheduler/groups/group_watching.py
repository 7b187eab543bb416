"""`bind --watch` as the only scheduler of groups: started, killed meanwhile, and looked at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.e2e.binding_cluster import node_of
from tests.e2e.second_scheduler.test_watch_manifests import NAME, right_of
from tests.e2e.watchers import WatcherProcess, create_pods, noted, pods_by_name

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.e2e.api import Api, Json
    from tests.e2e.control_plane import ControlPlane
    from tests.e2e.group_planes import GroupPlane


def watcher(kubeconfig: Path, groups: GroupPlane) -> WatcherProcess:
    flags = ("--leader-elect=false", "--take-over", "--feature-gates", groups.gates)
    return WatcherProcess(kubeconfig, "--scheduler-name", NAME, *flags)


def nodes(api: Api, pods: list[Json]) -> list[str]:
    return [node_of(api, pod["metadata"]["name"]) for pod in pods]


def used_rights(audit_log: Path) -> set[tuple[str, ...]]:
    """The rights to the group scheduling.k8s.io that were used; nothing was refused."""
    seen = [(right, event["responseStatus"]["code"]) for event in noted(audit_log) if (right := right_of(event))]
    assert 403 not in {code for _, code in seen}
    return {right for right, _ in seen if right[0] == "scheduling.k8s.io"}


def create_amid_kills(
    plane: ControlPlane, kubeconfig: Path, groups: GroupPlane, pods: list[Json], at_once: int, chance: random.Random
) -> None:
    """Create the pods in a random order, so many at once, with a program for each part that is killed soon after."""
    chance.shuffle(pods)
    parts = range(0, len(pods), at_once)
    assert len(parts) >= 4
    for start in parts:
        with watcher(kubeconfig, groups) as program:
            program.until_ready()
            create_pods(plane, pods[start : start + at_once])
            time.sleep(chance.uniform(0.0, 0.4))
            program.kill()


def are_bound(api: Api, pods: list[Json]) -> list[bool]:
    now = pods_by_name(api)
    return [bool(now[pod["metadata"]["name"]]["spec"].get("nodeName")) for pod in pods]

"""Preemption for groups: beside kube-scheduler and `bind --watch --preempt`, each in a cluster of its own, the same."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api
from tests.e2e.binding_cluster import PODS, node, node_of
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.group_planes import PLANES, GroupPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.e2e.watchers import WatcherProcess
from tests.oracle.build import GoMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.api import Json

pytestmark = pytest.mark.e2e

WHOLE = "WorkloadAwarePreemption=true"
CASES = [
    pytest.param(
        "1.36", WHOLE, 3, ("pod group is unschedulable", "workload aware preemption enabled"), id="1.36-whole-groups"
    ),
    pytest.param(
        "1.36",
        "",
        2,
        ("pod group is unschedulable", "preemption: not eligible due to a terminating pod on the nominated node."),
        id="1.36-members-by-themselves",
    ),
    pytest.param("1.37", "", 3, ("pod group preemption: ongoing preemption on nominated nodes", ""), id="1.37"),
]
"""A minor, gates besides those of groups, how many pods have to go, and how the messages of group and members end.

The messages are those of a second attempt while the victims are going. Those of the first are there for a time that
chance decides: any event may bring the second about, the late one of a pod that went before the group came, too.
"""


def pod(name: str, cpu: str, priority: str, group: str | None = None, **spec: Any) -> Json:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    body = {"containers": [container], "priorityClassName": priority, **spec}
    if group is not None:
        body["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": name}, "spec": body}


def fill(api: Api, plane: GroupPlane) -> None:
    """Three nodes whose pods leave too little, but for n3, whose pods are as important as the group that comes."""
    for name, value in (("lowest", -20), ("low", -10), ("middle", 10), ("high", 100)):
        priority_class(api, name, value)
    for name, cpu in (("n1", "4"), ("n2", "6"), ("n3", "5")):
        node(api, name, cpu)
    mode: str | Json = "PodGroup" if plane.minor == "1.36" else {"all": {}}
    spec: Json = {"schedulingPolicy": {"basic": {}}, "disruptionMode": mode, "priorityClassName": "low"}
    api.create(plane.groups, {"metadata": {"name": "old"}, "spec": spec})
    api.create(PODS, pod("old-0", "1", "low", "old", nodeName="n1"))
    api.create(PODS, pod("old-1", "3", "low", "old", nodeName="n2"))
    api.create(PODS, pod("cheap", "2", "lowest", nodeName="n1"))
    api.create(PODS, pod("dear", "1", "middle", nodeName="n2"))
    api.create(PODS, pod("equal", "5", "high", nodeName="n3"))


def make_train(api: Api, plane: GroupPlane, **spec: Any) -> None:
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
    api.create(plane.groups, {"metadata": {"name": "train"}, "spec": policy | spec})
    for name in ("train-0", "train-1"):
        api.create(PODS, pod(name, "3", "high", "train", **spec))


def condition(item: Json, kind: str) -> tuple[str, ...]:
    found = (each for each in item.get("status", {}).get("conditions", []) if each["type"] == kind)
    return tuple(str(each.get(key, "")) for each in found for key in ("status", "reason", "message"))


def observed(api: Api, plane: GroupPlane) -> Json:
    """All that the scheduler has written, with nothing in it that differs from cluster to cluster."""
    pods = api.get(PODS)["items"]
    group = api.get(f"{plane.groups}/train")
    names = {item["metadata"]["uid"]: item["metadata"]["name"] for item in (*pods, group)}
    events = api.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    members = [item for item in pods if item["metadata"]["name"].startswith("train")]
    return {
        "group": condition(group, plane.condition_type),
        "members": sorted(
            [
                item["spec"].get("nodeName", ""),
                item["status"].get("nominatedNodeName", ""),
                *condition(item, "PodScheduled"),
            ]
            for item in members
        ),
        "victims": {
            item["metadata"]["name"]: ["deletionTimestamp" in item["metadata"], *condition(item, "DisruptionTarget")]
            for item in pods
            if item not in members
        },
        "preempted": sorted(
            [
                each["regarding"]["name"],
                re.sub(r"[0-9a-f-]{36}", lambda found: names.get(found[0], found[0]), each["note"]),
                *(str(each.get("related", {}).get(key)) for key in ("kind", "apiVersion")),
            ]
            for each in events
            if each["reason"] == "Preempted"
        ),
    }


@contextmanager
def cluster(plane: GroupPlane, gates: str, *, ours: bool) -> Iterator[Api]:
    all_gates = ",".join(filter(None, (plane.gates, gates)))
    with ExitStack() as stack:
        servers = stack.enter_context(
            ControlPlane(minor=plane.minor, feature_gates=all_gates, extra_apiserver_flags=(plane.served,))
        )
        api = stack.enter_context(Api(servers.port, ADMIN_TOKEN))
        fill(api, plane)
        if ours:
            flags = ("--scheduler-name", "default-scheduler", "--take-over", "--preempt", "--leader-elect=false")
            watcher = WatcherProcess(servers.kubeconfig, *flags, "--feature-gates", all_gates)
            stack.enter_context(watcher).until_ready()
        else:
            servers.start_scheduler()
        until_scheduled(api)
        yield api


def until_scheduled(api: Api) -> None:
    """Wait until a scheduler is at work: of pods that were there before it takes any first."""
    api.create(PODS, pod("first", "10m", "low"))
    until(lambda: node_of(api, "first"))
    api.delete(f"{PODS}/first", grace_seconds=0)


def free_a_little(api: Api) -> None:
    """End a pod of little use: what a node lacked CPU for is tried again."""
    api.create(PODS, pod("passing", "10m", "low", nodeName="n3"))
    api.delete(f"{PODS}/passing", grace_seconds=0)


def course(api: Api, plane: GroupPlane, *, victims: int, nominates: bool, endings: tuple[str, str]) -> list[Json]:
    """What is seen while so many victims are going and the group was tried again, and once they are gone."""
    make_train(api, plane)

    def is_preempting() -> bool:
        return are_going(observed(api, plane), victims=victims, nominates=nominates)

    until(is_preempting, lambda: str(observed(api, plane)))

    def tried_again() -> Json | None:
        free_a_little(api)
        seen = observed(api, plane)
        of_group, of_members = endings
        are_told = all(member[-1].endswith(of_members) for member in seen["members"])
        return seen if are_told and seen["group"][-1].endswith(of_group) else None

    going = until(tried_again, lambda: str(observed(api, plane)))
    for name, (is_going, *_) in going["victims"].items():
        if is_going:
            api.delete(f"{PODS}/{name}", grace_seconds=0)

    def is_bound() -> bool:
        return all(member[0] for member in observed(api, plane)["members"])

    until(is_bound, lambda: str(observed(api, plane)))
    until(lambda: observed(api, plane)["group"][:1] == ("True",), lambda: str(observed(api, plane)))
    return [going, observed(api, plane)]


def are_going(seen: Json, *, victims: int, nominates: bool) -> bool:
    """Report whether all is written that is when the victims are told to go."""
    going = {name for name, (is_going, *_) in seen["victims"].items() if is_going}
    told = {name for name, *_ in seen["preempted"]}
    are_told = all(len(each) > 2 and bool(each[1]) == nominates for each in seen["members"])
    return len(going) == victims and going == told and are_told and bool(seen["group"])


@pytest.mark.parametrize(("minor", "gates", "victims", "endings"), CASES)
def test_the_same_victims_go_and_the_group_is_bound_as_by_kube_scheduler(
    minor: str, gates: str, victims: int, endings: tuple[str, str]
) -> None:
    plane, seen = PLANES[minor], []
    try:
        for ours in (False, True):
            with cluster(plane, gates, ours=ours) as api:
                seen.append(course(api, plane, victims=victims, nominates=gates != WHOLE, endings=endings))
    except GoMissingError as missing:
        pytest.skip(str(missing))
    for theirs, own in zip(*seen, strict=True):
        for part, found in theirs.items():
            assert own[part] == found

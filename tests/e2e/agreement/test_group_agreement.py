"""Groups of pods go where `explain podgroup` says of the state in which the last of their pods came, or nowhere."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.e2e import kubelet
from tests.e2e.control_plane import ControlPlane
from tests.e2e.group_planes import PLANES, GroupPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError
from tests.oracle.group_decisions import replay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from tests.e2e.api import Api, Json

pytestmark = pytest.mark.e2e

ROUNDS = 40
NODES = {"a1": ("a", "3"), "a2": ("a", "5"), "b1": ("b", "6"), "b2": ("b", "9")}
RUNNING = {"a2": "500m", "b1": "2", "b2": "4300m"}
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module", params=PLANES)
def groups(request: pytest.FixtureRequest) -> GroupPlane:
    """The gates and the API of a minor."""
    return PLANES[request.param]


@pytest.fixture(scope="module")
def control_plane(groups: GroupPlane) -> Iterator[ControlPlane]:
    flags = (groups.served,)
    try:
        with ControlPlane(feature_gates=groups.gates, extra_apiserver_flags=flags, minor=groups.minor) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


def test_kube_scheduler_does_with_gangs_what_we_say(control_plane: ControlPlane, api: Api, groups: GroupPlane) -> None:
    for name, (zone, cpu) in NODES.items():
        node(api, name, zone, cpu)
    for name, cpu in RUNNING.items():
        api.create(PODS, pod(f"run-{name}", None, cpu, nodeName=name))
    control_plane.start_scheduler(config={"percentageOfNodesToScore": 100})
    chance = random.Random(36)  # noqa: S311 - to be repeatable
    seen: set[tuple[str, bool]] = set()
    for number in range(ROUNDS):
        size, cpu = chance.randint(2, 7), chance.choice(["500m", "1", "1500m", "2", "2500m"])
        key = chance.choice([None, "zone"])
        said = asked(api, groups, number, size, cpu, key)
        check(api, groups, said)
        seen.add((said.outcome.value, key is not None))
        settle(api)
    assert seen == {(outcome, keyed) for outcome in ("Schedulable", "Unschedulable") for keyed in (False, True)}


def node(api: Api, name: str, zone: str, cpu: str) -> None:
    about = {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}
    api.create("/api/v1/nodes", {"metadata": about})
    room = {"cpu": cpu, "memory": f"{cpu}Gi", "pods": "110"}
    api.merge(f"/api/v1/nodes/{name}/status", {"status": {"allocatable": room, "capacity": room}})


def asked(api: Api, groups: GroupPlane, number: int, size: int, cpu: str, key: str | None) -> PodGroupResult:
    """Make a gang, and its last pod when all is ready; return our answer for that state."""
    name = f"gang-{number:02}"
    constraints = {} if key is None else {"schedulingConstraints": {"topology": [{"key": key}]}}
    spec = {"schedulingPolicy": {"gang": {"minCount": size}}, **constraints}
    group = api.create(groups.groups, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})
    pods = [api.create(PODS, pod(f"{name}-{index}", name, cpu)) for index in range(size - 1)]
    before = [each for each in api.everything() if each["kind"] != "PodGroup"]
    pods.append(api.create(PODS, pod(f"{name}-{size - 1}", name, cpu)))
    named = {"apiVersion": f"scheduling.k8s.io/{groups.versions[0]}", "kind": "PodGroup"} | group
    objects = [*before, named, {"apiVersion": "v1", "kind": "Pod"} | pods[-1]]
    request = {"objects": objects, "config": "", "featureGates": switches(groups), "groups": [f"default/{name}"]}
    return replay(request, groups.minor)[f"default/{name}"]


def switches(groups: GroupPlane) -> dict[str, bool]:
    """The gates by name."""
    pairs = (each.partition("=") for each in groups.gates.split(","))
    return {name: value == "true" for name, _, value in pairs}


def pod(name: str, group: str | None, cpu: str, **fields: str) -> Json:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0} | fields
    if group is not None:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def check(api: Api, groups: GroupPlane, said: PodGroupResult) -> None:
    """What happens is what was said."""
    until(lambda: differs(api, groups, said) is None, lambda: str(differs(api, groups, said)))


def differs(api: Api, groups: GroupPlane, said: PodGroupResult) -> str | None:
    """What is not (yet) as we said, None where all is.

    The choice among ties, and what follows from it, is free; so is which of the pods, which are alike, comes first, and
    which of several placements that do not fit: kube-scheduler goes through a Go map.
    """
    name = said.info.group.name
    condition = groups.said(api, name)
    is_free = any(len(member.tied) > 1 for member in said.members) or len(said.best) > 1
    assert said.condition is not None
    assert said.condition.type == groups.condition_type
    if condition is None or condition["status"] != said.condition.status:
        return f"{name} is to have {said.condition}, but has {condition}"
    if said.condition.status == "False" and condition["message"] not in {*told(said)}:
        return f"{name} is to be told one of {[*told(said)]}, but is told {condition['message']}"
    now = [api.get(f"{PODS}/{member.pod.name}") for member in said.members]
    nodes = sorted(each["spec"].get("nodeName", "") for each in now)
    ours = sorted(member.node_name or "" for member in said.members)
    if nodes.count("") != ours.count("") or (not is_free and nodes != ours):
        return f"the pods of {name} are to be on {ours}, but are on {nodes}"
    messages = sorted(str(member.message) for member in said.members if member.node_name is None)
    theirs = sorted(str(message_of(each)) for each in now if "nodeName" not in each["spec"])
    if len(said.placements) == 1 and messages != theirs:
        return f"the pods of {name} are to be told {messages}, but are told {theirs}"
    return None


def told(said: PodGroupResult) -> Iterator[str]:
    """The condition's message, for each placement as the first that does not fit."""
    assert said.condition is not None
    named = said.placements[0].status.message
    return (said.condition.message.replace(named, each.status.message) for each in said.placements)


def message_of(pod: Json) -> str | None:
    found = (each.get("message") for each in pod["status"].get("conditions", []) if each["type"] == "PodScheduled")
    return next(found, None)


def settle(api: Api) -> None:
    """The gang's pods go."""
    for each in gangs(api):
        api.delete(kubelet.pod_path(each), grace_seconds=0)
    until(lambda: not gangs(api), lambda: "pods stay")


def gangs(api: Api) -> list[Json]:
    return [each for each in api.get(PODS)["items"] if "schedulingGroup" in each["spec"]]

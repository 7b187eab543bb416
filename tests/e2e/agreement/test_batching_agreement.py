"""Equal pods that wait together land where we say, with opportunistic batching under a profile that signs them."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e import kubelet
from tests.e2e.patience import until
from tests.oracle.generate.loops import preferring
from tests.oracle.loops.following import followed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.api import Api, Json
    from tests.e2e.control_plane import ControlPlane

pytestmark = pytest.mark.e2e

QUEUES = (1, 37, 42, 53, 94, 116)
"""Seeds, of which most have queues where a hint changes a placement, unless chance falls otherwise."""

ATTEMPT = re.compile(r'"Attempting to schedule pod" pod="([^"]+)"')
KINDS = {"Node": "/api/v1/nodes", "Pod": "/api/v1/namespaces/default/pods"}


def test_pods_that_wait_together_land_where_we_say(control_plane: ControlPlane, api: Api) -> None:
    changed = 0
    for seed in QUEUES:
        request = preferring(random.Random(seed))  # noqa: S311 - to be repeatable
        populate(api, request["objects"])
        before = api.everything()
        fields = json.loads(request["config"])
        scheduler = control_plane.start_scheduler(config={"profiles": fields["profiles"]}, label=f"scheduler-{seed}")
        until(lambda: all(map(is_decided, pods(api))), lambda: f"some pod waits: {pods(api)}")
        steps = [{"pod": name, "node": node_of(api, name)} for name in attempted(scheduler.log)]
        scheduler.stop()
        objects = in_order(before, attempted(scheduler.log))
        ours = followed({**request, "objects": objects}, steps, "1.36")
        assert [(each.pod.key, each.node) for each in ours] == [(each["pod"], each["node"]) for each in steps]
        changed += sum(each.instead_of is not None for each in ours)
        clear(api)
    assert changed, "no pod took the next node of the cached order"


def populate(api: Api, objects: list[Json]) -> None:
    for item in objects:
        about = {key: value for key, value in item["metadata"].items() if key in {"name", "namespace", "labels"}}
        spec = {
            key: value for key, value in item.get("spec", {}).items() if not key.startswith(("priority", "preempt"))
        }
        made = {"metadata": about, "spec": spec}  # the API server sets the priority, which is equal
        api.create(KINDS[item["kind"]], made)
        if item["kind"] == "Node":
            room = item["status"]["allocatable"]
            status = {"allocatable": room, "capacity": room}
            api.merge(f"/api/v1/nodes/{about['name']}/status", {"status": status})
            api.merge(f"/api/v1/nodes/{about['name']}", {"spec": {"taints": item.get("spec", {}).get("taints")}})


def in_order(objects: list[Json], names: list[str]) -> list[Json]:
    """Return the objects with the pods that wait in the order of their first attempts; informers know no order."""
    waiting = {f"default/{each['metadata']['name']}": each for each in objects if each["kind"] == "Pod"}
    taken = [waiting[name] for name in names]
    since = taken[0]["metadata"]["creationTimestamp"]
    alike = [each | {"metadata": each["metadata"] | {"creationTimestamp": since}} for each in taken]
    return [*(each for each in objects if each not in taken), *alike]


def clear(api: Api) -> None:
    for path in reversed(KINDS.values()):
        for item in api.get(path)["items"]:
            api.delete(f"{path}/{item['metadata']['name']}", grace_seconds=0)
    until(lambda: not pods(api), lambda: "pods stay")


def pods(api: Api) -> list[Json]:
    found: list[Json] = api.get(KINDS["Pod"])["items"]
    return found


def is_decided(pod: Json) -> bool:
    conditions = {each["type"] for each in pod["status"].get("conditions", [])}
    return "nodeName" in pod["spec"] or "PodScheduled" in conditions


def node_of(api: Api, name: str) -> str | None:
    namespace, _, name = name.partition("/")
    pod = {"metadata": {"namespace": namespace, "name": name}}
    node: str | None = api.get(kubelet.pod_path(pod))["spec"].get("nodeName")
    return node


def attempted(log: Path) -> list[str]:
    """The pods in the order of their first attempts."""
    return list(dict.fromkeys(ATTEMPT.findall(log.read_text(errors="replace"))))

"""GangScheduling: what one pod of a group meets, with Workloads (1.35), PodGroups (1.36) and their trees (1.37)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.gang_scheduling import GangScheduling
from tests.plugins.clusters import make, node, pod, snapshot

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot

TOO_FEW = ("waiting for minCount pods from a gang to appear in scheduling queue",)


def workload(**policy: Any) -> Workload:
    groups = [{"name": "workers", "policy": policy}]
    return msgspec.convert({"metadata": _named("job"), "spec": {"podGroups": groups}}, Workload)


def group(name: str = "workers", *, parent: str | None = None, **policy: Any) -> PodGroup:
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if parent is not None:
        spec["parentCompositePodGroupName"] = parent
    return msgspec.convert({"metadata": _named(name), "spec": spec}, PodGroup)


def composite(name: str, *, parent: str | None = None, **policy: Any) -> CompositePodGroup:
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if parent is not None:
        spec["parentCompositePodGroupName"] = parent
    return msgspec.convert({"metadata": _named(name), "spec": spec}, CompositePodGroup)


def _named(name: str) -> dict[str, str]:
    return {"name": name, "namespace": "default"}


def member(name: str, *, on: str = "", of: str = "workers") -> Pod:
    return pod(name, on=on, schedulingGroup={"podGroupName": of})


def part(name: str, *, on: str = "") -> Pod:
    return pod(name, on=on, workloadRef={"name": "job", "podGroup": "workers"})


def entered(incoming: Pod, nodes: Snapshot, version: str) -> Status:
    return make(GangScheduling, None, version).pre_enqueue(incoming, nodes)


def permits(incoming: Pod, nodes: Snapshot, version: str) -> list[str]:
    one = make(GangScheduling, None, version)
    return [action.action for action in one.binding_actions(CycleState(), incoming, nodes, 0)]


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_pod_of_no_group_enters(version: str) -> None:
    nodes = snapshot(node(), version=version)
    assert entered(pod(), nodes, version).is_success
    assert permits(pod(), nodes, version) == []


def test_workload_has_to_be_there() -> None:
    nodes = snapshot(node(), version="1.35")
    said = ('waiting for pods\'s workload "job" to appear in scheduling queue',)
    assert entered(part("a"), nodes, "1.35").reasons == said


def test_group_has_to_be_in_the_workload() -> None:
    other = msgspec.convert({"metadata": _named("job"), "spec": {"podGroups": []}}, Workload)
    said = ('pod group "workers" doesn\'t exist for a workload "job"',)
    assert entered(part("a"), snapshot(node(), other, version="1.35"), "1.35").reasons == said


def test_gang_of_workload_counts_all_its_pods() -> None:
    gang = workload(gang={"minCount": 2})
    alone = snapshot(node(), gang, part("a"), version="1.35")
    assert entered(part("a"), alone, "1.35").reasons == TOO_FEW
    together = snapshot(node(), gang, part("a"), part("b", on="w1"), version="1.35")
    assert entered(part("a"), together, "1.35").is_success
    assert permits(part("a"), together, "1.35") == ["let the gang pass: 2 of at least 2 pods have a node"]


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_gang_waits_for_its_pods(version: str) -> None:
    gang = group(gang={"minCount": 2})
    assert entered(member("a"), snapshot(node(), gang, version=version), version).reasons == TOO_FEW
    together = snapshot(node(), gang, member("b"), version=version)
    assert entered(member("a"), together, version).is_success
    assert permits(member("a"), together, version) == [
        "wait for the gang: 1 of at least 2 pods have a node, this one counted"
    ]


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_group_without_gang_lets_pass(version: str) -> None:
    nodes = snapshot(node(), group(basic={}), version=version)
    assert entered(member("a"), nodes, version).is_success
    assert permits(member("a"), nodes, version) == []


def test_group_has_to_be_there() -> None:
    said = ('waiting for pods\'s pod group "workers" to appear in scheduling queue',)
    assert entered(member("a"), snapshot(node()), "1.36").reasons == said


def tree(*objects: Any, version: str = "1.37") -> Status:
    needed = dict.fromkeys(("CompositePodGroup", "GenericWorkload", "TopologyAwareWorkloadScheduling"), True)
    one = make(GangScheduling, None, version, **needed)
    return one.pre_enqueue(member("a"), snapshot(node(), *objects, version=version))


def test_tree_waits_for_its_groups() -> None:
    top = composite("job", gang={"minGroupCount": 2})
    mine, other = group(parent="job", basic={}), group("others", parent="job", basic={})
    said = ('waiting for composite pod group "job" tree to meet quorum',)
    assert tree(top, mine, other).reasons == said
    assert tree(top, mine, other, member("b", of="others")).is_success


def test_broken_trees_say_so() -> None:
    start = "failed to build hierarchy snapshot: "
    (missing,) = tree().reasons
    assert missing.startswith(f"{start}pod group object not found")
    (orphan,) = tree(group(parent="job", basic={})).reasons
    assert orphan.startswith(start)
    (cycle,) = tree(
        group(parent="one", basic={}),
        composite("one", parent="two", basic={}),
        composite("two", parent="one", basic={}),
    ).reasons
    assert cycle.startswith(f"{start}cycle detected")


def test_since_1_38_the_group_on_top_decides() -> None:
    mine = group(parent="job", basic={})
    (orphan,) = tree(mine, version="1.38").reasons
    assert orphan == 'pod group "workers" or one of its composite pod group ancestors has not been created yet'
    (few,) = tree(mine, composite("job", gang={"minGroupCount": 2}), version="1.38").reasons
    assert few == "waiting for compositepodgroup/default/job to meet its quorum"
    (alone,) = tree(group(gang={"minCount": 2}), version="1.38").reasons
    assert alone == "waiting for podgroup/default/workers to meet its quorum"
    assert tree(mine, composite("job", basic={}), version="1.38").is_success
    (cycle,) = tree(
        group(parent="one", basic={}),
        composite("one", parent="two", basic={}),
        composite("two", parent="one", basic={}),
        version="1.38",
    ).reasons
    named = " ".join(f"{kind}/default/{name}" for kind, name in CYCLE)
    assert cycle == f"cycle detected in the hierarchy: [{named}]"


CYCLE = (
    ("podgroup", "workers"),
    ("compositepodgroup", "one"),
    ("compositepodgroup", "two"),
    ("compositepodgroup", "one"),
)


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_pods_of_a_node_that_is_gone_count_still(version: str) -> None:
    one, gang = (part, workload(gang={"minCount": 2})) if version == "1.35" else (member, group(gang={"minCount": 2}))
    nodes = snapshot(node(), gang, one("b", on="gone"), version=version)
    assert entered(one("a"), nodes, version).is_success
    assert permits(one("a"), nodes, version) == ["let the gang pass: 2 of at least 2 pods have a node"]

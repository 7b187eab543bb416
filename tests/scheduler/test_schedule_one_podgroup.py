"""The cycle of a group over small clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.affinity import Affinity
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests, snapshot

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult

MINORS = ("1.36", "1.37")
SMALL = {"cpu": "4", "memory": "8Gi", "pods": "110"}
ZONES = {"a1": "a", "a2": "a", "b1": "b"}


def group(minimum: int | None = None, *, key: str | None = None, **fields: Any) -> PodGroup:
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    constraints = {} if key is None else {"schedulingConstraints": {"topology": [{"key": key}]}}
    status = fields.pop("status", {})
    metadata = {"name": "train", "namespace": "default", "uid": "uid-train"}
    spec = {"schedulingPolicy": policy, **constraints, **fields}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, PodGroup)


def members(count: int, cpu: str = "3", **fields: Any) -> list[Pod]:
    return [
        pod(f"m{index}", schedulingGroup={"podGroupName": "train"}, **requests(cpu=cpu), **fields)
        for index in range(count)
    ]


def zones() -> list[KubernetesObject]:
    return [node(name, labels={"zone": zone}, allocatable=SMALL) for name, zone in ZONES.items()]


def run(minor: str, asked: PodGroup, *objects: KubernetesObject, **gates: bool) -> PodGroupResult:
    on = {"GenericWorkload": True, **({"GangScheduling": True} if minor == "1.36" else {}), **gates}
    configuration = load_configuration(None, KubeVersion.parse(minor), on)
    return explain_podgroup(asked, Scheduler(configuration, snapshot(asked, *objects, version=minor)))


def nodes_of(result: PodGroupResult) -> dict[str, str | None]:
    return {member.pod.metadata.name: member.node_name for member in result.members}


@pytest.mark.parametrize("minor", MINORS)
def test_each_member_sees_those_before_it(minor: str) -> None:
    result = run(minor, group(3), *zones(), *members(3))
    assert result.outcome is Outcome.SCHEDULABLE
    assert nodes_of(result) == {"m0": "a1", "m1": "a2", "m2": "b1"}


@pytest.mark.parametrize("minor", MINORS)
def test_a_gang_that_fits_in_part_gets_nothing(minor: str) -> None:
    result = run(minor, group(4), *zones(), *members(4))
    assert result.outcome is Outcome.UNSCHEDULABLE
    assert set(nodes_of(result).values()) == {None}
    assert result.condition is not None
    assert result.condition.status == "False"


@pytest.mark.parametrize("minor", MINORS)
def test_a_basic_group_takes_what_fits(minor: str) -> None:
    result = run(minor, group(), *zones(), *members(4))
    assert result.outcome is Outcome.SCHEDULABLE
    assert nodes_of(result)["m3"] is None


@pytest.mark.parametrize("minor", MINORS)
def test_a_gang_waits_for_its_pods(minor: str) -> None:
    result = run(minor, group(3), *zones(), *members(2))
    assert result.outcome is Outcome.GATED
    assert result.members[0].message == "waiting for minCount pods from a gang to appear in scheduling queue"


def test_a_gated_member_holds_back_its_group_since_1_37() -> None:
    gated = pod("x", schedulingGroup={"podGroupName": "train"}, schedulingGates=[{"name": "a.io/x"}])
    assert run("1.36", group(2), *zones(), *members(2), gated).outcome is Outcome.SCHEDULABLE
    assert run("1.37", group(2), *zones(), *members(2), gated).outcome is Outcome.GATED


@pytest.mark.parametrize("minor", MINORS)
def test_pods_of_another_scheduler_do_not_make_a_gang_complete(minor: str) -> None:
    other = pod("x", schedulingGroup={"podGroupName": "train"}, schedulerName="another")
    assert run(minor, group(3), *zones(), *members(2), other).outcome is Outcome.GATED


@pytest.mark.parametrize("minor", MINORS)
def test_all_members_go_to_one_domain(minor: str) -> None:
    result = run(minor, group(2, key="zone"), *zones(), *members(2), TopologyAwareWorkloadScheduling=True)
    assert nodes_of(result) == {"m0": "a1", "m1": "a2"}
    assert {each.placement.name: each.fits for each in result.placements} == {"a": 2, "b": 1}
    assert result.best == ("a",)


@pytest.mark.parametrize("minor", MINORS)
def test_the_domain_of_running_members_is_the_only_one(minor: str) -> None:
    running = pod("r", on="b1", schedulingGroup={"podGroupName": "train"})
    objects = (*zones(), *members(1, "1"), running)
    result = run(minor, group(2, key="zone"), *objects, TopologyAwareWorkloadScheduling=True)
    assert [each.placement.name for each in result.placements] == ["b"]
    assert nodes_of(result) == {"m0": "b1"}


@pytest.mark.parametrize("minor", MINORS)
def test_the_fuller_of_two_domains_is_better(minor: str) -> None:
    objects = [node("a1", labels={"zone": "a"}, allocatable=SMALL), node("b1", labels={"zone": "b"}, allocatable=SMALL)]
    used = pod("used", on="b1", **requests(cpu="2"))
    result = run(minor, group(1, key="zone"), *objects, used, *members(1, "1"), TopologyAwareWorkloadScheduling=True)
    assert result.totals is not None
    assert result.totals[0] < result.totals[1]
    assert result.best == ("b",)


def preempting(minor: str) -> dict[str, bool]:
    return {"WorkloadAwarePreemption": True} if minor == "1.36" else {}


@pytest.mark.parametrize("minor", MINORS)
def test_preemption_for_the_group_spares_what_it_can(minor: str) -> None:
    victims = [
        pod("big", on="a1", **requests(cpu="2"), status={"startTime": "2026-01-01T00:00:00Z"}),
        pod("small", on="a2", **requests(cpu="1"), status={"startTime": "2026-01-01T00:00:00Z"}),
    ]
    objects = (*zones(), *victims, *members(3, priority=10))
    result = run(minor, group(3, priority=10), *objects, **preempting(minor))
    assert result.outcome is Outcome.UNSCHEDULABLE
    assert result.is_waiting_on_preemption
    assert [victim.metadata.name for victim in result.victims] == ["big"]


@pytest.mark.parametrize("minor", MINORS)
def test_a_victim_group_goes_as_a_whole(minor: str) -> None:
    mode: object = "PodGroup" if minor == "1.36" else {"all": {}}
    batch = msgspec.structs.replace(group(), metadata=msgspec.structs.replace(group().metadata, name="batch"))
    batch = msgspec.structs.replace(batch, spec=msgspec.structs.replace(batch.spec, disruption_mode=_mode(mode)))
    running = [
        pod(f"b{index}", on=name, schedulingGroup={"podGroupName": "batch"}, **requests(cpu="2"))
        for index, name in enumerate(("a1", "a2"))
    ]
    objects = (*zones(), batch, *running, *members(2, priority=10))
    result = run(minor, group(2, priority=10), *objects, **preempting(minor))
    assert sorted(victim.metadata.name for victim in result.victims) == ["b0", "b1"]


def _mode(mode: object) -> Any:
    converted = msgspec.convert({"spec": {"disruptionMode": mode}, "metadata": {"name": "x"}}, PodGroup)
    return converted.spec.disruption_mode


def test_a_group_with_a_topology_does_not_preempt_in_1_36() -> None:
    victim = pod("v", on="a1", **requests(cpu="4"))
    gates = {"WorkloadAwarePreemption": True, "TopologyAwareWorkloadScheduling": True}
    result = run("1.36", group(2, key="zone", priority=10), *zones(), victim, *members(2, priority=10), **gates)
    assert result.status.message.endswith(
        "workload aware preemption is not supported for pod groups with scheduling constraints"
    )


def test_members_of_another_priority_are_refused_since_1_37() -> None:
    result = run("1.37", group(1, priority=10), *zones(), *members(1))
    assert result.outcome is Outcome.ERROR
    assert result.members[0].message == (
        "all pods in a single pod group should have the same priority as the pod group's priority, got 0 and 10"
    )


@pytest.mark.parametrize("minor", MINORS)
def test_a_group_that_was_scheduled_once_keeps_its_condition(minor: str) -> None:
    kind = "PodGroupScheduled" if minor == "1.36" else "PodGroupInitiallyScheduled"
    asked = group(4, status={"conditions": [{"type": kind, "status": "True"}]})
    assert run(minor, asked, *zones(), *members(4)).condition is None


def test_a_member_is_queued_by_the_priority_of_its_group_since_1_37() -> None:
    urgent = group(1, priority=100)
    objects = (*zones(), urgent, pod("other", priority=50), *members(1))
    for minor, position in (("1.36", 2), ("1.37", 1)):
        configuration = load_configuration(None, KubeVersion.parse(minor), {"GenericWorkload": True})
        scheduler = Scheduler(configuration, snapshot(*objects, version=minor))
        place = scheduler.queue_place(scheduler.schedule_one(members(1)[0]))
        assert place is not None
        assert place.position == position


def tree(minimum: int, *, key: str | None = None, **fields: Any) -> CompositePodGroup:
    constraints = {} if key is None else {"schedulingConstraints": {"topology": [{"key": key}]}}
    spec = {"schedulingPolicy": {"gang": {"minGroupCount": minimum}}, **constraints, **fields}
    return msgspec.convert({"metadata": {"name": "tree", "namespace": "default"}, "spec": spec}, CompositePodGroup)


def leaf(name: str, minimum: int, count: int, **fields: Any) -> list[KubernetesObject]:
    own = group(minimum, parentCompositePodGroupName="tree", **fields)
    named = msgspec.structs.replace(own, metadata=msgspec.structs.replace(own.metadata, name=name))
    inside = {"schedulingGroup": {"podGroupName": name}, **requests(cpu="3")}
    return [named, *(pod(f"{name}-{index}", priority=5, **inside) for index in range(count))]


def run_tree(*objects: KubernetesObject, asked: CompositePodGroup) -> PodGroupResult:
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True}
    configuration = load_configuration(None, KubeVersion.parse("1.37"), gates)
    return explain_podgroup(asked, Scheduler(configuration, snapshot(asked, *objects, version="1.37")))


def test_the_groups_of_a_tree_are_placed_one_beside_the_other() -> None:
    result = run_tree(*zones(), *leaf("one", 2, 2), *leaf("two", 1, 1), asked=tree(2, priority=5))
    assert result.outcome is Outcome.SCHEDULABLE
    assert nodes_of(result) == {"one-0": "a1", "one-1": "a2", "two-0": "b1"}
    assert [child.condition.status for child in result.children if child.condition] == ["True", "True"]


def test_a_group_that_fits_goes_nowhere_with_its_tree() -> None:
    result = run_tree(*zones(), *leaf("one", 2, 2), *leaf("two", 2, 2), asked=tree(2, priority=5))
    one, two = result.children
    assert {result.outcome, one.outcome, two.outcome} == {Outcome.UNSCHEDULABLE}
    assert (one.inherits, two.inherits) == (True, False)
    assert result.chosen is not None
    assert result.chosen.fits == 1


def test_a_tree_does_without_a_group_that_does_not_fit() -> None:
    result = run_tree(*zones(), *leaf("one", 2, 2), *leaf("two", 2, 2), asked=tree(1, priority=5))
    assert result.outcome is Outcome.SCHEDULABLE
    assert nodes_of(result) == {"one-0": "a1", "one-1": "a2", "two-0": None, "two-1": None}


def test_a_group_chooses_its_domain_inside_that_of_its_tree() -> None:
    objects = [*leaf("one", 1, 1, schedulingConstraints={"topology": [{"key": "host"}]})]
    nodes = [node(name, labels={"zone": zone, "host": name}, allocatable=SMALL) for name, zone in ZONES.items()]
    full = pod("full", on="a1", **requests(cpu="4"))
    result = run_tree(*nodes, full, *objects, asked=tree(1, key="zone", priority=5))
    in_a = result.placements[0].children[0]
    assert [each.placement.name for each in in_a.placements] == ["a1", "a2"]
    assert [each.placement.name for each in in_a.feasible] == ["a2"]


def test_preemption_for_a_tree_takes_the_priority_of_the_tree() -> None:
    victims = [pod(f"v{index}", on=name, **requests(cpu="4")) for index, name in enumerate(ZONES)]
    result = run_tree(*zones(), *victims, *leaf("one", 1, 1), *leaf("two", 1, 1), asked=tree(2, priority=5))
    assert result.is_waiting_on_preemption
    assert len(result.victims) == 2
    assert {member.nominated_node for member in result.members} == {"a1", "a2"}


def test_members_on_their_nodes_do_not_use_the_shared_claim_before_the_cycle_ends() -> None:
    only_on_a1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a1"]}]}
    allocation = {"devices": {"results": []}, "nodeSelector": {"nodeSelectorTerms": [only_on_a1]}}
    metadata = {"name": "shared", "namespace": "default", "uid": "uid-shared"}
    claim = msgspec.convert({"metadata": metadata, "status": {"allocation": allocation}}, ResourceClaim)
    users = members(2, resourceClaims=[{"name": "d", "resourceClaimName": "shared"}])
    result = run("1.36", group(1), *zones(), claim, *users)
    assert nodes_of(result) == {"m0": "a1", "m1": None}
    assert "deallocation of ResourceClaim completed" in (result.members[1].message or "")


@pytest.mark.parametrize(("minor", "ours"), [("1.36", "a1"), ("1.37", None)])
def test_anti_affinity_of_a_member_counts_in_its_cycle_since_1_37(minor: str, ours: str | None) -> None:
    term = {"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"}
    away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    shy, other = members(2, "1")
    shy = msgspec.structs.replace(shy, spec=msgspec.structs.replace(shy.spec, affinity=msgspec.convert(away, Affinity)))
    only = node("a1", labels={"kubernetes.io/hostname": "a1"}, allocatable=SMALL)
    assert nodes_of(run(minor, group(), only, shy, other)) == {"m0": "a1", "m1": ours}
    gate = {"InterPodAffinityHostnameFastPath": False} if minor == "1.37" else {}
    assert nodes_of(run(minor, group(), only, shy, other, **gate)) == {"m0": "a1", "m1": ours}


@pytest.mark.parametrize(("minor", "ours"), [("1.36", "a1"), ("1.37", None)])
def test_a_claim_of_a_member_is_in_use_in_its_cycle_since_1_37(minor: str, ours: str | None) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    spec = {"accessModes": ["ReadWriteOncePod"], "volumeName": "disk"}
    metadata = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}, "name": "data", "namespace": "default"}
    claim = msgspec.convert(
        {"metadata": metadata, "spec": spec, "status": {"phase": "Bound"}},
        PersistentVolumeClaim,
    )
    disk = msgspec.convert({"metadata": {"name": "disk"}}, PersistentVolume)
    pair = members(2, "1", volumes=volumes)
    only = node("a1", allocatable=SMALL)
    assert nodes_of(run(minor, group(), only, claim, disk, *pair)) == {"m0": "a1", "m1": ours}


@pytest.mark.parametrize("minor", MINORS)
def test_a_nominated_node_outside_the_placement_is_not_asked(minor: str) -> None:
    """Whichever plugin would reject it there is not among those that left nodes out."""
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a1"]}]}
    pinned = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}}
    (member,) = members(1, "9", affinity=msgspec.convert(pinned, Affinity))
    nominated = msgspec.structs.replace(member.status, nominated_node_name="b1")
    member = msgspec.structs.replace(member, status=nominated)
    cordoned = node("b1", labels={"zone": "b"}, allocatable=SMALL, unschedulable=True)
    objects = [*zones()[:2], cordoned, member]
    result = run(minor, group(1, key="zone"), *objects, TopologyAwareWorkloadScheduling=True)
    messages = [placement.attempts[0].result.message for placement in result.placements]
    assert messages == [
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
        "0/1 nodes are available: 1 node(s) were unschedulable.",
    ]


@pytest.mark.parametrize("minor", MINORS)
def test_members_that_share_an_unbound_claim_find_a_volume_that_is_set_aside_for_it(minor: str) -> None:
    """The real schedulers see it so: the claim has its volume only once the volume controller has bound it."""
    here = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a1"]}]}
    local = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"]}
    of_a1 = {"capacity": {"storage": "1Gi"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [here]}}}
    disk = {"metadata": {"name": "disk"}, "spec": {**local, **of_a1}, "status": {"phase": "Available"}}
    named = {"name": "data", "namespace": "default", "uid": "uid-data"}
    claim = {"metadata": named, "spec": {**local, "resources": {"requests": {"storage": "1Gi"}}}}
    nobody = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    volumes = [
        msgspec.convert(disk, PersistentVolume),
        msgspec.convert(claim, PersistentVolumeClaim),
        msgspec.convert({"metadata": {"name": "local"}, **nobody}, StorageClass),
    ]
    nodes = [node(name, labels={"kubernetes.io/hostname": name}, allocatable=SMALL) for name in ("a1", "a2")]
    pair = members(2, "3", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    result = run(minor, group(2), *nodes, *volumes, *pair)
    second = result.placements[0].attempts[1].result
    assert (second.message or "").startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't find available persistent volumes to bind."
    )

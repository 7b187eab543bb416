"""A plan that makes room keeps its promises: every pod that moves lands again, and no shorter plan was there."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.make_room import MakeRoomAnswer, MakeRoomQuestion, make_room
from kubectl_sched.render.answers.make_room import about_search, plan_document
from kubectl_sched.render.document import Commands, Sentence
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.evictable_pods import EvictionRules
from kubectl_sched.simulation.relocation import CORDON, EVICT, Relocation, with_cordon, without_cordon
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.suggestions.room_candidates import Bounds
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.storage_objects import claim, using, volume
from tests.program import run
from tests.simulation.fragmented import fragmented

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.simulation.relocation import Step
    from kubectl_sched.snapshot import Snapshot

GPUS = "fixtures/room/gpus.yaml"
MOST = 2
"""The number of evictions up to which the slow search looks."""


def plan(*objects: KubernetesObject, target: str = "pod/waiting", **fields: Any) -> MakeRoomAnswer:
    return make_room(
        MakeRoomQuestion(target=target, replay=Replay(kube_version="1.36"), **fields), Dump(objects=objects)
    )


def owned(name: str, on: str = "", kind: str = "ReplicaSet", labels: dict[str, str] | None = None, **spec: Any) -> Pod:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-of-{name}", "controller": True}
    annotations = spec.pop("annotations", {})
    metadata = {"ownerReferences": [owner], "labels": labels or {}, "annotations": annotations}
    return pod(name, on=on, metadata=metadata, **{**requests(cpu="2"), **spec})


def evictions(answer: MakeRoomAnswer) -> list[Pod]:
    return [step.pod for step in answer.steps if step.pod is not None]


SMALL = {"cpu": "4", "memory": "16Gi", "pods": "9"}


def small(name: str, cpu: str = "4") -> Node:
    return node(name, labels={"kubernetes.io/hostname": name}, allocatable=SMALL | {"cpu": cpu})


def two_halves(**of_first: Any) -> tuple[KubernetesObject, ...]:
    """Two nodes with half of each free, and a pod that wants a whole one."""
    waiting = pod("waiting", **requests(cpu="4"))
    return small("w1"), small("w2"), owned("a", "w1", **of_first), owned("z", "w2", kind="Job"), waiting


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 10**6))
def test_every_pod_that_moves_lands_again_and_no_budget_is_violated_at_any_step(seed: int) -> None:
    objects = fragmented(seed)
    answer = plan(*objects)
    if not answer.found:
        assert answer.steps == ()
        return
    budgets = [each for each in objects if isinstance(each, PodDisruptionBudget)]
    taken: Counter[str] = Counter()
    nodes, relocation = world(objects)
    for step in answer.steps:
        if step.pod is None:
            nodes = (with_cordon if step.action == CORDON else without_cordon)(nodes, step.node)
            continue
        for budget in budgets:
            if step.pod.metadata.labels["app"] == budget.name:
                taken[budget.name] += 1
                assert taken[budget.name] <= budget.status.disruptions_allowed
        assert step.pod.metadata.annotations.do_not_disrupt is None
        moved = relocation.evicted(nodes, step.pod)
        assert moved.landing is not None
        assert moved.landing.tied == step.tied
        nodes = relocation.placed(moved.nodes, moved.landing, step.lands or "")
    landing = relocation.landing(waiting(objects), nodes)
    assert landing is not None
    assert landing.tied == answer.placed[0].tied
    assert not nodes.unschedulable.any()


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 10**6))
def test_wherever_tied_pods_land_the_rest_of_the_plan_goes_through(seed: int) -> None:
    objects = fragmented(seed)
    nodes, relocation = world(objects)
    answer = plan(*objects)
    for after in ends(relocation, nodes, answer.steps) if answer.found else ():
        assert after is not None
        assert relocation.landing(waiting(objects), after) is not None


def test_a_tie_after_a_tie_is_followed_too() -> None:
    """Each pod fits on two of three nodes: whichever the first takes, the second must leave the third one a node."""
    pairs = {"a": ("w2", "w3"), "b": ("w3", "w4"), "c": ("w4", "w2")}
    free = [
        node(
            name,
            labels={app: "" for app, names in pairs.items() if name in names},
            allocatable={"cpu": "2", "memory": "16Gi", "pods": "9"},
        )
        for name in ("w2", "w3", "w4")
    ]
    movers = [owned(app, "w1", nodeSelector={app: ""}) for app in pairs]
    objects = (small("w1", "6"), *free, *movers, pod("waiting", **requests(cpu="6")))
    nodes, relocation = world(objects)
    answer = plan(*objects)
    assert answer.found
    assert None not in list(ends(relocation, nodes, answer.steps))


def ends(relocation: Relocation, nodes: Snapshot, steps: Sequence[Step]) -> Iterator[Snapshot | None]:
    """Yield how the plan ends for each choice among tied nodes, None where a pod lands nowhere."""
    if not steps:
        yield nodes
        return
    step, *rest = steps
    if step.pod is None:
        edited = (with_cordon if step.action == CORDON else without_cordon)(nodes, step.node)
        yield from ends(relocation, edited, rest)
        return
    moved = relocation.evicted(nodes, step.pod)
    if moved.landing is None:
        yield None
        return
    for name in moved.landing.tied:
        yield from ends(relocation, relocation.placed(moved.nodes, moved.landing, name), rest)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6))
def test_no_plan_is_shorter_than_what_a_slow_search_of_everything_finds(seed: int) -> None:
    objects = fragmented(seed, most_nodes=3)
    answer = plan(*objects, bounds=Bounds(moves=MOST, evictions=100_000))
    assert answer.complete
    shortest = exhaustive(objects)
    assert (len(evictions(answer)) if answer.found else None) == shortest, about_search(answer)


def world(objects: Sequence[KubernetesObject]) -> tuple[Snapshot, Relocation]:
    nodes = snapshot(*objects)
    return nodes, Relocation(Scheduler(load_configuration(None, KubeVersion.parse("1.36"), None), nodes))


def waiting(objects: Sequence[KubernetesObject]) -> Pod:
    return next(each for each in objects if isinstance(each, Pod) and each.name == "waiting")


def exhaustive(objects: Sequence[KubernetesObject]) -> int | None:
    """The fewest evictions, over all nodes, all pods, all orders and all tied nodes."""
    nodes, relocation = world(objects)
    incoming = waiting(objects)
    rules = EvictionRules(nodes.objects, objects, incoming.priority)
    movable = [each for each in nodes.existing_pods.pods if rules.refusal(each) is None]
    for length in range(MOST + 1):
        for order in permutations(movable, length):
            if not rules.allows(order):
                continue
            for name in nodes.names:
                for after in ways(relocation, with_cordon(nodes, name), order, name):
                    if relocation.landing(incoming, without_cordon(after, name)) is not None:
                        return length
    return None


def ways(relocation: Relocation, nodes: Snapshot, order: Sequence[Pod], closed: str) -> Iterator[Snapshot]:
    if not order:
        yield nodes
        return
    own = order[0].spec.node_name
    moved = relocation.evicted(nodes if own == closed else with_cordon(nodes, own), order[0], at_once=False)
    for name in moved.landing.tied if moved.landing is not None else ():
        assert moved.landing is not None
        after = relocation.placed(moved.nodes, moved.landing, name)
        yield from ways(relocation, after if own == closed else without_cordon(after, own), order[1:], closed)


def test_a_node_is_cordoned_while_room_is_made_on_it() -> None:
    answer = plan(*two_halves())
    assert [(step.action, step.node, step.lands) for step in answer.steps] == [
        ("cordon", "w1", None),
        ("evict", "w1", "w2"),
        ("uncordon", "w1", None),
    ]
    assert [(each.pod.name, each.tied) for each in answer.placed] == [("waiting", ("w1",))]


def test_room_is_made_for_a_pod_that_moves_by_moving_another() -> None:
    answer = plan(
        small("w1", "4"), small("w2", "3"), small("w3", "1"),
        owned("a", "w1"), owned("b", "w2", **requests(cpu="1")),
        owned("c", "w2", kind="Job", **requests(cpu="1")),
        pod("waiting", **requests(cpu="4")),
    )  # fmt: skip
    assert [(step.action, step.node, step.pod and step.pod.name, step.lands) for step in answer.steps] == [
        ("cordon", "w1", None, None),
        ("cordon", "w2", None, None),
        ("evict", "w2", "b", "w3"),
        ("uncordon", "w2", None, None),
        ("evict", "w1", "a", "w2"),
        ("uncordon", "w1", None, None),
    ]


def test_a_chain_looks_for_places_in_the_cluster_as_it_is_by_then() -> None:
    """A pod that had no place while another plan was tried has one in the next."""
    nodes = [small(f"n{index}", cpu) for index, cpu in enumerate("88666")]
    stay = {"a-0": ("n2", "2"), "a-1": ("n0", "2"), "b-0": ("n3", "3"), "b-1": ("n4", "3"), "e-0": ("n0", "1")}
    move = {"c-0": ("n1", "3"), "c-1": ("n0", "3"), "d-0": ("n4", "2"), "d-1": ("n1", "2"), "d-2": ("n3", "2")}
    pods = [owned(name, on, kind="Job", **requests(cpu=cpu)) for name, (on, cpu) in stay.items()]
    pods += [owned(name, on, **requests(cpu=cpu)) for name, (on, cpu) in move.items()]
    last = owned("f-0", "n1", kind="StatefulSet", **requests(cpu="2"))
    answer = plan(
        *nodes, *pods, last, owned("e-1", "n4", kind="Job", **requests(cpu="1")), pod("waiting", **requests(cpu="7"))
    )
    assert [each.name for each in evictions(answer)] == ["d-1", "d-2", "c-0", "f-0"]


@pytest.mark.parametrize(("namespace", "named"), [("shop", True), ("default", False)])
def test_a_plan_that_evicts_pods_of_another_namespace_names_it_above_the_commands(namespace: str, named: bool) -> None:
    objects = [
        replace(each, metadata=replace(each.metadata, namespace=namespace)) if each.metadata.name == "a" else each
        for each in two_halves()
    ]
    document = plan_document(plan(*objects))
    said = [each.text for each in document.parts if isinstance(each, Sentence)]
    assert any("of namespace shop:" in text for text in said) == named
    assert any(isinstance(each, Commands) for each in document.parts)


def test_what_fits_already_needs_no_plan() -> None:
    answer = plan(small("w1"), pod("waiting", **requests(cpu="4")))
    assert (answer.found, answer.steps, answer.placed[0].tied) == (True, (), ("w1",))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "Job"}, "of a Job"),
        ({"kind": "DaemonSet"}, "of a DaemonSet"),
        ({"kind": "CloneSet"}, "of a CloneSet"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, "do-not-disrupt"),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, "safe-to-evict"),
        ({"volumes": [{"name": "scratch", "emptyDir": {}}]}, "data on their node"),
        ({"volumes": [{"name": "host", "hostPath": {"path": "/x"}}]}, "data on their node"),
        ({"priority": 5}, "higher priority"),
    ],
)
def test_pods_that_must_stay_are_not_asked_to_move(fields: dict[str, Any], reason: str) -> None:
    answer = plan(*two_halves(**fields))
    assert not answer.found
    assert reason in about_search(answer)


def test_a_bare_pod_is_not_asked_to_move() -> None:
    first, second, _, *others = two_halves()
    answer = plan(first, second, pod("a", on="w1", **requests(cpu="2")), *others)
    assert not answer.found
    assert "1 without a controller" in about_search(answer)


def test_a_pod_with_data_that_says_it_is_safe_moves() -> None:
    safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    answer = plan(*two_halves(annotations=safe, volumes=[{"name": "scratch", "emptyDir": {}}]))
    assert [each.name for each in evictions(answer)] == ["a"]


def test_a_pod_with_a_volume_of_its_node_stays() -> None:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["w1"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    stored = (volume("disk", phase="Bound", nodeAffinity=affinity), claim("data", to="disk"))
    answer = plan(*two_halves(**using("data")), *stored)
    assert not answer.found
    assert "1 with data on their node" in about_search(answer)


def budget(name: str, allowed: int) -> PodDisruptionBudget:
    spec = {"selector": {"matchLabels": {"app": "a"}}}
    metadata = {"name": name, "namespace": "default"}
    return msgspec.convert(
        {"metadata": metadata, "spec": spec, "status": {"disruptionsAllowed": allowed}}, PodDisruptionBudget
    )


@pytest.mark.parametrize(
    ("budgets", "found"),
    [([("x", 1)], True), ([("x", 0)], False), ([("x", 1), ("y", 1)], False)],
)
def test_budgets_are_asked_as_eviction_asks_them(budgets: list[tuple[str, int]], found: bool) -> None:
    answer = plan(*two_halves(labels={"app": "a"}), *(budget(name, allowed) for name, allowed in budgets))
    assert answer.found == found


def test_a_budget_is_used_up_by_the_plan_itself() -> None:
    def cluster(allowed: int) -> tuple[KubernetesObject, ...]:
        pods = (owned(name, "w1", labels={"app": "a"}, **requests(cpu="1")) for name in ("a", "b"))
        return small("w1", "4"), small("w2", "2"), *pods, budget("x", allowed), pod("waiting", **requests(cpu="4"))

    assert plan(*cluster(2)).found
    assert not plan(*cluster(1)).found


def test_a_plan_that_depends_on_a_tie_pins_it_with_cordons_and_says_so() -> None:
    """The pod that moves is tied between two nodes, and one of them is in the zone that the waiting pod keeps off."""
    apart = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    zones = (("w1", "x", "4"), ("w2", "x", "2"), ("w3", "y", "2"))
    nodes = (
        node(name, labels={"zone": zone}, allocatable={"cpu": cpu, "memory": "16Gi", "pods": "9"})
        for name, zone, cpu in zones
    )
    mover = owned("a", "w1", labels={"app": "a"})
    answer = plan(*nodes, mover, pod("waiting", affinity=affinity, **requests(cpu="4")))
    assert [(step.action, step.node, step.lands) for step in answer.steps] == [
        ("cordon", "w1", None),
        ("cordon", "w2", None),
        ("evict", "w1", "w3"),
        ("uncordon", "w2", None),
        ("uncordon", "w1", None),
    ]
    assert "the plan cordons w2 for a while, so that no tie sends a pod there" in answer.notes


def test_preemption_is_named_as_the_alternative_with_those_who_would_not_land_again() -> None:
    first, second, mover, _, incoming = two_halves()
    assert isinstance(incoming, Pod)
    important = pod("waiting", priority=10, **requests(cpu="4"))
    answer = plan(first, second, mover, owned("z", "w2", **requests(cpu="4")), important)
    assert answer.preemption is not None
    assert [each.name for each in answer.preemption.victims] == ["a"]
    assert [each.name for each in answer.preemption.homeless] == ["a"]
    assert answer.unplaced is not None
    assert "preemptionPolicy" not in str(answer.unplaced.event)


def test_another_pending_pod_that_may_come_first_is_named() -> None:
    answer = plan(*two_halves(), pod("other", **requests(cpu="3")))
    assert any(note.startswith("default/other waits, too") for note in answer.notes)


def test_a_pending_pod_that_is_ahead_in_the_queue_takes_the_room_first() -> None:
    assert not plan(*two_halves(), pod("other", priority=5, **requests(cpu="3"))).found


def test_each_missing_pod_of_a_workload_has_room_made_for_it() -> None:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "4"}}}
    template = {"metadata": {"labels": {"app": "big"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "big"}}, "template": template}
    big = msgspec.convert({"metadata": {"name": "big", "namespace": "default", "uid": "big"}, "spec": spec}, Deployment)
    nodes = [small(f"w{index}") for index in range(4)]
    answer = plan(*nodes, owned("a", "w0"), owned("b", "w1"), big, target="deployment/big", replicas=3)
    assert answer.found
    assert (len(answer.placed), len(evictions(answer))) == (3, 1)


def test_no_pod_of_a_group_is_counted_on_before_all_of_them_fit() -> None:
    """The pod that moves would take the room of the first: a gang lands whole or not at all."""
    spec = {"schedulingGroup": {"podGroupName": "g"}, **requests(cpu="4")}
    nodes = [small(f"w{index}") for index in (1, 2, 3)]
    movers = [owned("a", "w1"), owned("b", "w2")]
    answer = plan(*nodes, *movers, pod("g-0", **spec), pod("g-1", **spec), target="podgroup/g")
    assert [(step.action, step.node, step.lands) for step in answer.steps] == [
        ("cordon", "w3", None),
        ("cordon", "w1", None),
        ("evict", "w1", "w2"),
        ("uncordon", "w3", None),
        ("uncordon", "w1", None),
    ]
    assert sorted(each.pod.name for each in answer.placed) == ["g-0", "g-1"]


def in_group(*objects: KubernetesObject, key: str | None = None) -> MakeRoomAnswer:
    """Ask for room for two members of a gang that want a whole node each, in a version with the group's own cycle."""
    constraints = {"schedulingConstraints": {"topology": [{"key": key}]}} if key is not None else {}
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    group = msgspec.convert({"metadata": {"name": "g", "namespace": "default"}, "spec": policy | constraints}, PodGroup)
    members = [pod(f"g-{index}", schedulingGroup={"podGroupName": "g"}, **requests(cpu="4")) for index in (0, 1)]
    gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
    question = MakeRoomQuestion(target="podgroup/g", replay=Replay(kube_version="1.37", feature_gates=gates))
    return make_room(question, Dump(objects=(*objects, group, *members)))


def of_zone(name: str, zone: str) -> Node:
    return node(name, labels={"kubernetes.io/hostname": name, "zone": zone}, allocatable=SMALL)


def test_a_group_lands_where_its_own_cycle_says() -> None:
    answer = in_group(small("w1"), small("w2"), small("w3"), owned("a", "w1"), owned("b", "w2"))
    assert [each.name for each in evictions(answer)] == ["a"]
    assert {each.pod.name: each.tied for each in answer.placed} == {"g-0": ("w1", "w3"), "g-1": ("w3",)}
    assert not any("one after the other" in note for note in answer.notes)


def test_a_group_that_fits_in_its_own_cycle_needs_no_plan() -> None:
    answer = in_group(of_zone("a1", "a"), of_zone("b1", "b"), of_zone("b2", "b"), key="zone")
    assert (answer.steps, [each.tied[0] for each in answer.placed]) == ((), ["b1", "b2"])


def test_the_zones_that_are_tied_for_a_group_are_declared() -> None:
    answer = in_group(*(of_zone(name, name[0]) for name in ("a1", "a2", "b1", "b2")), key="zone")
    assert [each.tied for each in answer.placed] == [("a1", "a2", "b1", "b2"), ("a2", "b2")]


def test_room_for_a_group_that_keeps_to_one_zone_is_made_in_the_zone_that_needs_the_fewest_evictions() -> None:
    """One by one its pods would fit already: one in each zone."""
    nodes = [of_zone(name, name[0]) for name in ("a1", "a2", "a3", "b1", "b2", "c1")]
    movers = [owned("p", "a1"), owned("q", "a2"), owned("s", "a3"), owned("r", "b2")]
    answer = in_group(*nodes, *movers, key="zone")
    assert [each.name for each in evictions(answer)] == ["r"]
    assert sorted(each.tied[0] for each in answer.placed) == ["b1", "b2"]


def test_a_group_without_room_in_any_zone_has_no_plan() -> None:
    answer = in_group(of_zone("a1", "a"), of_zone("b1", "b"), key="zone")
    assert not answer.found
    assert answer.placed == ()


def test_a_pod_of_a_group_is_told_to_be_asked_for_with_its_group() -> None:
    answer = plan(small("w1"), pod("g-0", schedulingGroup={"podGroupName": "g"}), target="pod/g-0")
    assert any("podgroup/g" in note for note in answer.notes)


@pytest.mark.parametrize("target", ["pod/none", "deployment/none", "podgroup/none", "service/x"])
def test_a_target_that_there_is_not_is_refused(target: str) -> None:
    with pytest.raises(SchedError):
        plan(small("w1"), target=target)


def test_the_command_prints_the_plan_as_the_contract_has_it() -> None:
    done = run("whatif", "--make-room", "pod/train-0", "-n", "ml", "--from", GPUS, "-o", "json")
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert data["kind"] == "MakeRoom"
    assert [(each["step"], each["action"]) for each in data["plan"]] == [(1, CORDON), (2, EVICT), (3, "uncordon")]
    assert data["plan"][1] == {
        "step": 2,
        "action": "evict",
        "node": "gpu-1",
        "lands": "gpu-2",
        "tied": ["gpu-2"],
        "pod": {"namespace": "ml", "name": "serve-a"},
    }
    assert (data["node"], data["complete"], data["searched"]["moves"]) == ("gpu-1", True, 4)
    assert len(data["commands"]) == 3


def test_no_plan_is_exit_code_1_and_the_sentence_says_how_far_it_looked() -> None:
    done = run("whatif", "--make-room", "web-0", "--from", "fixtures/demo")
    assert done.returncode == 1
    assert "moving up to 4 pods" in done.stdout
    assert (
        json.loads(run("whatif", "--make-room", "web-0", "--from", "fixtures/demo", "-o", "json").stdout)["plan"] == []
    )


@pytest.mark.parametrize("extra", [["--drain", "gpu-1"], ["--replicas", "max"], ["web.yaml"], ["--with-pending"]])
def test_flags_of_other_questions_are_refused(extra: list[str]) -> None:
    done = run("whatif", "--make-room", "pod/train-0", *extra, "-n", "ml", "--from", GPUS)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --make-room")


@pytest.mark.parametrize("output", ["html", "markdown", "name", "yaml"])
def test_every_format_names_the_pod_that_moves(output: str) -> None:
    done = run("whatif", "--make-room", "pod/train-0", "-n", "ml", "--from", GPUS, "-o", output)
    assert done.returncode == 0
    assert "serve-a" in done.stdout

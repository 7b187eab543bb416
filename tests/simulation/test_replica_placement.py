"""Placing replicas one after the other gives what a whole cycle for each of them gives."""

from __future__ import annotations

import gc
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.core import Service
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.plugins.inter_pod_affinity.plugin import InterPodAffinity
from kubectl_sched.plugins.pod_topology_spread.plugin import PodTopologySpread
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.likeness import likeness
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation
from kubectl_sched.simulation.replicas import own_node
from kubectl_sched.simulation.replicas.replica_placement import EqualPods
from tests.examples import examples
from tests.plugins.clusters import ROOMY, node, pod, requests, snapshot
from tests.plugins.neighbourhoods import district, neighbourhood
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.simulation.counted_totals import counted_totals

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

REPLICAS = 9
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def scheduler(nodes: Snapshot, version: str = "1.36") -> Scheduler:
    return Scheduler(load_configuration(None, KubeVersion.parse(version), None), nodes)


def copies(template: Pod, count: int = REPLICAS) -> list[Pod]:
    metadata = template.metadata
    return [
        structs.replace(template, metadata=structs.replace(metadata, name=f"new-{index}", uid=f"new-{index}"))
        for index in range(count)
    ]


def pending(template: Pod) -> Pod:
    return structs.replace(template, spec=structs.replace(template.spec, node_name=""))


Decision = tuple[str | None, tuple[str, ...], int | None, str | None]


def one_by_one(replay: Scheduler, pods: list[Pod]) -> list[Decision]:
    """A whole cycle for each, as long as they fit."""
    framework = replay.framework("default-scheduler")
    assert framework is not None
    nodes = replay.nodes
    decisions: list[Decision] = []
    for each in pods:
        result = cycle(each, nodes, framework)
        decisions.append(decided(result))
        if not result.fits:
            break
        nodes = nodes.assume(each, nodes.row_of[result.best[0]])
    return decisions


def decided(result: ScheduleResult) -> Decision:
    if not result.fits:
        return None, (), None, result.event
    return result.best[0], result.best, int(result.totals.max()), None


def simulated(replay: Scheduler, pods: list[Pod]) -> list[Decision]:
    simulation = Simulation(replay)
    simulation.fill(QueuedPod(pod=each) for each in pods)
    decisions: list[Decision] = [(each.node, each.tied, each.total, None) for each in simulation.placements]
    if simulation.stopped is not None:
        decisions.append((None, (), None, simulation.stopped.event))
    return decisions


def knows_equal_pods(replay: Scheduler, template: Pod) -> bool:
    framework = replay.framework("default-scheduler")
    assert framework is not None
    return EqualPods.after(cycle(template, replay.nodes, framework)) is not None


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), sized=st.booleans(), version=st.sampled_from(["1.33", "1.36", "1.37"]))
def test_equal_pods_that_look_at_their_neighbours(seed: int, sized: bool, version: str) -> None:
    where = neighbourhood(seed)
    template = where.incoming
    if sized:
        more: Any = pod("sized", **requests(cpu="3", memory="1Gi")).spec.containers
        template = structs.replace(template, spec=structs.replace(template.spec, containers=more))
    replay = scheduler(where.nodes, version)
    pods = copies(template)
    assert simulated(replay, pods) == one_by_one(replay, pods)


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    version=st.sampled_from(["1.33", "1.36", "1.37"]),
    rows=st.sampled_from([0, 1000]),
)
def test_equal_pods_on_many_nodes_in_few_domains(seed: int, version: str, rows: int) -> None:
    """A node that is ahead of the others is asked about alone, or with all others if these are few: both are exact."""
    where = district(seed)
    replay = scheduler(where.nodes, version)
    pods = copies(where.incoming, 30)
    with patch.object(own_node, "_ROWS_OF_A_CALL", rows):
        found = simulated(replay, pods)
    assert found == one_by_one(replay, pods)


def spreading_softly(key: str, skew: int = 1) -> dict[str, Any]:
    return {**SPREAD, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": skew}


def preferring(kind: str, key: str, app: str = "web") -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "podAffinityTerm": term}
    ]}}}  # fmt: skip


HOSTNAME = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    "spec",
    [
        {"topologySpreadConstraints": [spreading_softly(HOSTNAME)]},
        {"topologySpreadConstraints": [spreading_softly("zone"), SPREAD]},
        preferring("podAffinity", "zone"),
        preferring("podAntiAffinity", HOSTNAME),
    ],
)
def test_plugins_score_all_nodes_for_the_first_of_the_pods_alone(
    spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 400
    labels = [{"zone": f"z{index % 3}", HOSTNAME: f"n{index}"} for index in range(count)]
    first = pod("first", on="n0", metadata={"labels": {"app": "web"}})
    replay = scheduler(snapshot(*(node(each[HOSTNAME], labels=each) for each in labels), first))
    scored: list[int] = []
    for plugin in (PodTopologySpread, InterPodAffinity):
        monkeypatch.setattr(plugin, "score", counting_rows(plugin.score, scored))
    pods = copies(pod("new", metadata={"labels": {"app": "web"}}, **spec), 20)
    simulated(replay, pods)
    assert sum(scored) <= 4 * count


@pytest.mark.parametrize(
    "rules", [{"topologySpreadConstraints": [spreading_softly(HOSTNAME)]}, preferring("podAffinity", "zone")]
)
def test_few_of_many_equal_pods_ask_plugins_for_scores(rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The points of hosts do not change with pods on others, and those of zones are told by counts."""
    labels = [{"zone": f"z{index % 3}", HOSTNAME: f"n{index}"} for index in range(90)]
    first = pod("first", on="n0", metadata={"labels": {"app": "web"}})
    replay = scheduler(snapshot(*(node(each[HOSTNAME], labels=each) for each in labels), first))
    scored: list[int] = []
    for plugin in (PodTopologySpread, InterPodAffinity):
        monkeypatch.setattr(plugin, "score", counting_rows(plugin.score, scored))
    pods = copies(pod("new", metadata={"labels": {"app": "web"}}, **rules), 40)
    found = simulated(replay, pods)
    assert len(scored) < len(pods)
    assert found == one_by_one(replay, pods)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"topologySpreadConstraints": [SPREAD, spreading_softly(HOSTNAME)]},
        preferring("podAntiAffinity", HOSTNAME),
    ],
)
def test_placing_leaves_nothing_to_the_garbage_collector(rules: dict[str, Any]) -> None:
    """It is off while a command runs, so what refers to itself would stay."""
    labels = [{"zone": f"z{index % 3}", HOSTNAME: f"n{index}"} for index in range(40)]
    simulation = Simulation(scheduler(snapshot(*(node(each[HOSTNAME], labels=each) for each in labels))))
    pods = copies(pod("new", metadata={"labels": {"app": "web"}}, **rules), 40)
    for each in pods[:20]:
        simulation.place(QueuedPod(pod=each))
    gc.collect()
    gc.disable()
    try:
        for each in pods[20:]:
            simulation.place(QueuedPod(pod=each))
        assert gc.collect() == 0
    finally:
        gc.enable()


def counting_rows(score: Any, scored: list[int]) -> Any:
    def counted(self: Any, state: Any, incoming: Any, nodes: Any, rows: Any) -> Any:
        scored.append(len(rows))
        return score(self, state, incoming, nodes, rows)

    return counted


POD_INDEX = "apps.kubernetes.io/pod-index"
POD_NAME = "statefulset.kubernetes.io/pod-name"


def numbered(template: Pod, count: int = REPLICAS) -> list[Pod]:
    """Replicas as a StatefulSet labels them."""
    ordinals = [{POD_NAME: f"new-{index}", POD_INDEX: str(index)} for index in range(count)]
    return [
        structs.replace(each, metadata=structs.replace(each.metadata, labels={**each.metadata.labels, **labels}))
        for each, labels in zip(copies(template, count), ordinals, strict=True)
    ]


@settings(max_examples=examples(120), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), version=st.sampled_from(["1.33", "1.36", "1.37"]))
def test_pods_of_a_stateful_set_that_look_at_their_neighbours(seed: int, version: str) -> None:
    where = neighbourhood(seed)
    pods = numbered(where.incoming)
    replay = scheduler(with_services(where.nodes, pods, Random(seed)), version)  # noqa: S311 - a test case
    assert simulated(replay, pods) == one_by_one(replay, pods)


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), version=st.sampled_from(["1.33", "1.36", "1.37"]))
def test_pods_that_services_select_one_by_one(seed: int, version: str) -> None:
    """The default constraints spread each by a selector of its own, which none of the others answers to."""
    nodes, template = filling_in_zones(Random(seed))  # noqa: S311 - a test case, not a secret
    pods = numbered(template, 40)
    services = [service({POD_NAME: each.name}, each.name) for each in pods]
    nodes = structs.replace(nodes, objects=nodes.objects.with_these(Service, services))
    replay = scheduler(nodes, version)
    assert simulated(replay, pods) == one_by_one(replay, pods)


def filling_in_zones(random: Random) -> tuple[Snapshot, Pod]:
    """Nodes that few pods fill, some without a zone, beside pods that would like others near or far."""
    lacking = random.choice([0.0, 0.0, 0.2])
    names = [f"n{index}" for index in range(random.choice([3, 6, 12, 40]))]
    nodes = []
    for name in names:
        labels = {HOSTNAME: name, "topology.kubernetes.io/zone": random.choice("abc")}
        if random.random() < lacking:
            del labels[random.choice(list(labels))]
        allocatable = {"cpu": random.choice("123"), "memory": "4Gi", "pods": str(random.randint(2, 5))}
        nodes.append(node(name, labels=labels, allocatable=allocatable))
    kinds, keys = ["podAffinity", "podAntiAffinity"], [HOSTNAME, "topology.kubernetes.io/zone"]
    neighbours = [
        pod(f"old-{index}", on=random.choice(names), **preferring(random.choice(kinds), random.choice(keys)))
        for index in range(random.choice([0, 0, 2]))
    ]
    asked = random.choice([{}, requests(cpu="500m"), requests(cpu="300m", memory="1Gi")])
    return snapshot(*nodes, *neighbours), pod("new", metadata={"labels": {"app": "web"}}, **asked)


def test_pods_that_services_select_one_by_one_are_ranked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted_totals(monkeypatch)
    labels = {"topology.kubernetes.io/zone": "a"}
    nodes = [node(f"n{index}", labels={**labels, HOSTNAME: f"n{index}"}) for index in range(20)]
    pods = numbered(pod("new", **requests(cpu="100m")), 30)
    services = [service({POD_NAME: each.name}, each.name) for each in pods]
    assert len(simulated(scheduler(snapshot(*nodes, *services)), pods)) == len(pods)
    assert len(asked) == 1


def with_services(nodes: Snapshot, pods: list[Pod], random: Random) -> Snapshot:
    """Services of some or all of the pods, and perhaps a pod that one of them selects, too."""
    chosen = random.choice([pods, pods, random.sample(pods, 3), []])
    besides = random.choice([{}, {}, {"app": "web"}])
    services = [
        service({POD_NAME: each.name, **besides}, each.name, random.choice([each.namespace] * 9 + ["b"]))
        for each in chosen
    ]
    nodes = structs.replace(nodes, objects=nodes.objects.with_these(Service, services))
    if random.random() < 0.7:
        return nodes
    labels = {"app": "web", POD_NAME: random.choice(pods).name}
    metadata = {"labels": labels, "namespace": random.choice([pods[0].namespace, "b"])}
    return nodes.assume(pod("namesake", metadata=metadata), random.randrange(len(nodes)))


def spreading_by(labels: dict[str, str]) -> dict[str, Any]:
    return {"topologySpreadConstraints": [{**SPREAD, "labelSelector": {"matchLabels": labels}}]}


def kept_away_by(labels: dict[str, str]) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": labels}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def service(labels: dict[str, str], name: str = "web", namespace: str = "default") -> Service:
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": labels}}, Service)


ONE_OF_THEM = {POD_NAME: "new-1"}


@pytest.mark.parametrize(
    ("spec", "beside"),
    [
        (spreading_by(ONE_OF_THEM), []),
        (kept_away_by(ONE_OF_THEM), []),
        ({}, [pod("guard", on="n0", **kept_away_by(ONE_OF_THEM))]),
        ({}, [service(ONE_OF_THEM)]),
    ],
)
def test_replicas_that_a_selector_tells_apart(spec: dict[str, Any], beside: list[Any]) -> None:
    nodes = snapshot(*(node(f"n{index}", labels={"zone": f"z{index % 2}"}) for index in range(4)), *beside)
    pods = numbered(pod("new", metadata={"labels": {"app": "web"}}, **spec))
    replay = scheduler(nodes)
    framework = replay.framework("default-scheduler")
    assert framework is not None
    equal = EqualPods.after(cycle(pods[0], nodes, framework))
    assert equal is None or not equal.turn_to(pods[1])
    assert simulated(replay, pods) == one_by_one(replay, pods)


@pytest.mark.parametrize("spec", [{}, spreading_by({"app": "web"}), kept_away_by({"app": "web"})])
def test_replicas_that_no_selector_tells_apart_are_placed_without_whole_cycles(spec: dict[str, Any]) -> None:
    nodes = snapshot(*(node(f"n{index}", labels={"zone": f"z{index % 2}"}) for index in range(4)))
    pods = numbered(pod("new", metadata={"labels": {"app": "web"}}, **spec))
    framework = scheduler(nodes).framework("default-scheduler")
    assert framework is not None
    equal = EqualPods.after(cycle(pods[0], nodes, framework))
    assert equal is not None
    assert equal.turn_to(pods[1])


def of_ordinal(index: int, **labels: str) -> Service:
    return service({POD_NAME: f"new-{index}", **labels}, f"of-{index}")


def namesake(index: int, namespace: str) -> Pod:
    return pod("other", on="n0", metadata={"namespace": namespace, "labels": {POD_NAME: f"new-{index}"}})


OF_EACH = [of_ordinal(index) for index in range(4)]
OF_OTHERS = [service({POD_INDEX: str(index), "app": "another"}, f"another-{index}") for index in range(4)]


@pytest.mark.parametrize(
    ("objects", "first", "alike"),
    [
        ([of_ordinal(1)], 0, {2, 3}),
        ([of_ordinal(1)], 1, set()),
        ([of_ordinal(1), of_ordinal(3)], 1, {3}),
        (OF_EACH, 1, {0, 2, 3}),
        ([*OF_EACH[:3], of_ordinal(3, app="another")], 1, {0, 2}),
        ([*OF_EACH, namesake(2, "default")], 1, {0, 3}),
        ([*OF_EACH, *OF_OTHERS, namesake(2, "default")], 1, {0, 3}),
        ([*OF_EACH, namesake(2, "elsewhere")], 1, {0, 2, 3}),
    ],
)
def test_replicas_that_services_select_alike(objects: list[Any], first: int, alike: set[int]) -> None:
    labels = [{"zone": f"z{index % 2}", HOSTNAME: f"n{index}"} for index in range(4)]
    nodes = snapshot(*(node(each[HOSTNAME], labels=each) for each in labels), *objects)
    pods = numbered(pod("new", metadata={"labels": {"app": "web"}}), 4)
    replay = scheduler(nodes)
    framework = replay.framework("default-scheduler")
    assert framework is not None
    equal = EqualPods.after(cycle(pods[first], nodes, framework))
    assert equal is not None
    equal.assume(pods[first], 0)
    others = [each for index, each in enumerate(pods) if index != first]
    assert {pods.index(each) for each in others if equal.turn_to(each)} == alike
    assert simulated(replay, pods) == one_by_one(replay, pods)


def test_two_pods_of_one_ordinal_are_not_alike() -> None:
    nodes = snapshot(*(node(f"n{index}") for index in range(4)), *OF_EACH)
    pods = numbered(pod("new", metadata={"labels": {"app": "web"}}), 3)
    framework = scheduler(nodes).framework("default-scheduler")
    assert framework is not None
    equal = EqualPods.after(cycle(pods[0], nodes, framework))
    assert equal is not None
    assert equal.turn_to(pods[1])
    equal.assume(pods[1], 0)
    assert not equal.turn_to(pods[1])
    assert equal.turn_to(pods[2])


@settings(max_examples=examples(150), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods())
def test_equal_pods_that_look_at_nodes(cluster: tuple[list[Any], list[Any]], incoming: Pod) -> None:
    made, running = cluster
    replay = scheduler(snapshot(*made, *running))
    pods = copies(pending(incoming))
    assert simulated(replay, pods) == one_by_one(replay, pods)


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(40, 90))
def test_many_nodes_with_the_same_number_of_replicas(seed: int, count: int) -> None:
    sizes = [{"cpu": str(2 + (seed >> index) % 3), "memory": "4Gi", "pods": "5"} for index in range(40)]
    nodes = snapshot(
        *(
            node(f"n{index}", labels={"zone": f"z{index % 3}", "kubernetes.io/hostname": f"n{index}"}, allocatable=size)
            for index, size in enumerate(sizes)
        )
    )
    template = pod("new", **requests(cpu="500m", memory="1Gi"))
    replay = scheduler(nodes)
    assert knows_equal_pods(replay, template)
    pods = copies(template, count)
    assert simulated(replay, pods) == one_by_one(replay, pods)


def filling(seed: int) -> tuple[Snapshot, Pod]:
    """Nodes that are not listed by name and that few pods fill, and a pod to which others are better as some fill."""
    random = Random(seed)  # noqa: S311 - a test case
    taints = [{"key": each, "value": "", "effect": "PreferNoSchedule"} for each in "abc"]
    names = [f"n{index}" for index in range(12)]
    random.shuffle(names)
    nodes = [
        node(
            name,
            labels={"size": random.choice("123")},
            taints=random.choice([[], taints[: random.randrange(4)]]),
            allocatable={"cpu": str(random.randint(1, 3)), "memory": "4Gi", "pods": str(random.randint(2, 5))},
        )
        for name in names
    ]
    preferred = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": "size", "operator": "In", "values": [size]}]}}
        for size, weight in random.sample([("1", 1), ("2", 7), ("3", 40)], random.randrange(4))
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    asked = random.choice([{}, requests(cpu="500m"), requests(cpu="300m", memory="1Gi")])
    running = [pod(f"old-{index}", on=random.choice(names), **requests(cpu="200m")) for index in range(6)]
    return snapshot(*nodes, *running), pod("new", affinity=affinity, **asked)


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), chance=st.none() | st.integers(0, 99))
def test_pods_that_fill_the_nodes_one_after_the_other(seed: int, chance: int | None) -> None:
    nodes, template = filling(seed)
    framework = scheduler(nodes).framework("default-scheduler")
    assert framework is not None
    simulation = Simulation(scheduler(nodes), Choices(seed=chance))
    simulation.enqueue(QueuedPod(pod=each) for each in copies(template, 60))
    simulation.run()
    random = Random(chance)  # noqa: S311 - as the simulation has it
    for placed in simulation.placements:
        result = cycle(placed.pod, nodes, framework)
        if not result.fits:
            assert (placed.node, placed.event) == (None, result.event)
            continue
        chosen = result.best[0 if chance is None else random.randrange(len(result.best))]
        assert (placed.node, placed.tied, placed.total) == (chosen, result.best, int(result.totals.max()))
        nodes = nodes.assume(placed.pod, nodes.row_of[chosen])
    after = simulation.nodes
    assert list(after.existing_pods.pods) == list(nodes.existing_pods.pods)
    assert after.existing_pods.rows.tolist() == nodes.existing_pods.rows.tolist()
    assert after.pod_count.tolist() == nodes.pod_count.tolist()
    assert [after.requested(name).tolist() for name in ROOMY] == [nodes.requested(name).tolist() for name in ROOMY]


@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), are_all_alike=st.booleans())
def test_ranked_pods_may_be_put_onto_their_nodes_by_hand_in_between(seed: int, are_all_alike: bool) -> None:
    nodes, template = filling_in_zones(Random(seed)) if are_all_alike else filling(seed)  # noqa: S311 - as below
    framework = scheduler(nodes).framework("default-scheduler")
    assert framework is not None
    first, *others = copies(template, 60)
    result = cycle(first, nodes, framework)
    equal = EqualPods.after(result)
    assert equal is not None
    equal.assume(first, nodes.row_of[result.best[0]])
    nodes = nodes.assume(first, nodes.row_of[result.best[0]])
    random = Random(seed)  # noqa: S311 - a test case, not a secret
    for each in others:
        assert equal.turn_to(each)
        result = cycle(each, nodes, framework)
        assert equal.has_feasible == result.fits
        if not result.fits:
            break
        if random.random() < 0.7:
            row, _, total, _ = equal.place(each, lambda _: 0)
        else:
            rows, total = equal.best()
            row = int(rows[0])
            equal.assume(each, row)
        assert (equal.names[row], total) == (result.best[0], int(result.totals.max()))
        nodes = nodes.assume(each, row)


def test_plain_replicas_are_ranked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing but the node of a pod is looked at again shows in how often the totals of all nodes are."""
    asked = counted_totals(monkeypatch)
    nodes = snapshot(*(node(f"n{index}", allocatable={**ROOMY, "pods": "3"}) for index in range(20)))
    pods = copies(pod("new", **requests(cpu="100m")), 61)
    assert [each[0] for each in simulated(scheduler(nodes), pods)].count(None) == 1
    assert len(asked) == 1


@pytest.mark.parametrize(
    "spec",
    [
        {},
        requests(cpu="1"),
        {"topologySpreadConstraints": [SPREAD]},
        {"volumes": [{"name": "scratch", "emptyDir": {}}]},
        {"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]},
    ],
)
def test_what_is_placed_without_whole_cycles(spec: dict[str, Any]) -> None:
    nodes = snapshot(*(node(f"n{index}", labels={"zone": f"z{index % 2}"}) for index in range(4)))
    assert knows_equal_pods(scheduler(nodes), pod("new", metadata={"labels": {"app": "web"}}, **spec))


@pytest.mark.parametrize(("in_turn", "prepared"), [(True, 1), (False, 2)])
def test_nothing_is_prepared_for_equal_pods_unless_one_may_follow(
    in_turn: bool, prepared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = snapshot(*(node(f"n{index}", labels={"zone": f"z{index % 2}"}) for index in range(4)))
    spec: Any = {"topologySpreadConstraints": [SPREAD]}
    small = copies(pod("new", metadata={"labels": {"app": "web"}}, **requests(cpu="100m"), **spec), 3)
    large = copies(pod("new", metadata={"labels": {"app": "web"}}, **requests(cpu="200m"), **spec), 6)[3:]
    pods = list(chain(*zip(small, large, strict=True))) if in_turn else [*small, *large]
    calls: list[ScheduleResult] = []
    after = EqualPods.after

    def counted(result: ScheduleResult, following: Pod | None = None) -> EqualPods | None:
        calls.append(result)
        return after(result, following)

    monkeypatch.setattr(EqualPods, "after", counted)
    replay = scheduler(nodes)
    simulation = Simulation(replay)
    simulation.enqueue(QueuedPod(pod=each) for each in pods)
    simulation.run()
    found = [(each.node, each.tied, each.total, None) for each in simulation.placements]
    assert found == one_by_one(replay, pods)
    assert len(calls) == prepared


@pytest.mark.parametrize(
    "spec",
    [
        {"topologySpreadConstraints": [{**SPREAD, "labelSelector": {}}]},
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
        ]}}}},
    ],
)  # fmt: skip
def test_what_needs_whole_cycles(spec: dict[str, Any]) -> None:
    nodes = snapshot(*(node(f"n{index}", labels={"zone": f"z{index % 2}"}) for index in range(4)))
    assert not knows_equal_pods(scheduler(nodes), pod("new", metadata={"labels": {"app": "web"}}, **spec))


def test_nominated_pods_are_looked_at_in_whole_cycles() -> None:
    nominated = pod("first", status={"nominatedNodeName": "n1"})
    assert not knows_equal_pods(scheduler(snapshot(node("n1"), nominated)), pod("new"))


@given(seed=st.integers(0, 2**32 - 1))
def test_pods_of_different_labels_are_not_equal(seed: int) -> None:
    first = neighbourhood(seed).incoming
    other = structs.replace(first, metadata=structs.replace(first.metadata, labels={"app": "another"}))
    assume(first.metadata.labels != {"app": "another"})
    assert likeness(first) != likeness(other)
    assert likeness(first) == likeness(copies(first, 1)[0])

"""Equal pods that look at each other, ranked by groups of nodes, have the placements of a whole cycle for each."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.simulation.replicas import group_ranking
from kubectl_sched.simulation.replicas.group_ranking import GroupRanking, MergedPlaces
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.simulation.test_replica_placement import copies, one_by_one, scheduler, simulated

HOSTNAME = "kubernetes.io/hostname"
KEYS = (HOSTNAME, "zone", "rack")
SELF = {"matchLabels": {"app": "web"}}
OTHERS = {"matchLabels": {"app": "db"}}


def constraint(chance: Random) -> dict[str, Any]:
    hard = chance.random() < 0.5
    least = {"minDomains": chance.choice([2, 3, 6])} if hard and chance.random() < 0.3 else {}
    policies = {each: chance.choice(["Honor", "Ignore"]) for each in ("nodeAffinityPolicy", "nodeTaintsPolicy")}
    return {
        "maxSkew": chance.choice([1, 1, 2, 4]),
        "topologyKey": chance.choice(KEYS),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": chance.choice([SELF, SELF, SELF, OTHERS]),
        **least,
        **policies,
    }


def term(chance: Random) -> dict[str, Any]:
    return {"topologyKey": chance.choice(KEYS), "labelSelector": chance.choice([SELF, SELF, OTHERS])}


def affinity(chance: Random) -> dict[str, Any]:
    """One rule about other pods."""
    kind = chance.choice(["podAffinity", "podAntiAffinity"])
    if chance.random() < 0.5:
        return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(chance)]}}
    weighted = {"weight": chance.choice([1, 10, 100]), "podAffinityTerm": term(chance)}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


def replicas(chance: Random) -> Any:
    """Few rules, so that most of the pods have somewhere to go."""
    constraints = [constraint(chance) for _ in range(chance.choice([0, 1, 1, 2]))]
    of_each = {(each["topologyKey"], each["whenUnsatisfiable"]): each for each in constraints}
    spec = {**requests(cpu=chance.choice(["100m", "1"])), "topologySpreadConstraints": list(of_each.values())}
    if not constraints or chance.random() < 0.3:
        spec["affinity"] = affinity(chance)
    if chance.random() < 0.2:
        spec["nodeSelector"] = {"disk": "fast"}
    return pod("new", metadata={"labels": {"app": chance.choice(["web", "web", "web", "db"])}}, **spec)


def cluster(chance: Random) -> Any:
    nodes, pods = [], []
    have_all_keys = chance.random() < 0.6
    roomy = chance.random() < 0.5
    for index in range(chance.randrange(6, 28)):
        labels = {HOSTNAME: f"n{index:02}", "zone": f"z{index % 3}", "rack": f"r{chance.randrange(5)}"}
        if not have_all_keys and chance.random() < 0.3:
            del labels[chance.choice(KEYS)]
        labels["disk"] = chance.choice(["fast", "fast", "slow"])
        taints = [{"key": "a", "effect": "PreferNoSchedule"}] if chance.random() < 0.2 else []
        room = {"cpu": "64" if roomy else chance.choice(["1", "2", "4"]), "memory": "64Gi", "pods": "110"}
        name = f"n{index:02}"
        nodes.append(node(name, labels=labels, taints=taints, allocatable=room))
        for number in range(chance.choice([0, 0, 0, 1, 2])):
            app = chance.choice(["web", "db"])
            terms = affinity(chance) if chance.random() < 0.2 else {}
            running = {**requests(cpu="100m"), "affinity": terms}
            pods.append(pod(f"{name}-{number}", on=name, metadata={"labels": {"app": app}}, **running))
    return snapshot(*nodes, *pods)


@settings(max_examples=examples(600), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), version=st.sampled_from(["1.33", "1.36", "1.37"]), most=st.sampled_from([1, 6, 99])
)
def test_each_placement_is_that_of_a_whole_cycle(seed: int, version: str, most: int) -> None:
    """Groups may become so many that they are given up."""
    chance = Random(seed)  # noqa: S311 - a test case, not a secret
    replay = scheduler(cluster(chance), version)
    pods = copies(replicas(chance), 40)
    with patch.object(group_ranking, "_MOST_GROUPS", most):
        found = simulated(replay, pods)
    assert found == one_by_one(replay, pods)


def test_pods_that_spread_and_prefer_others_are_ranked_in_groups() -> None:
    spec: dict[str, Any] = {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELF}
        ],
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": {"topologyKey": HOSTNAME, "labelSelector": SELF}}
                ]
            }
        },
    }
    nodes = [node(f"n{index}", labels={HOSTNAME: f"n{index}", "zone": f"z{index % 3}"}) for index in range(40)]
    pods = copies(pod("new", metadata={"labels": {"app": "web"}}, **spec), 30)
    best = GroupRanking.best
    with patch.object(GroupRanking, "best", autospec=True, side_effect=best) as asked:
        simulated(scheduler(snapshot(*nodes)), pods)
    assert asked.call_count >= len(pods) - 2


def test_merged_places_are_those_of_one_list() -> None:
    parts, whole = [[0, 3, 4], [1, 7], [2, 5, 6]], list(range(8))
    merged = MergedPlaces(parts, 100)
    assert merged == whole
    assert [merged[place] for place in range(len(merged))] == whole
    for count in range(10):
        first = merged[:count]
        assert (list(first), len(first)) == (whole[:count], len(whole[:count]))
        assert first[1:] == whole[1:count]


def test_the_first_of_merged_places_stay_as_they_were() -> None:
    parts = [[0, 2], [1, 3]]
    first = MergedPlaces(parts, 100)[:3]
    parts[0].remove(0)
    assert list(first) == [0, 1, 2]

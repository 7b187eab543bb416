"""Every figure of `capacity` is computed once more, by arithmetic over the objects as they are written."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

import pytest

import kubectl_sched as ks
from tests.queries.plain_capacity import GPU, Arithmetic, Json, cluster

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", range(25))
def test_every_figure_is_that_of_plain_arithmetic(seed: int, tmp_path: Path) -> None:
    objects = cluster(seed)
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found, plain = ks.read(str(path)).capacity().to_dict(), Arithmetic(objects)
    _check_pools(found, plain)
    _check_shapes(found, plain)


def _check_pools(found: Json, plain: Arithmetic) -> None:
    places: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for name, node in plain.nodes.items():
        labels = node["metadata"]["labels"]
        places[f"pool={labels['pool']}", labels.get("topology.kubernetes.io/zone")].append(name)
    assert {(each["name"], each["zone"]): each["nodes"] for each in found["pools"]} == {
        place: len(names) for place, names in places.items()
    }
    for pool in found["pools"]:
        names = places[pool["name"], pool["zone"]]
        taking = [name for name in names if plain.takes_pods(name)]
        _check_hole(pool, taking, plain)
        for each in pool["resources"]:
            _check_resource(each, names, taking, plain)
        full = [each["name"] for each in pool["resources"] if _is_full(each["name"], taking, plain)]
        assert pool["full"] == full


def _is_full(resource: str, taking: list[str], plain: Arithmetic) -> bool:
    has, free = (sum(of(name, resource) for name in taking) for of in (plain.has, plain.free))
    return free * 20 < has


def _check_resource(found: Json, names: list[str], taking: list[str], plain: Arithmetic) -> None:
    resource = found["name"]
    assert found["allocatable"] == sum(plain.has(name, resource) for name in names)
    assert found["requested"] == sum(plain.used[name][resource] for name in names)
    assert found["free"] == sum(plain.free(name, resource) for name in names)
    assert found["overcommitted"] == found["requested"] + found["free"] - found["allocatable"]
    assert found["largest"] == max(
        (plain.free(name, resource) for name in taking if plain.free(name, "pods")), default=0
    )
    asking = [pod for pod in plain.pods if resource in plain.requests(pod)] or plain.pods
    lost = [name for name in names if not any(plain.fits(pod, name, with_claims=_is_shared(pod)) for pod in asking)]
    assert found["stranded"] == sum(plain.free(name, resource) for name in lost), (resource, names)


def _is_shared(pod: Json) -> bool:
    """Every claim here is one that each pod of the workload names."""
    return bool(pod["spec"].get("volumes"))


def _check_hole(pool: Json, taking: list[str], plain: Arithmetic) -> None:
    open_ = [name for name in taking if plain.free(name, "pods")]
    assert bool(pool["largestHole"]) == bool(open_)
    if open_:
        on = pool["largestHoleOn"]
        assert on in open_
        assert pool["largestHole"] == {name: plain.free(on, name) for name in pool["largestHole"]}
        assert pool["largestHole"].get(GPU, 0) == max(plain.free(name, GPU) for name in open_)


def _check_shapes(found: Json, plain: Arithmetic) -> None:
    owners: dict[str, list[Json]] = defaultdict(list)
    for pod in plain.pods:
        (owner,) = pod["metadata"]["ownerReferences"]
        owners[f"team/{owner['kind']}/{owner['name']}"].append(pod)
    waiting = {name: own for name, pods in owners.items() if (own := [pod for pod in pods if not _runs(pod)])}
    pending = {each["name"]: each for each in found["shapes"] if each["source"] == "pending"}
    assert {name: each["pending"] for name, each in pending.items()} == {n: len(pods) for n, pods in waiting.items()}
    for name, pods in waiting.items():
        _check_shape(pending[name], pods[0], found["pools"], plain)
    running = {each["name"]: each for each in found["shapes"] if each["source"] == "running"}
    alike = _alike(owners)
    expected = {name: members for members in alike if any(map(_runs, chain(*members.values())))
                and (name := max(members, key=lambda each: len(members[each]))) not in waiting}  # fmt: skip
    assert set(running) == set(expected)
    for name, members in expected.items():
        pods = list(chain(*members.values()))
        numbers = (sum(map(_runs, pods)), sum(not _runs(pod) for pod in pods), len(members))
        assert tuple(running[name][field] for field in ("running", "pending", "workloads")) == numbers
        _check_shape(running[name], members[name][0], found["pools"], plain)


def _runs(pod: Json) -> bool:
    return "nodeName" in pod["spec"]


def _alike(owners: dict[str, list[Json]]) -> list[dict[str, list[Json]]]:
    """The workloads in groups of those whose first pods differ in their node alone."""
    groups: dict[str, dict[str, list[Json]]] = defaultdict(dict)
    for name, pods in owners.items():
        spec = {field: value for field, value in pods[0]["spec"].items() if field != "nodeName"}
        groups[json.dumps(spec, sort_keys=True)][name] = pods
    return list(groups.values())


def _check_shape(found: Json, pod: Json, pools: list[Json], plain: Arithmetic) -> None:
    per_node = {node: fits for node in plain.nodes if (fits := plain.fits(pod, node))}
    assert (found["perNode"], found["fits"]) == (per_node, sum(per_node.values()))
    assert bool(found["why"]) == (not per_node)
    asked = {name: amount for name, amount in plain.requests(pod).items() if name != "pods"}
    assert found["requests"] == asked
    _check_stranded(found["stranded"], pod, list(plain.nodes), plain)
    for pool in pools:
        (part,) = (each for each in pool["shapes"] if each["name"] == found["name"])
        names = [name for name in plain.nodes if _place(plain.nodes[name]) == (pool["name"], pool["zone"])]
        assert part["fits"] == sum(per_node.get(name, 0) for name in names)
        _check_stranded(part["stranded"], pod, names, plain)


def _place(node: Json) -> tuple[str, str | None]:
    labels = node["metadata"]["labels"]
    return f"pool={labels['pool']}", labels.get("topology.kubernetes.io/zone")


def _check_stranded(found: list[Json], pod: Json, names: list[str], plain: Arithmetic) -> None:
    assert {each["resource"] for each in found} == {name for name in plain.requests(pod) if name != "pods"}
    for each in found:
        free = {name: left for name in names if (left := plain.free(name, each["resource"]))}
        by_reason: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for name, left in free.items():
            if not plain.fits(pod, name):
                by_reason[plain.reasons(pod, name)].append(left)
        told = {tuple(part["reasons"]): (part["nodes"], part["free"]) for part in each["blockedBy"]}
        assert told == {reasons: (len(lost), sum(lost)) for reasons, lost in by_reason.items()}
        amounts = [part["free"] for part in each["blockedBy"]]
        assert amounts == sorted(amounts, reverse=True)
        assert (each["free"], each["stranded"]) == (sum(free.values()), sum(amounts))

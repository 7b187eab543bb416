"""Which node groups cluster-autoscaler balances, and what keeps two of them apart."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_cluster_autoscaler import ZONE, asked, autoscaler, node, of_daemon_set, pod

Json = dict[str, Any]

BALANCING = "--balance-similar-node-groups"
AWS = "aws:///a/i-1"


def grouped(name: str, group: str, memory: str = "8Gi", provider: str = AWS, **labels: str) -> Json:
    made = node(name, group, cpu="8", providerID=provider)
    amounts = {**made["status"]["allocatable"], "memory": memory}
    return {**made, "metadata": {**made["metadata"], "labels": {**made["metadata"]["labels"], **labels}},
            "status": {**made["status"], "allocatable": amounts, "capacity": amounts}}  # fmt: skip


def said(folder: Path, *objects: Json, flags: tuple[str, ...] = (BALANCING,)) -> list[str]:
    found = asked(folder, autoscaler(*flags), *objects, pod()).explanations[0].new_nodes
    assert found is not None
    assert found.cluster_autoscaler is not None
    return list(found.cluster_autoscaler.balance)


def test_groups_that_differ_in_zone_and_name_alone_are_balanced(tmp_path: Path) -> None:
    pair = [grouped("n1", "one", **{ZONE: "a"}), grouped("n2", "two", **{ZONE: "b"})]
    assert said(tmp_path, *pair) == ["It balances node group one with two"]
    assert said(tmp_path, *pair, flags=()) == [
        "It adds all nodes to one of these groups, as --balance-similar-node-groups is off"
    ]
    assert said(tmp_path, pair[0]) == []


def test_a_label_keeps_groups_apart_until_a_flag_leaves_it_aside(tmp_path: Path) -> None:
    pair = [grouped("n1", "one", team="x"), grouped("n2", "two", team="y")]
    assert said(tmp_path, *pair) == [
        "It does not balance two with one: label team differs (x and y); --balancing-ignore-label=team"
    ]
    ignoring = (BALANCING, "--balancing-ignore-label=team")
    assert said(tmp_path, *pair, flags=ignoring) == ["It balances node group one with two"]
    by_label = (BALANCING, "--balancing-label=pair")
    assert "label pair differs" in said(tmp_path, *pair, flags=by_label)[0]


@pytest.mark.parametrize(
    ("provider", "is_left_aside"),
    [(AWS, True), ("azure:///x", False), ("gce://x", False), ("clusterapi://x", False)],
    ids=["aws", "azure", "gce", "clusterapi"],
)
def test_the_labels_that_are_left_aside_are_the_clouds(tmp_path: Path, provider: str, is_left_aside: bool) -> None:
    nodes = [grouped(f"n{each}", each, provider=provider, lifecycle=each) for each in ("one", "two")]
    assert ("lifecycle" in " ".join(said(tmp_path, *nodes))) is not is_left_aside


def test_amounts_may_differ_by_a_share(tmp_path: Path) -> None:
    assert said(tmp_path, grouped("n1", "one"), grouped("n2", "two", memory="8150Mi"))[0].startswith("It balances")
    apart = said(tmp_path, grouped("n1", "one"), grouped("n2", "two", memory="7Gi"))
    assert apart == ["It does not balance two with one: capacity of memory differs (8Gi and 7Gi)"]
    wider = (BALANCING, "--memory-difference-ratio=0.2", "--max-allocatable-difference-ratio=0.2",
             "--max-free-difference-ratio=0.2")  # fmt: skip
    assert said(tmp_path, grouped("n1", "one"), grouped("n2", "two", memory="7Gi"), flags=wider)[0].startswith(
        "It balances"
    )


def test_pods_of_daemon_sets_count(tmp_path: Path) -> None:
    agent = of_daemon_set(pod("agent", "2", on="n1"))
    assert "leave different amounts of cpu free" in said(tmp_path, grouped("n1", "one"), grouped("n2", "two"), agent)[0]


def test_free_storage_of_containers_counts_as_well(tmp_path: Path) -> None:
    one, two = grouped("n1", "one"), grouped("n2", "two")
    for each, storage in ((one, "100Gi"), (two, "98Gi")):
        each["status"]["allocatable"] = {**each["status"]["allocatable"], "ephemeral-storage": storage}
    assert said(tmp_path, one, two)[0].startswith("It balances")
    exactly = (BALANCING, "--max-free-difference-ratio=0")
    assert "leave different amounts of ephemeral-storage free" in said(tmp_path, one, two, flags=exactly)[0]

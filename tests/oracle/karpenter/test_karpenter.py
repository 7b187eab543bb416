"""Our replay and Karpenter agree on generated clusters, and read the same instance types.

python -m tests.oracle.karpenter.compare --pods 20000      the long run
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_types_file import instance_types_of_file
from tests.karpenter_decisions import instance_type
from tests.oracle.build import GoMissingError
from tests.oracle.karpenter.compare import verdict
from tests.oracle.karpenter.generate import request_of, with_movement, with_overlays, with_rarities
from tests.oracle.karpenter.generate_devices import with_devices
from tests.oracle.karpenter.generate_newer import with_newer_rules
from tests.oracle.karpenter.oracle import VERSION, KarpenterOracle, instance_types

pytestmark = pytest.mark.oracle

CLUSTERS = (*range(150), 1611, 7000572)
"""The requests of a NodeClaim in 1611 depend on the order in which Karpenter sees groups of daemons.

In 7000572 the last NodeClaim of a NodePool lowers no minValues, and an earlier one does.
"""

OVERLAID = 60
RARE = 60
MOVING = 60
NEWER = 40
CLAIMING = 40


@pytest.fixture(scope="module")
def karpenter() -> Iterator[KarpenterOracle]:
    yield from _running(VERSION)


@pytest.fixture(scope="module")
def newest() -> Iterator[KarpenterOracle]:
    yield from _running("1.15.0")


def _running(version: str) -> Iterator[KarpenterOracle]:
    try:
        running = KarpenterOracle(version)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    with running:
        yield running


@pytest.mark.usefixtures("karpenter")
def test_instance_types_of_a_file_are_those_that_the_kwok_provider_makes_of_it(tmp_path: Path) -> None:
    offering = {"Requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},
                                 {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
                "Price": 0.5}  # fmt: skip
    stated = [
        {"name": name, "architecture": "amd64", "operatingSystems": ["linux"], "offerings": [offering],
         "resources": {"cpu": cpu, "memory": "4Gi"} | more}
        for name, cpu, more in (("m5.xlarge", "4", {}), ("n2-standard-4", "4000m", {"pods": "8"}), ("D2", "2", {}))
    ]  # fmt: skip
    path = tmp_path / "types.json"
    path.write_text(json.dumps(stated))
    ours = instance_types_of_file(path.read_bytes(), str(path))
    theirs = [instance_type(each) for each in instance_types("kwok", str(path))]
    for own, other in zip(ours, theirs, strict=True):
        assert (own.name, own.requirements, own.allocatable) == (other.name, other.requirements, other.allocatable)
        assert [(each.requirements, each.price) for each in own.offerings] == [
            (each.requirements, each.price) for each in other.offerings
        ]


@pytest.mark.parametrize("seed", CLUSTERS)
def test_every_aspect_agrees(karpenter: KarpenterOracle, seed: int) -> None:
    assert verdict(karpenter, request_of(seed)) in {"the same", "the same, tied", "tied, in no run"}


@pytest.mark.parametrize("seed", range(OVERLAID))
def test_every_aspect_agrees_under_node_overlays(karpenter: KarpenterOracle, seed: int) -> None:
    request = with_overlays(request_of(seed), seed)
    assert verdict(karpenter, request) in {"the same", "the same, tied", "tied, in no run"}


@pytest.mark.parametrize("seed", range(RARE))
def test_every_aspect_agrees_about_rare_fields(karpenter: KarpenterOracle, seed: int) -> None:
    request = with_rarities(request_of(seed), seed)
    assert verdict(karpenter, request) in {"the same", "the same, tied", "tied, in no run"}


@pytest.mark.parametrize("seed", range(MOVING))
def test_every_aspect_agrees_about_nodes_that_go_away_gates_and_reservations(
    karpenter: KarpenterOracle, seed: int
) -> None:
    request = with_movement(request_of(seed), seed)
    assert verdict(karpenter, request) in {"the same", "the same, tied", "tied, in no run"}


@pytest.mark.parametrize("seed", range(CLAIMING))
def test_every_aspect_agrees_about_devices(karpenter: KarpenterOracle, newest: KarpenterOracle, seed: int) -> None:
    for running in (karpenter, newest):
        request = with_devices(request_of(seed), seed) | {"release": running.version}
        assert verdict(running, request) in {"the same", "the same, tied", "tied, in no run"}


@pytest.mark.parametrize("seed", range(NEWER))
def test_every_aspect_agrees_with_1_15(newest: KarpenterOracle, seed: int) -> None:
    for request in (with_movement(request_of(seed), seed), with_newer_rules(request_of(seed), seed)):
        request["release"] = newest.version
        assert verdict(newest, request) in {"the same", "the same, tied", "tied, in no run"}

"""Our explanation and the real kube-scheduler's answer agree on volume graphs of which much is broken."""

import os
from random import Random

import pytest

from tests.oracle.build import Oracle
from tests.oracle.differential import check
from tests.oracle.regressions import Keeper
from tests.plugins.random_volumes import VolumeGraph

pytestmark = pytest.mark.oracle

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "200"))


@pytest.mark.parametrize("scores", [False, True])
def test_every_aspect_agrees(oracle: Oracle, gates: frozenset[str], scores: bool) -> None:
    keeper = Keeper("volume-graphs", oracle.minor)
    switched = {"StorageCapacityScoring": scores} if "StorageCapacityScoring" in gates else {}
    for seed in range(EXAMPLES):
        graph = VolumeGraph(Random(seed))  # noqa: S311 - a test case, not a secret
        request = {
            "id": f"volume-graph-{seed}",
            "objects": [*graph.objects, *graph.running, *graph.pending],
            "config": "",
            "featureGates": switched,
            "pods": [f"default/{pod['metadata']['name']}" for pod in graph.pending],
        }
        check(oracle, request, keeper)

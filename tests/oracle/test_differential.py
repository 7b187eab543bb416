"""Our explanation and the real kube-scheduler's answer agree in every aspect, on clusters that nobody thought of.

    pytest -m oracle                                              a few minutes, Kubernetes 1.36
    ORACLE_EXAMPLES=5000 ORACLE_VERSIONS=all pytest -m oracle     as long as you like

A failure shrinks to the smallest cluster and stays in fixtures/regressions.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.oracle.build import Oracle, Request
from tests.oracle.differential import check
from tests.oracle.generate.clusters import TOPICS, requests
from tests.oracle.regressions import Keeper

pytestmark = pytest.mark.oracle

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "200"))
TOO_MUCH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.parametrize("topic", TOPICS)
def test_every_aspect_agrees(oracle: Oracle, gates: frozenset[str], topic: str) -> None:
    keeper = Keeper(topic, oracle.minor)

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(requests(topic, gates))
    def agrees(request: Request) -> None:
        check(oracle, request, keeper)

    agrees()

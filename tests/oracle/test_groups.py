"""The cycle of a group agrees with the real kube-scheduler's, on groups that nobody thought of (1.36 to 1.38).

pytest -m oracle tests/oracle/test_groups.py
ORACLE_EXAMPLES=3500 ORACLE_VERSIONS=1.36,1.37,1.38 pytest -m oracle tests/oracle/test_groups.py
"""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.oracle.generate.podgroups import TOPICS, group_requests, topics
from tests.oracle.group_decisions import differences, replay
from tests.oracle.loops.signed_groups import differs, signed_group

if TYPE_CHECKING:
    from tests.oracle.build import Oracle, Request

pytestmark = pytest.mark.oracle

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "200"))
TOO_MUCH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.parametrize("topic", TOPICS)
def test_the_cycle_of_a_group_is_the_real_schedulers(oracle: Oracle, gates: frozenset[str], topic: str) -> None:
    if "TopologyAwareWorkloadScheduling" not in gates:
        pytest.skip("this Kubernetes schedules pod by pod")
    if topic not in topics(gates):
        pytest.skip("this Kubernetes has no trees of groups")

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(group_requests(topic, gates))
    def agrees(request: Request) -> None:
        (answer,) = oracle.ask(request)
        assert not answer.get("error"), answer["error"]
        result = replay(request, oracle.patch)[answer["group"]]
        wrong = differences(answer, result)
        assert not wrong, json.dumps(wrong, indent=1)

    agrees()


def test_members_take_and_leave_the_order_of_nodes_that_the_real_one_caches(
    oracle: Oracle, gates: frozenset[str]
) -> None:
    if "TopologyAwareWorkloadScheduling" not in gates:
        pytest.skip("this Kubernetes schedules pod by pod")
    for seed in range(EXAMPLES):
        request = signed_group(random.Random(f"{oracle.minor}-{seed}"), oracle.minor)  # noqa: S311 - to be repeatable
        (answer,) = oracle.ask(request)
        assert differs(request, answer, oracle.patch) is None, seed

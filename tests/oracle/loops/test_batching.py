"""Pods of a queue go where the real scheduling loop puts them, with opportunistic batching as the gates say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from tests.oracle.generate.loops import TOPICS, loops
from tests.oracle.loops.following import differs
from tests.oracle.test_sequences import EXAMPLES, TOO_MUCH

if TYPE_CHECKING:
    from tests.oracle.build import Oracle, Request

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("topic", TOPICS)
def test_each_pod_goes_where_the_loop_puts_it(oracle: Oracle, gates: frozenset[str], topic: str) -> None:
    examples = EXAMPLES * 3 if topic == "preferences" else EXAMPLES // 2

    @settings(max_examples=examples, deadline=None, suppress_health_check=TOO_MUCH)
    @given(loops(topic, gates))
    def agrees(request: Request) -> None:
        (answer,) = oracle.ask(request)
        assert differs(request, answer, oracle.patch) is None

    agrees()

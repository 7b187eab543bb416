"""Our scheduling queue against kube-scheduler's own, step by step."""

import os

import pytest

from tests.oracle.build import VERSIONS, GoMissingError, Oracle
from tests.oracle.event_hints import differences
from tests.oracle.queue_sequences import difference

pytestmark = pytest.mark.oracle

ASKED = os.environ.get("ORACLE_VERSIONS", "1.36")
MINORS = tuple(VERSIONS) if ASKED == "all" else tuple(ASKED.split(","))


@pytest.mark.parametrize("minor", MINORS)
def test_the_queue_holds_and_hands_out_what_kube_schedulers_does(minor: str) -> None:
    try:
        oracle = Oracle(minor)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    with oracle:
        found = [said for seed in range(500) if (said := difference(oracle, seed))]
    assert not found, found[0]


@pytest.mark.parametrize("minor", MINORS)
def test_plugins_find_the_same_changes_worth_another_attempt(minor: str) -> None:
    try:
        oracle = Oracle(minor)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    with oracle:
        found = [said for seed in range(20) for said in differences(oracle, seed)[0]]
    assert not found, found[0]

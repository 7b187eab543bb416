"""Decisions of each supported minor's own kube-scheduler on generated clusters, recorded with `tests.oracle.record`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decisions import Recorded, recorded
from tests.oracle.differential import disagreements

DECISIONS = Path(__file__).parents[2] / "fixtures" / "decisions"

CASES = [
    pytest.param(path.parent.name, case, id=f"{path.parent.name}-{case.id}")
    for path in sorted(DECISIONS.glob("*/*.jsonl.gz"))
    for case in recorded(path)
]


@pytest.mark.parametrize(("minor", "case"), CASES)
def test_we_decide_as_that_minor_does(minor: str, case: Recorded) -> None:
    decided = case.case
    assert disagreements(decided["request"], decided["responses"], minor) == {}

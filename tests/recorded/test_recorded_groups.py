"""Cycles of groups as the real kube-schedulers since 1.36 ran them, recorded with `tests.oracle.record_groups`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.decisions import recorded, wrong_cases
from tests.oracle.group_decisions import differences, replay

if TYPE_CHECKING:
    from tests.decisions import Recorded

GROUPS = Path(__file__).parents[2] / "fixtures" / "groups"


@pytest.mark.parametrize("minor", sorted(path.name.removesuffix(".jsonl.gz") for path in GROUPS.glob("*.jsonl.gz")))
def test_the_group_fares_as_with_that_scheduler(minor: str) -> None:
    def differing(case: Recorded) -> object:
        answer = case.case["answer"]
        return differences(answer, replay(case.request, minor)[answer["group"]])

    assert wrong_cases(recorded(GROUPS / f"{minor}.jsonl.gz"), differing) == {}

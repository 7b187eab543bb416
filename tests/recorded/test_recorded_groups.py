"""Cycles of groups as the real kube-schedulers since 1.36 ran them, recorded with `tests.oracle.record_groups`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.group_decisions import differences, replay

GROUPS = Path(__file__).parents[2] / "fixtures" / "groups"


def cases() -> list[Any]:
    return [
        pytest.param(path.name.removesuffix(".jsonl.gz"), case, id=f"{path.name[:4]}-{case['request']['id']}")
        for path in sorted(GROUPS.glob("*.jsonl.gz"))
        for case in map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    ]


@pytest.mark.parametrize(("minor", "case"), cases())
def test_the_group_fares_as_with_that_scheduler(minor: str, case: dict[str, Any]) -> None:
    answer = case["answer"]
    result = replay(case["request"], minor)[answer["group"]]
    assert differences(answer, result) == {}

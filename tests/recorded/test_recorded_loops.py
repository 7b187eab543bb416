"""Queues of pods go where the scheduling loop of each minor put them, recorded with `tests.oracle.record_loops`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.loops import differs, followed

LOOPS = Path(__file__).parents[2] / "fixtures" / "loops"

CASES = [
    pytest.param(path.name.removesuffix(".jsonl.gz"), case, id=f"{path.name[:4]}-{case['request']['id']}")
    for path in sorted(LOOPS.glob("*.jsonl.gz"))
    for case in map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
]


@pytest.mark.parametrize(("minor", "case"), CASES)
def test_each_pod_goes_where_the_loop_put_it(minor: str, case: dict[str, Any]) -> None:
    assert differs(case["request"], case, minor) is None


def test_batching_changes_placements() -> None:
    """The recorded loops would not be the same without it."""
    changed = [
        each.pod.key
        for minor, case in (each.values for each in CASES)
        for each in followed(case["request"], case["loop"], str(minor))
        if each.instead_of is not None
    ]
    assert len(changed) >= 10

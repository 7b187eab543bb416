"""Queues of pods go where each minor's scheduling loop put them, recorded with `tests.oracle.loops.record_loops`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.loops.following import differs, followed

LOOPS = Path(__file__).parents[2] / "fixtures" / "loops"

CASES: list[tuple[str, dict[str, Any]]] = [
    (path.name.removesuffix(".jsonl.gz"), json.loads(line))
    for path in sorted(LOOPS.glob("*.jsonl.gz"))
    for line in gzip.decompress(path.read_bytes()).splitlines()
]


@pytest.mark.parametrize(("minor", "case"), CASES, ids=[f"{minor}-{case['request']['id']}" for minor, case in CASES])
def test_each_pod_goes_where_the_loop_put_it(minor: str, case: dict[str, Any]) -> None:
    assert differs(case["request"], case, minor) is None


def test_batching_changes_placements() -> None:
    """The recorded loops would not be the same without it."""
    changed = [
        each.pod.key
        for minor, case in CASES
        for each in followed(case["request"], case["loop"], minor)
        if each.instead_of is not None
    ]
    assert len(changed) >= 10

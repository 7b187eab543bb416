"""Decisions of Karpenter 1.14.1 and 1.15.0 on generated clusters, replayed (see tests/oracle/karpenter/compare.py)."""

import gzip
from pathlib import Path

import msgspec
import pytest

from tests.karpenter_decisions import as_answer, differences, options_of, replay

RECORDED = sorted(Path("fixtures/karpenter").glob("*.jsonl.gz"))
"""Clusters of all kinds, and those with leaving nodes, gated pods and reservations."""


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded_decisions_are_replayed_in_every_aspect(path: Path) -> None:
    recorded = [msgspec.json.decode(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    wrong = {}
    for each in recorded:
        request = each["request"]
        found = differences(each["results"], as_answer(replay(request), options_of(request)))
        if found:
            wrong[request["id"]] = found
    assert len(recorded) > 20
    assert wrong == {}

"""Karpenter's verdicts on nodes of generated clusters, replayed (see tests/oracle/karpenter/compare_disruption.py)."""

import gzip
from pathlib import Path

import msgspec
import pytest

from tests.oracle.karpenter.compared_disruption import ComparedDisruption

RECORDED = sorted(Path("fixtures/karpenter/disruption").glob("*.jsonl.gz"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded_verdicts_on_nodes_are_replayed_in_every_aspect(path: Path) -> None:
    recorded = [msgspec.json.decode(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    wrong: dict[str, list[str]] = {}
    for each in recorded:
        compared = ComparedDisruption(each["request"], each["disruption"])
        found = compared.differences()
        wrong |= {f"{each['request']['id']} {key}": text for key, text in found.items() if key not in compared.tied}
    assert len(recorded) > 20
    assert wrong == {}

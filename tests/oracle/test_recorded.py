"""The oracle is trusted because it gives back every decision that was recorded from kube-scheduler."""

from pathlib import Path

import pytest

from tests.oracle.build import Oracle
from tests.oracle.recorded import compare

pytestmark = pytest.mark.oracle

VECTORS = sorted((Path(__file__).parents[2] / "fixtures" / "vectors").glob("*.jsonl.gz"))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.name)
def test_reproduces_every_recorded_decision(oracle: Oracle, path: Path) -> None:
    if oracle.minor != "1.36":
        pytest.skip("these were recorded from 1.36")
    pods, wrong = compare(oracle, path)
    assert pods
    assert wrong == []

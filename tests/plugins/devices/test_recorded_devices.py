"""Recorded decisions of kube-scheduler about random devices (tests/plugins/random_devices.py), on each minor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decisions import Recorded, differences, explain, recorded
from tests.plugins.clusters import EXACT_MINORS

RECORDED = Path(__file__).parents[3] / "fixtures" / "devices"
CASES = [
    pytest.param(version, case, id=case.id)
    for version in EXACT_MINORS
    for case in recorded(RECORDED / f"{version}.jsonl.gz")
]


@pytest.mark.parametrize(("version", "case"), CASES)
def test_we_decide_as_kube_scheduler_did(version: str, case: Recorded, tmp_path: Path) -> None:
    decided = case.case
    explained = explain(decided["request"], tmp_path, version)
    found = {one["pod"]: differences(one, explained[one["pod"]]) for one in decided["responses"]}
    assert {pod: wrong for pod, wrong in found.items() if wrong} == {}

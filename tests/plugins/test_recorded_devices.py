"""Recorded decisions of kube-scheduler about random devices (tests/plugins/random_devices.py), on each minor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.decisions import cases, differences, explain
from tests.plugins.clusters import EXACT_MINORS

RECORDED = Path(__file__).parents[2] / "fixtures" / "devices"
CASES = [
    pytest.param(version, case, id=case["request"]["id"])
    for version in EXACT_MINORS
    for case in cases(RECORDED / f"{version}.jsonl.gz")
]


@pytest.mark.parametrize(("version", "case"), CASES)
def test_we_decide_as_kube_scheduler_did(version: str, case: dict[str, Any], tmp_path: Path) -> None:
    explained = explain(case["request"], tmp_path, version)
    found = {one["pod"]: differences(one, explained[one["pod"]]) for one in case["responses"]}
    assert {pod: wrong for pod, wrong in found.items() if wrong} == {}

"""Recorded decisions of kube-scheduler about random devices (tests/plugins/random_devices.py), on each minor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.decisions import differences, explain, recorded, wrong_cases
from tests.plugins.clusters import EXACT_MINORS

if TYPE_CHECKING:
    from tests.decisions import Recorded

RECORDED = Path(__file__).parents[3] / "fixtures" / "devices"


@pytest.mark.parametrize("version", EXACT_MINORS)
def test_we_decide_as_kube_scheduler_did(version: str, tmp_path: Path) -> None:
    def differing(case: Recorded) -> object:
        decided = case.case
        explained = explain(decided["request"], tmp_path, version)
        found = {one["pod"]: differences(one, explained[one["pod"]]) for one in decided["responses"]}
        return {pod: wrong for pod, wrong in found.items() if wrong}

    assert wrong_cases(recorded(RECORDED / f"{version}.jsonl.gz"), differing) == {}

"""Every recorded decision of kube-scheduler v1.36.2 in fixtures/vectors, exact in every aspect."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decisions import Recorded, differences, explain, is_refused, names_unknown_plugin, recorded, refuses

VECTORS = Path(__file__).parents[2] / "fixtures" / "vectors"
VERSION = "1.36"

CASES = [pytest.param(case, id=case.id) for path in sorted(VECTORS.glob("*.jsonl.gz")) for case in recorded(path)]


@pytest.mark.parametrize("case", CASES)
def test_we_decide_as_kube_scheduler_did(case: Recorded, tmp_path: Path) -> None:
    decided = case.case
    request, decisions = decided["request"], decided["responses"]
    if any(names_unknown_plugin(decision) for decision in decisions):
        assert not refuses(request, tmp_path, VERSION)
        return
    if any(is_refused(decision) for decision in decisions):
        assert refuses(request, tmp_path, VERSION)
        return
    explained = explain(request, tmp_path, VERSION)
    found = {decision["pod"]: differences(decision, explained[decision["pod"]]) for decision in decisions}
    assert {pod: wrong for pod, wrong in found.items() if wrong} == {}

"""Every recorded decision of kube-scheduler v1.36.2 in fixtures/vectors, exact in every aspect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.decisions import differences, explain, is_refused, names_unknown_plugin, recorded, refuses, wrong_cases

if TYPE_CHECKING:
    from tests.decisions import Recorded

VECTORS = Path(__file__).parents[2] / "fixtures" / "vectors"
VERSION = "1.36"


def differing(case: Recorded, folder: Path) -> dict[str, object]:
    """Return the aspects in which we decide otherwise, by pod."""
    decided = case.case
    request, decisions = decided["request"], decided["responses"]
    if any(names_unknown_plugin(decision) for decision in decisions):
        return {"refused": True} if refuses(request, folder, VERSION) else {}
    if any(is_refused(decision) for decision in decisions):
        return {} if refuses(request, folder, VERSION) else {"refused": False}
    explained = explain(request, folder, VERSION)
    found = {decision["pod"]: differences(decision, explained[decision["pod"]]) for decision in decisions}
    return {pod: wrong for pod, wrong in found.items() if wrong}


@pytest.mark.parametrize("name", sorted(path.name for path in VECTORS.glob("*.jsonl.gz")))
def test_we_decide_as_kube_scheduler_did(name: str, tmp_path: Path) -> None:
    assert wrong_cases(recorded(VECTORS / name), lambda case: differing(case, tmp_path)) == {}

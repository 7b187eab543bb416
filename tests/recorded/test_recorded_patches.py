"""Decisions on both sides of what a patch release changed, of kube-schedulers of these releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.decisions import explain
from tests.oracle.differential import disagreements

FOLDER = Path(__file__).parents[2] / "fixtures" / "patches"
CASES = [
    pytest.param(patch, case["request"], answer, id=f"{path.stem}-{patch}")
    for path in sorted(FOLDER.glob("*.json"))
    for case in [json.loads(path.read_text())]
    for patch, answer in case["answers"].items()
]


@pytest.mark.parametrize(("patch", "request_", "answer"), CASES)
def test_the_patch_decides(patch: str, request_: dict[str, Any], answer: dict[str, Any], tmp_path: Path) -> None:
    if "crash" not in answer:
        assert disagreements(request_, [answer], patch) == {}
        return
    (explained,) = explain(request_, tmp_path, patch).values()
    assert explained["outcome"] == "Error"
    assert explained["error"].endswith(answer["crash"])

"""Mistakes that were found by comparing with the real kube-scheduler do not come back."""

import json
from pathlib import Path

import pytest

from tests.oracle.differential import disagreements
from tests.oracle.regressions import kept


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_stays_right(path: Path) -> None:
    case = json.loads(path.read_text())
    assert disagreements(case["request"], case["responses"], case["kubernetesVersion"]) == {}

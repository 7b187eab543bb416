"""Pods and nodes as they were written, which extenders are sent."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.dump.full_objects import whole_objects
from tests.apiserver.manifests import POD

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": ["Pod"], "metadata": {"name": "a"}},
        {"kind": "Pod", "metadata": ["a"]},
        {"kind": "Pod", "metadata": {"name": "a"}, "spec": None},
        {"kind": "PodList", "items": 5},
    ],
)
def test_whole_objects_are_those_that_can_be_read(broken: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text("\n---\n".join(map(json.dumps, (broken, {"kind": "List", "items": [broken]}, POD))))
    assert whole_objects([str(path)]) == {("Pod", "shop/web-0"): POD}


def test_a_pipe_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    os.mkfifo(path)
    assert whole_objects([str(path)]) == {}

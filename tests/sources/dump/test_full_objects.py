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


UNNAMED = {name: value for name, value in POD.items() if name not in {"apiVersion", "kind"}}


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


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"kind": "PodList", "items": [UNNAMED]}]),
        "[" * 900 + json.dumps(POD) + "]" * 900,
        json.dumps({"kind": "List", "items": [{"kind": "PodList", "items": [UNNAMED]}]}),
        json.dumps({"kind": "NodeList", "items": []}) + json.dumps({"kind": "PodList", "items": [UNNAMED]}),
        json.dumps({"kind": "NodeList", "items": []}, indent=1) + "\n" + json.dumps(POD, indent=1),
    ],
)
def test_whole_objects_of_lists_in_lists_and_behind_one_another(text: str, tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text(text)
    (found,) = whole_objects([str(path)]).items()
    assert (found[0], found[1]["spec"]) == (("Pod", "shop/web-0"), POD["spec"])


def test_a_pipe_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    os.mkfifo(path)
    assert whole_objects([str(path)]) == {}

"""A snapshot of some pods alone: what a pod that was left out may use is not said to be unused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.program import run
from tests.situations import objects_of, situations

if TYPE_CHECKING:
    from pathlib import Path

UNUSED = next(each for each in situations("findings") if each.get("kinds") == ["UnusedClaim"])


def findings(dump: Path) -> list[str]:
    answer = json.loads(run("explain", UNUSED["pod"]["name"], "--from", str(dump), "-o", "json").stdout)
    return [each["kind"] for each in answer["findings"]]


def test_a_claim_is_unused_only_where_all_pods_are_seen(tmp_path: Path) -> None:
    elsewhere = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": "elsewhere"}}
    dump, whole, limited = tmp_path / "dump.json", tmp_path / "whole.json", tmp_path / "limited.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects_of(UNUSED), elsewhere]}))
    assert run("snapshot", str(whole), "--from", str(dump)).returncode == 0
    assert run("snapshot", str(limited), "-n", "default", "--from", str(dump)).returncode == 0
    assert findings(whole) == ["UnusedClaim"]
    assert findings(limited) == []

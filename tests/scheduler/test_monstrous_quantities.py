"""An amount that no cluster has fails the cycle of its pod, and of no other; in a manifest it is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.apiserver.manifests import listing, obj
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

MONSTROUS = ("1e2000", "-1e2000", "1E-2000", "9" * 5000, "0." + "0" * 3000 + "1")


@pytest.fixture(params=MONSTROUS, ids=lambda amount: amount[:8])
def dump(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A node, a pod that asks for the amount, and one that asks for nothing."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    asking = {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": request.param}}}
    pods = [
        obj("Pod", "odd", "default", spec={"containers": [asking]}),
        obj("Pod", "even", "default", spec={"containers": [{"name": "c", "image": "a:1"}]}),
    ]
    (tmp_path / "odd.json").write_text(json.dumps(pods[0]))
    path = tmp_path / "d.json"
    path.write_text(json.dumps(listing(obj("Node", "n1", status={"allocatable": room}), *pods)))
    return str(path)


def test_a_stored_one_is_the_error_of_its_pod_alone(dump: str) -> None:
    done = run("explain", "--pending", "-o", "json", "--from", dump)
    outcomes = {each["pod"]["name"]: each["outcome"] for each in json.loads(done.stdout)["items"]}
    assert outcomes == {"odd": "Error", "even": "Schedulable"}
    alone = run("explain", "odd", "-o", "json", "--from", dump)
    assert alone.returncode == 1
    assert "pod default/odd: cpu: " in json.loads(alone.stdout)["error"]
    assert len(json.loads(alone.stdout)["error"]) < 300
    assert run("explain", "even", "--from", dump).returncode == 0


def test_one_in_a_manifest_is_refused(dump: str) -> None:
    done = run("whatif", dump.replace("d.json", "odd.json"), "--from", dump)
    assert done.returncode == 2
    assert "spec.containers[0].resources.requests[cpu]" in done.stderr

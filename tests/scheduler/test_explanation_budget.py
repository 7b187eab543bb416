"""Evidence and suggestions for one pod have one budget, and say when it is used up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.scheduler.explanation_budget import ExplanationBudget
from tests.apiserver.manifests import listing, obj
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

MANY = 3000
SPECS: dict[str, dict[str, Any]] = {
    "tolerations": {"tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(MANY)]},
    "selectors": {"nodeSelector": {f"label{number}": "v" for number in range(MANY)}},
    "spread constraints": {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": f"k{number}", "whenUnsatisfiable": "DoNotSchedule"} for number in range(1000)
        ]
    },
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_pod_larger_than_any_is_decided_and_not_searched(tmp_path: Path, spec: dict[str, Any]) -> None:
    taints = [{"key": f"t{number}", "effect": "NoSchedule"} for number in range(500)]
    node = obj("Node", "n1", spec={"taints": taints})
    pod = obj("Pod", "web", "default", spec={"containers": [{"name": "c"}], **spec})
    path = tmp_path / "d.json"
    path.write_text(json.dumps(listing(node, pod)))
    said = json.loads(run("explain", "web", "--evidence", "-o", "json", "--from", str(path)).stdout)
    assert (said["outcome"], said["suggestions"]) == ("Unschedulable", [])
    assert any("the pod's spec is over 32 KiB" in warning for warning in said["warnings"])
    texts = [each["text"] for each in said["nodes"][0]["rejections"][0]["evidence"]]
    assert all("was not looked for" in text for text in texts)
    assert texts
    assert "is over 32 KiB" in run("explain", "web", "--from", str(path)).stdout


def test_time_is_counted_once_and_only_while_something_runs() -> None:
    budget = ExplanationBudget(Pod(), 1e-9)
    assert not budget.is_over()
    with budget.running(), budget.running():
        while not budget.is_over():
            pass
    assert budget.is_over()
    assert budget.warnings == ("the search for evidence and suggestions was stopped after 1e-09 s",)

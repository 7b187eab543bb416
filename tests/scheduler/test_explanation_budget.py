"""Evidence, suggestions and the cycles that they try have one budget, and say when it is used up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import load_configuration
from kubectl_sched.framework.cycle_budget import BudgetEnded, CycleLimits
from kubectl_sched.scheduler.explanation_budget import ExplanationBudget
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.suggestions.search import suggest
from tests.apiserver.manifests import listing, obj
from tests.plugins.clusters import node, pod, snapshot
from tests.program import run
from tests.scheduler.cycles import with_cycle

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
    tainted = obj("Node", "n1", spec={"taints": taints})
    large = obj("Pod", "web", "default", spec={"containers": [{"name": "c"}], **spec})
    path = tmp_path / "d.json"
    path.write_text(json.dumps(listing(tainted, large)))
    said = json.loads(run("explain", "web", "--evidence", "-o", "json", "--from", str(path)).stdout)
    assert (said["outcome"], said["suggestions"]) == ("Unschedulable", [])
    assert any("the pod's spec is over 32 KiB" in warning for warning in said["warnings"])
    texts = [each["text"] for each in said["nodes"][0]["rejections"][0]["evidence"]]
    assert all("was not looked for" in text for text in texts)
    assert texts
    assert "is over 32 KiB" in run("explain", "web", "--from", str(path)).stdout


def test_parts_and_the_cycles_that_are_tried_draw_on_one_budget() -> None:
    budget = ExplanationBudget(Pod(), CycleLimits(steps=2_000, memory=1 << 30))
    assert budget.allows(0)
    tried = budget.for_member(0, 0)
    with pytest.raises(BudgetEnded):
        tried.spend(2_000)
    assert budget.is_over
    assert not budget.allows(0)
    assert budget.warnings == ("the search for evidence and suggestions was stopped after 2,000 steps of work",)


def test_where_it_ends_the_decision_stays() -> None:
    taints = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    nodes = snapshot(*(node(f"w{number}", taints=taints) for number in range(3)))
    whole, cut = (Scheduler(load_configuration(), nodes).schedule_one(pod()) for _ in range(2))
    assert whole.filter_evidence("TaintToleration", 0)[0].facts
    assert suggest(whole)
    assert whole.explaining.warnings == ()
    assert whole.explaining.steps > with_cycle(whole).state.budget.steps > 0
    vars(cut)["explaining"] = ExplanationBudget(cut.pod, CycleLimits(steps=300, memory=1 << 30))
    assert suggest(cut) == ()
    assert "was stopped after 300 steps of work" in cut.explaining.warnings[0]
    assert "was not looked for (the search" in cut.filter_evidence("TaintToleration", 0)[0].text
    assert (cut.outcome, cut.message, cut.budget_ended) == (whole.outcome, whole.message, None)

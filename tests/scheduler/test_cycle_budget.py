"""A cycle whose budget ends is Unknown, names what was not judged, and counts nothing as passed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched import __main__
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import BudgetEnded, CycleBudget, CycleLimits
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.apiserver.manifests import listing, obj
from tests.plugins.clusters import node, pod, requests, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult

MEMORY = 1 << 30
NODES = [node(name, allocatable={"cpu": cpu, "pods": "9"}) for name, cpu in (("w1", "4"), ("w2", "1"), ("w3", "4"))]
PODS = {"fits": pod(**requests(cpu="2")), "fits nowhere": pod(**requests(cpu="64"))}
FORMATS = ("table", "wide", "json", "yaml", "markdown", "html", "name")


def cycle(incoming: Pod, steps: int) -> ScheduleResult:
    limits = CycleLimits(steps=steps, memory=MEMORY)
    configuration = load_configuration(None, KubeVersion.parse("1.36"))
    return Scheduler(configuration, snapshot(*NODES), limits=limits).schedule_one(incoming)


def steps_of(result: ScheduleResult) -> int:
    assert result.state is not None
    return result.state.budget.steps


@pytest.mark.parametrize("incoming", PODS.values(), ids=PODS)
def test_wherever_the_budget_ends_the_outcome_is_unknown_and_says_what_was_not_judged(incoming: Pod) -> None:
    whole = cycle(incoming, 10**9)
    needed = steps_of(whole)
    assert whole.outcome in {Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE}
    for steps in range(needed):
        result = cycle(incoming, steps)
        assert result.outcome is Outcome.UNKNOWN
        assert result.unknown
        assert f"more than {steps:,} steps" in result.unknown[0].error
        assert not result.has_met_a_bug
        assert not result.best
        assert set(result.feasible.tolist()) <= set(whole.feasible.tolist())
        assert result.event is None
    enough = cycle(incoming, needed)
    assert (enough.outcome, enough.best, enough.event) == (whole.outcome, whole.best, whole.event)
    assert not enough.unknown


def test_once_it_has_ended_nothing_more_is_allowed() -> None:
    budget = CycleBudget(CycleLimits(steps=10, memory=2 << 20))
    budget.spend(10)
    budget.hold(2 << 20)
    budget.release(1 << 20)
    with pytest.raises(BudgetEnded, match="more than 2 MiB of memory"):
        budget.hold((1 << 20) + 1)
    with pytest.raises(BudgetEnded, match="more than 2 MiB of memory"):
        budget.spend(0)
    budget.renewed().spend(10)


@pytest.fixture
def dump(tmp_path: Path) -> str:
    """Three nodes and two pods."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    nodes = [obj("Node", f"w{number}", status={"allocatable": room}) for number in range(3)]
    pods = [obj("Pod", name, "default", spec={"containers": [{"name": "c"}]}) for name in ("web", "db")]
    path = tmp_path / "d.json"
    path.write_text(json.dumps(listing(*nodes, *pods)))
    return str(path)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["kubectl-sched", *arguments])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("steps", [0, 12, 40])
def test_every_format_says_so_and_the_exit_code_is_3(
    dump: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], output: str, steps: int
) -> None:
    limits = CycleLimits(steps=steps, memory=MEMORY)
    monkeypatch.setattr("kubectl_sched.scheduler.schedule_one.CycleBudget", lambda _: CycleBudget(limits))
    assert run(monkeypatch, "explain", "web", "--from", dump, "-o", output) == 3
    said = capsys.readouterr()
    assert output == "name" or f"more than {steps:,} steps" in said.out
    assert "bug" not in said.out + said.err
    if output == "json":
        data: dict[str, Any] = json.loads(said.out)
        assert (data["outcome"], data["best"], data["event"]) == ("Unknown", [], None)
        assert data["unknown"][0]["plugin"]
    for arguments in (["--pending"], ["web", "--node", "w1"], ["web", "--evidence"]):
        assert run(monkeypatch, "explain", *arguments, "--from", dump, "-o", output) == 3
    assert run(monkeypatch, "triage", "--from", dump, *(["-o", output] if output in {"json", "table"} else [])) == 3

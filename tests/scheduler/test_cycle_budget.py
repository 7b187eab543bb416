"""A cycle whose budget ends is Unknown, names what was not judged, and counts nothing as passed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched import __main__
from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.diagnostics.not_replayed import not_replayed
from kubectl_sched.framework.cycle_budget import BudgetEnded, CycleBudget, CycleLimits
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.apiserver.manifests import listing, obj
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.scheduler.cycles import profile, with_cycle

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
    return with_cycle(result).state.budget.steps


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


def test_a_what_if_says_so_with_exit_code_3(
    dump: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(obj("Pod", "new", "default", spec={"containers": [{"name": "c", "image": "a"}]})))
    limits = CycleLimits(steps=12, memory=MEMORY)
    monkeypatch.setattr("kubectl_sched.scheduler.schedule_one.CycleBudget", lambda _: CycleBudget(limits))
    for replicas in ([], ["--replicas", "3"], ["--replicas", "max"]):
        assert run(monkeypatch, "whatif", str(manifest), *replicas, "--from", dump, "-o", "json") == 3
        data = json.loads(capsys.readouterr().out)
        assert data["placed"] == 0
        assert {each["outcome"] for each in data["placements"]} <= {"Unknown"}


DEVICES = 100
SIDES = 7


def devices_of(name: str) -> ResourceSlice:
    """A hundred devices on seven sides, so that no sixteen of one side can be had."""
    published = [{"name": f"d{each}", "attributes": {"side": {"int": each % SIDES}}} for each in range(DEVICES)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example", "nodeName": name, "pool": pool, "devices": published}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def picky_claim() -> ResourceClaim:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 8}
    asked = [{"name": name, "exactly": exactly} for name in ("a", "b")]
    devices = {"requests": asked, "constraints": [{"matchAttribute": "d.example/side"}]}
    identity = {"name": "picky", "namespace": "default", "uid": "picky"}
    return msgspec.convert({"metadata": identity, "spec": {"devices": devices}, "status": {}}, ResourceClaim)


def search_for_devices(version: str, **limits: Any) -> ScheduleResult:
    arguments = {"kind": "DynamicResourcesArgs", "apiVersion": "kubescheduler.config.k8s.io/v1", "filterTimeout": "1us"}
    plugin_config = [{"name": "DynamicResources", "args": arguments}]
    configuration = load_configuration(profile(pluginConfig=plugin_config), KubeVersion.parse(version))
    names = ("w1", "w2")
    device_class = msgspec.convert({"metadata": {"name": "any"}, "spec": {}}, DeviceClass)
    nodes = snapshot(*map(node, names), *map(devices_of, names), device_class, picky_claim(), version=version)
    using = pod(resourceClaims=[{"name": "c", "resourceClaimName": "picky"}])
    return Scheduler(configuration, nodes, limits=CycleLimits(memory=MEMORY, **limits)).schedule_one(using)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.35", "0/2 nodes are available: 2 timed out trying to allocate devices."),
        ("1.36", "node w1: timed out trying to allocate devices"),
    ],
)
def test_a_scheduler_gives_up_on_a_node_after_the_filter_timeout(version: str, said: str) -> None:
    result = search_for_devices(version, steps=10**9, keeps_time=True)
    assert said in (result.error or result.message or "")
    assert not result.unknown


@pytest.mark.parametrize("version", ["1.35", "1.36"])
def test_an_answer_knows_no_clock_and_says_that_kube_scheduler_has_one(version: str) -> None:
    result = search_for_devices(version, steps=200_000)
    assert result.outcome is Outcome.UNKNOWN
    assert [(each.plugin, each.node) for each in result.unknown] == [("DynamicResources", None)]
    assert "kube-scheduler itself gives up on a node after 1e-06 s" in " ".join(not_replayed(with_cycle(result)))

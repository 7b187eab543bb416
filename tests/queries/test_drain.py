"""A drain as a plan: what is blocked, lost, pending and moved, in an order in which budgets hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.drain import DrainQuestion, drain
from kubectl_sched.render.answers.drain import drain_data, drain_document, drain_exit_code
from kubectl_sched.render.display import Display
from kubectl_sched.render.writers.text import document_parts
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.examples import examples
from tests.program import run
from tests.render.worlds import screen
from tests.simulation.fragmented import fragmented
from tests.situations import objects_of, situations

if TYPE_CHECKING:
    from kubectl_sched.queries.drain import DrainAnswer

SITUATIONS = situations("drain")
GOLDEN = Path(__file__).parents[1] / "golden"


def planned(situation: dict[str, Any], folder: Path) -> DrainAnswer:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects_of(situation)}))
    return drain(DrainQuestion(nodes=tuple(situation["drain"]), replay=Replay(kube_version="1.36")), read([str(file)]))


def text_of(answer: DrainAnswer, width: int = 400) -> str:
    display = Display(output="wide")
    parts = document_parts(drain_document(answer, display), width, display)
    return "\n".join(str(line) for part in parts for line in part.full)


def fates(answer: DrainAnswer) -> dict[str, str]:
    data = drain_data(answer)
    found = {each["pod"]["name"]: "stays" for each in data["stays"]}
    found |= {each["pod"]["name"]: "lost" for each in data["lost"]}
    found |= {each["pod"]["name"]: f"blocked {each['by']}" for each in data["blocked"]}
    found |= {each["pod"]["name"]: "pending" for each in data["pending"]}
    return found | {each["pod"]["name"]: f"moves {each['node']}" for each in data["moves"]}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each["situation"])
def test_a_drain_does_to_each_pod_what_the_situation_says(situation: dict[str, Any], tmp_path: Path) -> None:
    answer = planned(situation, tmp_path)
    text = " ".join(text_of(answer).split())
    assert situation["then"].items() <= fates(answer).items()
    assert drain_exit_code(answer) == situation["exit"], text
    assert [each for each in situation.get("says", ()) if each not in text] == [], text
    assert [each for each in situation.get("lacks", ()) if each in text] == [], text
    if "rounds" in situation:
        assert [[pod.name for pod in each] for each in answer.plan.rounds] == situation["rounds"]


@pytest.mark.parametrize("output", ["table", "wide", "markdown", "html", "json", "yaml", "name"])
@pytest.mark.parametrize("command", [("drain",), ("whatif", "--drain")])
def test_every_format_says_the_premise(command: tuple[str, ...], output: str) -> None:
    done = run(*command, "general-1", "--from", "fixtures/demo", "-o", output)
    assert done.returncode == 0
    assert "f general-1 were drained" in done.stdout + done.stderr


def test_a_node_that_is_not_there_is_bad_input_with_near_names() -> None:
    done = run("drain", "general-9", "--from", "fixtures/demo")
    assert (done.returncode, "near it: general-1" in done.stderr) == (2, True)


def test_nothing_named_is_bad_usage() -> None:
    assert run("drain", "--from", "fixtures/demo").returncode == 2


def test_nodes_are_selected_by_labels_as_kubectl_drain_does(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    situation = {**SITUATIONS[0], "nodes": [{"name": "n1", "labels": {"pool": "old"}}, {"name": "n2"}]}
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects_of(situation)}))
    done = run("drain", "-l", "pool=old", "--from", str(file), "-o", "json")
    assert json.loads(done.stdout)["nodes"] == ["n1"]


def test_budgets_that_are_known_to_be_missing_leave_it_unknown(tmp_path: Path) -> None:
    items = [each for each in objects_of(SITUATIONS[0]) if each["kind"] != "PodDisruptionBudget"]
    for number, item in enumerate(items):
        (tmp_path / f"{number}.json").write_text(json.dumps(item))
    done = run("drain", "n1", "--from", str(tmp_path), "-o", "json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["outcome"], data["finishes"]) == (3, "Unknown", None)
    assert data["unreadable"][0]["kind"] == "PodDisruptionBudget"
    assert data["commands"] == []
    assert "kubectl drain" not in run("drain", "n1", "--from", str(tmp_path)).stdout


def cluster(seed: int) -> Dump:
    return Dump(objects=tuple(fragmented(seed)))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6))
def test_each_move_has_a_place_that_a_fresh_cycle_confirms_and_every_round_keeps_every_budget(seed: int) -> None:
    dump = cluster(seed)
    node = min(pod.spec.node_name for pod in dump.pods if pod.spec.node_name)
    answer = drain(DrainQuestion(nodes=(node,), replay=Replay(kube_version="1.36")), dump)
    plan = answer.plan
    budgets = EvictionBudgets([each for each in dump.objects if isinstance(each, PodDisruptionBudget)])
    landed = {each.pod.key for each in plan.moves}
    spent: Counter[str] = Counter()
    for each in plan.rounds:
        asked = Counter(budget.key for pod in each for budget in budgets.asked_for(pod))
        allowed = {budget.key: budget.status.disruptions_allowed for pod in each for budget in budgets.asked_for(pod)}
        assert all(number + spent[key] <= allowed[key] for key, number in asked.items())
        spent += Counter(budget.key for pod in each for budget in budgets.asked_for(pod) if pod.key not in landed)
    for placed in plan.moves:
        without = plan.after.remove_pod(placed.pod.namespace, placed.pod.name)
        scheduler = Scheduler(load_configuration(None, KubeVersion.parse("1.36"), None), without)
        assert placed.node in {without.names[row] for row in scheduler.cycle(placed.pod, without, None).feasible}
        assert placed.node != node
    on_node = {pod.key for pod in dump.pods if pod.spec.node_name == node and not pod.has_ended}
    gone = {pod.key for pod in plan.leaving}
    held = {each.pod.key for each in plan.blocked}
    stays = {each.pod.key for each in plan.stays}
    assert gone | held | stays == on_node
    assert not gone & held


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", ["all at once", "a budget that allows no disruption"])
def test_a_plan_looks_as_recorded(name: str, width: int, tmp_path: Path, *, update_golden: bool) -> None:
    situation = next(each for each in SITUATIONS if each["situation"] == name)
    golden = GOLDEN / f"drain-{name.replace(' ', '-')}.{width}.txt"
    text = screen(drain_document(planned(situation, tmp_path), Display()), width)
    if update_golden:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")

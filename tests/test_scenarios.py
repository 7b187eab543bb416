"""Every folder of fixtures/scenarios is a small cluster with what must come out for one of its pods.

`config.yaml`, where there is one, is the configuration to replay. `expected.json` holds the fields of the Explanation
that matter; texts under summary, warnings, evidence, hints and suggestion need only be contained.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_sched.queries.explanation import explanation_of
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection, select
from kubectl_sched.suggestions.search import suggest

SCENARIOS = Path(__file__).parent.parent / "fixtures" / "scenarios"
EXACT = ("outcome", "best", "feasible", "message", "event", "currentNode")
COMPARED = {*EXACT, "pod", "exit", "summary", "warnings", "evidence", "hints", "facts", "suggestion", "rejected"}


def explained(folder: Path, pod_name: str) -> dict[str, Any]:
    dump = read([str(folder / "cluster.yaml")])
    configuration = configuration_for(dump, replay_of(folder))
    scheduler, left_out = scheduler_for(dump, configuration)
    (pod,) = select(dump.objects, Selection(targets=(pod_name,)))
    result = scheduler.schedule_one(pod)
    answer = replace(explanation_of(result, scheduler), suggestions=suggest(result))
    data = explanation_data(answer, headline(answer), evidence=lambda _: True)
    return {**data, "exit": 0 if result.fits else 1, "warnings": [*data["warnings"], *dump.warnings, *left_out]}


def replay_of(folder: Path) -> Replay:
    """With config.yaml where there is one; an old apiVersion says itself which minor serves it."""
    config = folder / "config.yaml"
    if not config.exists():
        return Replay(kube_version="1.36")
    is_current = "k8s.io/v1\n" in config.read_text()
    return Replay(config=str(config), kube_version="1.36" if is_current else None)


def evidence_of(data: dict[str, Any], node: str) -> list[dict[str, Any]]:
    (found,) = (each for each in data["nodes"] if each["name"] == node)
    return [evidence for part in (*found["rejections"], *found["scores"]) for evidence in part["evidence"]]


def assert_contained(parts: list[str], texts: list[str]) -> None:
    for part in parts:
        assert any(part in text for text in texts), (part, texts)


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in SCENARIOS.glob("*/expected.json")), ids=lambda f: f.name
)
def test_the_outcome_is_what_the_scenario_says(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    assert set(expected) <= COMPARED
    data = explained(folder, expected["pod"])

    exact = [field for field in (*EXACT, "exit") if field in expected]
    assert {field: data[field] for field in exact} == {field: expected[field] for field in exact}
    assert_contained(expected.get("summary", []), [data["summary"]])
    assert_contained(expected.get("warnings", []), data["warnings"])
    for node, texts in expected.get("evidence", {}).items():
        assert_contained(texts, [each["text"] for each in evidence_of(data, node)])
    for node, texts in expected.get("hints", {}).items():
        assert_contained(texts, [hint for each in evidence_of(data, node) for hint in each["hints"]])
    for node, facts in expected.get("facts", {}).items():
        assert any(facts.items() <= each["facts"].items() for each in evidence_of(data, node))
    for node, plugins in expected.get("rejected", {}).items():
        (found,) = (each for each in data["nodes"] if each["name"] == node)
        assert [each["plugin"] for each in found["rejections"]] == plugins
    if "suggestion" in expected:
        assert_suggested(expected["suggestion"], data["suggestions"])


def assert_suggested(expected: dict[str, str] | None, suggestions: list[dict[str, Any]]) -> None:
    if expected is None:
        assert suggestions == []
        return
    suggested = [each for each in suggestions if each["commands"] and expected["command"] in each["commands"][0]]
    assert suggested
    assert suggested[0]["node"] == expected["node"]

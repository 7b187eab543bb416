"""Brief answers: never larger than they may be, and whatever they leave out is counted."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.writers.brief import ANSWER_BYTES, MARK, POD_BYTES, brief
from kubectl_sched.render.writers.data import as_json, as_yaml, printed_size
from tests.program import run
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = ("--from", str(Path(__file__).parent.parent.parent / "fixtures" / "demo"))
COMMANDS = {
    "explain": ("explain", "pod", "web-0"),
    "triage": ("triage",),
    "whatif": ("whatif", "--drain", "general-*"),
    "make room": ("whatif", "--make-room", "statefulset/web"),
    "capacity": ("capacity",),
    "schedulers": ("schedulers",),
    "diff": ("diff", "--to-kube-version", "1.33"),
}
FORMATS: dict[str, Callable[[str], Any]] = {"json": json.loads, "yaml": yaml.safe_load}

HOSTILE = {"long": "x" * 5000, "escapes": "\x1b" * 3000, "quotes": "'" * 3000, "beyond": "\U000e0001" * 2000}


def inflated(value: Any, text: str) -> Any:
    """Lengthen each list of the answer, and make each text hostile."""
    if isinstance(value, dict):
        return {key: inflated(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [inflated(each, text) for each in value * 4]
    return text if isinstance(value, str) else value


@cache
def answer(name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(run(*COMMANDS[name], *DEMO, "-o", "json").stdout)
    return whole


def hostile_answer(name: str, text: str) -> dict[str, Any]:
    whole = {key: value for key, value in answer(name).items() if key != "nodes"}
    return {**inflated(whole, text), "apiVersion": whole["apiVersion"], "kind": whole["kind"]}


def entries(value: Any, path: str = "") -> dict[str, int]:
    """Count the characters of texts, and the entries of lists and maps, by path."""
    if isinstance(value, str):
        return {path: len(value.removesuffix(MARK))}
    counts: dict[str, int] = {}
    parts = [(f"{path}.{key}".lstrip("."), each) for key, each in value.items()] if isinstance(value, dict) else []
    parts += [(f"{path}[]", each) for each in value] if isinstance(value, list) else []
    if isinstance(value, dict | list) and path:
        counts[path] = len(value)
    for below, each in parts:
        for inner, number in entries(each, below).items():
            counts[inner] = counts.get(inner, 0) + number
    return counts


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_never_larger_than_it_may_be(name: str, text: str, output: str) -> None:
    made = brief(hostile_answer(name, HOSTILE[text]), printed_size(output))
    most = POD_BYTES if made["kind"] == "Explanation" else ANSWER_BYTES
    assert len(as_json(made) if output == "json" else as_yaml(made).encode()) <= most
    assert made["leftOut"]


@pytest.mark.parametrize("name", ["capacity", "schedulers", "make room"])
def test_what_is_missing_is_counted(name: str) -> None:
    whole = hostile_answer(name, "x" * 900)
    made = brief(whole, printed_size("json"))
    left_out, kept = made.pop("leftOut"), entries(made)
    for path, number in entries(whole).items():
        above = any(path != cut and path.startswith(cut) for cut in left_out)
        assert above or kept.get(path, 0) + left_out.get(path, 0) == number


def test_a_pod_on_5000_nodes_has_all_that_decides() -> None:
    found = explained([*gpu_cluster(5000, 120), *gpu_users(120, 119), gpu_pod()])
    whole = explanation_data(found, "", with_nodes=False)
    for output in FORMATS:
        made = brief(whole, printed_size(output))
        assert len(as_json(made) if output == "json" else as_yaml(made).encode()) <= POD_BYTES
        assert made["groups"] == whole["groups"]
        assert len(made["closest"]) == 5
        assert [each["rung"] for each in made["suggestions"]] == [each["rung"] for each in whole["suggestions"]]
        assert made["leftOut"] == {}


def test_a_command_is_whole_or_left_out() -> None:
    commands = ["kubectl uncordon w1", "kubectl label node " + "w" * 50_000]
    data = {"kind": "Explanation", "suggestions": [{"text": "t", "commands": commands}], "warnings": ["x" * 30_000]}
    made = brief(data, printed_size("json"))
    assert made["suggestions"] == [{"text": "t", "commands": commands[:1]}]
    assert made["leftOut"]["suggestions[].commands"] == 1


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_it(name: str, output: str) -> None:
    whole = run(*COMMANDS[name], *DEMO, "-o", output)
    short = run(*COMMANDS[name], *DEMO, "-o", output, "--brief")
    assert short.returncode == whole.returncode, short.stderr
    made, all_of_it = FORMATS[output](short.stdout), FORMATS[output](whole.stdout)
    assert made.keys() - {"leftOut"} <= all_of_it.keys()
    assert made["kind"] == all_of_it["kind"]


def test_each_pod_of_a_list_is_brief() -> None:
    made = json.loads(run("explain", *DEMO, "-A", "-o", "json", "--brief").stdout)
    assert len(made["items"]) > 1
    assert all("nodes" not in each and len(as_json(each)) <= POD_BYTES for each in made["items"])


@pytest.mark.parametrize("output", ["table", "wide", "name", "html", "markdown"])
@pytest.mark.parametrize("command", ["explain", "triage", "capacity"])
def test_it_is_for_programs(command: str, output: str) -> None:
    done = run(command, *DEMO, "-o", output, "--brief")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "-o json or -o yaml" in done.stderr

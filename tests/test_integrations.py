"""The files under integrations/: the program answers every command in them, and each format keeps its rules."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.program import run

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "integrations"
SKILL = FOLDER / "skills" / "kubectl-sched" / "SKILL.md"
K9S = FOLDER / "k9s" / "plugins.yaml"
HOLMES = FOLDER / "holmesgpt" / "kubectl-sched.yaml"

DUMP = ("--from", "fixtures/demo")
MESSAGE = "0/3 nodes are available: 3 Too many pods."
FILLED = {
    "NAMESPACE": "default",
    "NAME": "web-0",
    "NODE": "gpu-1",
    "MANIFEST": "fixtures/what-if/plain.yaml",
    "TEXT": MESSAGE,
}

# https://k9scli.io/topics/plugins/
K9S_REQUIRED = {"shortCut", "description", "scopes", "command"}
K9S_OTHERS = {"args", "background", "confirm", "override", "dangerous", "overwriteOutput", "inputs"}
K9S_VARIABLES = {
    "$NAME": "api",
    "$NAMESPACE": "default",
    "$RESOURCE_NAME": "deployments",
    "$CONTEXT": "production",
}

# https://holmesgpt.dev: custom toolsets
HOLMES_TOOL = {"name", "description", "command"}


def answered(arguments: list[str]) -> None:
    """Fail if the program takes the arguments for a mistake; the answer itself may be a no."""
    offline = "--version" in arguments or arguments[0] == "message"
    done = run(*arguments, *(() if offline else DUMP), folder=ROOT)
    if "--new-nodes" in arguments:
        assert (done.returncode, "no NodePool of Karpenter" in done.stderr) == (2, True), "the demo has no autoscaler"
        return
    assert done.returncode in {0, 1}, f"{shlex.join(arguments)}: {done.stderr}"
    assert done.stdout


def commands_of_the_skill() -> list[str]:
    return re.findall(r"`kubectl sched (.+?)`", SKILL.read_text("utf-8"))


@pytest.mark.parametrize("command", [each for each in commands_of_the_skill() if each != "bind"])
def test_the_skill_names_commands_that_answer(command: str) -> None:
    words = shlex.split(command)
    answered(
        [
            FILLED.get(word.rpartition("/")[2], word) if "/" not in word else word.replace("NAME", "web-0")
            for word in words
        ]
    )


def test_the_skill_says_what_it_is_for() -> None:
    front = yaml.safe_load(SKILL.read_text("utf-8").split("---")[1])
    assert front["name"] == SKILL.parent.name
    assert 0 < len(front["description"]) <= 1024


def k9s_plugins() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(K9S.read_text("utf-8"))["plugins"]
    return found


@pytest.mark.parametrize("name", k9s_plugins())
def test_a_k9s_plugin_keeps_its_schema_and_starts_no_shell(name: str) -> None:
    plugin = k9s_plugins()[name]
    assert set(plugin) >= K9S_REQUIRED
    assert set(plugin) <= K9S_REQUIRED | K9S_OTHERS
    assert plugin["command"] == "kubectl"
    assert plugin["args"][0] == "sched"


@pytest.mark.parametrize("name", k9s_plugins())
def test_a_k9s_plugin_asks_what_the_program_answers(name: str) -> None:
    words = " ".join(k9s_plugins()[name]["args"][1:]).replace("pod $NAME", "pod web-0")
    for variable, value in sorted(K9S_VARIABLES.items(), key=lambda each: -len(each[0])):
        words = words.replace(variable, value)
    assert "$" not in words
    # The context is of a running cluster, and the screen wants a terminal.
    answered([word for word in words.replace("--context production", "").split() if word != "--interactive"])


def holmes_tools() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(HOLMES.read_text("utf-8"))["toolsets"]["kubectl-sched"]["tools"]
    return found


@pytest.mark.parametrize("tool", holmes_tools(), ids=lambda tool: tool["name"])
def test_a_holmesgpt_tool_asks_what_the_program_answers(tool: dict[str, Any]) -> None:
    assert set(tool) == HOLMES_TOOL
    command = tool["command"]
    for name, value in {"namespace": "default", "name": "web-0", "node": "gpu-1"}.items():
        command = command.replace(f"{{{{ {name} }}}}", value)
    words = shlex.split(command)
    assert words[:2] == ["kubectl", "sched"]
    answered(words[2:])


def test_a_link_of_the_guide_for_programs_leads_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / "AGENTS.md").read_text("utf-8")):
        assert (ROOT / link).exists(), link

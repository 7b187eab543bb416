"""Commands that are printed do what was built, and nothing that a dump's names, images, arguments or volumes say."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched import shell_commands
from kubectl_sched.api.apimachinery.validation import subdomain_errors
from kubectl_sched.shell_commands import Operator, ShellCommand, folded, plain_json
from tests.examples import examples
from tests.fuzz.laws import argument_lists
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

OPERATORS = {operator.strip() for operator in Operator if operator}
HOSTILE = [
    "x;touch${IFS}ran",
    "$(touch ran)",
    "`touch ran`",
    "a\n$(touch ran)\n",
    "a'; touch ran; '",
    'a"; touch ran; "',
    "--all",
    "--server=http://attacker.example.com",
    "-x",
    "a && touch ran",
    "a | touch ran",
    "> ran",
    "!touch",
    "\\\ntouch ran\n",
    "x" * 70 + " $(touch ran)",
    "x" * 200,
    "",
    "\u202etouch",
    "a\x1b[31m",
    "a#b",
    "~root",
    "=ls",
    "a\\b\\\\c\\'d",
]
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?", fullmatch=True)
TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=40) | NAMES


def commands_about(name: str, other: str) -> list[ShellCommand]:
    """Every command that there is, about objects of these names."""
    found = [
        shell_commands.cordon_node(name),
        shell_commands.evict_pod(other, name),
        shell_commands.uncordon_node(name),
        shell_commands.label_node(name, other, name, overwrite=True),
        shell_commands.label_node("w1", name, other),
        shell_commands.remove_taint(name, other, "NoSchedule"),
        shell_commands.remove_taint("w1", "key", other),
        shell_commands.describe_node(name),
        shell_commands.describe("daemonset", other, name),
        shell_commands.logs(other, name, other),
        shell_commands.logs(name, other),
        shell_commands.delete_pods(other, (name, "web-0")),
        shell_commands.patch("Deployment", other, name, {"spec": {name: other}}, "web-0"),
        shell_commands.patch("StatefulSet", "shop", "web", {"spec": {name: other}}, name),
        shell_commands.resize_pod(other, name, {"spec": {name: other}}),
        shell_commands.replace_pod("shop", "web-0", {"spec": {name: other}}),
        shell_commands.get_config_map(other, name),
        shell_commands.get_aks_configuration(),
        shell_commands.read_host_file("w1", other),
        shell_commands.read_host_file(name, "/etc/s.yaml"),
        shell_commands.get_configz(other, name),
        shell_commands.explain_from(other),
    ]
    return [command for command in found if command is not None]


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS, TEXTS, st.integers(20, 200))
def test_a_shell_finds_the_argument_lists_that_were_built(name: str, other: str, width: int) -> None:
    for command in commands_about(name, other):
        lines = folded(str(command), width)
        unfolded = "\n".join(lines).replace("\\\n", "")
        assert argument_lists(str(command)) == argument_lists(unfolded) == command.argvs
        assert str(command).isprintable()
        for line in lines[:-1]:
            assert line.endswith(" \\")
            shlex.split(line.removesuffix("\\"))  # each line is whole arguments


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS)
def test_there_is_no_command_about_a_name_that_kubernetes_refuses(name: str) -> None:
    refused = bool(subdomain_errors(name))
    assert (shell_commands.uncordon_node(name) is None) == refused
    assert (shell_commands.replace_pod("default", name, {}) is None) == refused
    assert shell_commands.remove_taint("w1", "key", name) is None


@given(TEXTS)
def test_a_shell_expands_nothing_in_json(text: str) -> None:
    shown = plain_json({text: text})
    assert json.loads(shown) == {text: text}
    assert not set(shown) & set("$`!'\n\x7f")
    assert shown.isascii()


SHELLS = {
    "bash": (("--norc", "-c"), "enable -n kill echo"),
    "zsh": (("-f", "-c"), "disable kill echo"),
    "fish": (
        ("--no-config", "-c"),
        "function kill; command kill $argv; end; function echo; command echo $argv; end",
    ),
}
"""Shells, and how each calls programs in place of its own kill, which would look for a job, and its own echo."""


def run_by(shell: str, script: str, folder: Path) -> list[list[str]]:
    """The arguments with which stubs of the programs were called; nothing else may happen."""
    options, own = SHELLS[shell]
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    stubs = folder / "stubs"
    stubs.mkdir(exist_ok=True)
    for name in ("kubectl", "sleep", "kill", "echo"):
        stub = stubs / name
        stub.write_text('#!/bin/bash\nprintf \'%s\\0\' "${0##*/}" "$@" $\'\\1\' >> "$CALLS"\n')
        stub.chmod(0o755)
    calls, place, home = folder / "calls", folder / "place", folder / "home"
    calls.write_text("")
    place.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    subprocess.run(
        [program, *options, f"{own}\n{script}\nwait\n"],
        cwd=place,
        env={"PATH": str(stubs), "CALLS": str(calls), "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert {each.name for each in place.iterdir()} <= {"scheduler.yaml"}
    return [call.split("\0")[:-1] for call in calls.read_text().split("\1\0") if call]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", [*HOSTILE, "web-0"], ids=repr)
def test_a_shell_runs_what_was_built_and_nothing_else(name: str, shell: str, tmp_path: Path) -> None:
    for command in commands_about(name, name):
        for script in (str(command), "\n".join(folded(str(command), 40))):
            called = run_by(shell, script, tmp_path)
            assert sorted(called) == sorted(map(list, command.argvs))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_each_argument_as_it_is(shell: str, tmp_path: Path) -> None:
    pieces = [
        "\\",
        "'",
        '"',
        "\\\\",
        "\\'",
        '\\"',
        "$(x)",
        "`x`",
        "!x",
        "{a,b}",
        "=ls",
        "%self",
        "~",
        "a b",
        "^",
        "#",
        "*",
        "",
    ]
    texts = [
        *pieces,
        *(f"a{piece}b{piece}" for piece in pieces),
        *(plain_json({"a": f"{piece}x{piece}"}) for piece in pieces),
    ]
    command = ShellCommand(steps=((("kubectl", *texts), Operator.END),))
    assert run_by(shell, str(command), tmp_path) == [["kubectl", *texts]]
    assert argument_lists(str(command)) == command.argvs


def node(name: str) -> dict[str, Any]:
    taint = {"key": name, "value": name, "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {name: name}},
        "spec": {"unschedulable": True, "taints": [taint]},
        "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
    }


def pod(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if owner := spec.pop("owner", None):
        named = {"apiVersion": "x/v1", "kind": owner, "name": owner, "uid": "u"}
        metadata["ownerReferences"] = [{**named, "controller": True}]
    container = {"name": namespace, "image": spec.pop("image", "x"), "command": spec.pop("command", [])}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def hostile_cluster(text: str) -> dict[str, Any]:
    """The text stands wherever a command might name something."""
    flags = ["kube-scheduler", f"--config=/etc/{text}", f"--leader-elect-resource-name={text}"]
    volumes = [{"name": text, "configMap": {"name": text}}]
    items = [
        node(text),
        pod("web-0", "default", nodeSelector={text: f"other{text}"}, schedulerName="default-scheduler"),
        pod("web-1", "default", owner=text, nodeSelector={"disk": text}),
        pod("web-2", text, schedulerName=text),
        pod(f"victim{text}", text, nodeName=text),
        pod("scheduler-1", "kube-system", image=f"{text}/kube-scheduler", command=flags, nodeName=text),
        pod(f"scheduler{text}", text, image="x/kube-scheduler:v1.36.0", command=flags, volumes=volumes, nodeName="w1"),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.mark.parametrize("text", HOSTILE[:9], ids=repr)
def test_whatever_looks_like_a_command_in_the_output_is_harmless(text: str, tmp_path: Path) -> None:
    """Each line that begins with kubectl is pasted, with those that continue it, and so are the commands of JSON."""
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(hostile_cluster(text)))
    asked = [["explain", "--pending", "-A"], ["explain", "web-0"], ["explain", "web-1", "-o", "wide"], ["schedulers"]]
    pasted = []
    for arguments in asked:
        done = run(*arguments, "--from", str(dump))
        assert done.returncode in {0, 1}, done.stderr
        lines = done.stdout.replace("\\\n", " ").split("\n")
        pasted += [line for line in lines if re.match(r" +kubectl ", line)]
    for arguments in ([*asked[0]], ["schedulers"]):
        data = run(*arguments, "-o", "json", "--from", str(dump)).stdout
        pasted += commands_in(json.loads(data))
    for line in dict.fromkeys(pasted):
        called = run_by("bash", line, tmp_path)
        assert sorted(called) == sorted(map(list, argument_lists(line) or ()))
        assert all(word not in {"--all", "--server=http://attacker.example.com"} for call in called for word in call)


def commands_in(data: Any) -> list[str]:
    if isinstance(data, dict):
        own = [str(each) for each in data.get("commands", ())]
        return own + [each for value in data.values() for each in commands_in(value)]
    return [each for value in data for each in commands_in(value)] if isinstance(data, list) else []

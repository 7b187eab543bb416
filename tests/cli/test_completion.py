"""Completion: what the words so far may go on with, and that real shells and kubectl make of it what they should."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.cli.completion.protocol import FILES, NO_FILES, NO_SPACE, completions
from kubectl_sched.cli.lazy_commands import COMMANDS
from tests import program
from tests.shells import typed_into_bash, typed_into_zsh

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
DEMO = ("--from", "fixtures/demo")
GPUS = ["gpu-1", "gpu-2", "gpu-3"]
PENDING = ["web-0", "api-5d9c7b8f6d-m7c5t", "batch-1", "batch-2", "batch-3"]

EKS = "arn:aws:eks:eu-central-1:123456789012:cluster/prod"
SECRET = "s3cr3t-bearer"  # noqa: S105 - of nobody
KUBECONFIG = {
    "current-context": "prod",
    "contexts": [
        {"name": "prod", "context": {"cluster": "c-prod", "user": "admin"}},
        {"name": "stage", "context": {"cluster": "c-stage", "user": "admin"}},
    ],
    "clusters": [
        {"name": "c-prod", "cluster": {"server": "http://127.0.0.1:9"}},
        {"name": "c-stage", "cluster": {"server": "http://127.0.0.1:9"}},
        {"name": EKS, "cluster": {"server": "http://127.0.0.1:9"}},
    ],
    "users": [{"name": "admin", "user": {"token": SECRET}}],
}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the repository, with a kubeconfig whose servers do not answer."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(KUBECONFIG))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    monkeypatch.chdir(ROOT)


def values(*words: str) -> list[str]:
    return [candidate.value for candidate in completions(words).candidates]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("wh",), ["whatif"]),
        (("help", "sn"), ["snapshot"]),
        (("explain", *DEMO, "--node", "gp"), GPUS),
        (("explain", *DEMO, "--node=gp"), GPUS),
        (("explain", *DEMO, "--node", "=", "gp"), GPUS),
        ((*DEMO, "explain", "--node", "gp"), GPUS),
        (("explain", *DEMO, "-n", "te"), ["team-a"]),
        (("explain", *DEMO, "pod", "batch-1", "batch-"), ["batch-2", "batch-3"]),
        (("explain", *DEMO, "pod/we"), ["pod/web-0"]),
        (("explain", *DEMO, "we"), ["web-0"]),
        (("explain", *DEMO, "me"), ["message"]),
        (("explain", "-o", "ja"), []),
        (("explain", "-o", "js"), ["json"]),
        (("explain", "--colo"), ["--color"]),
        (("explain", "--kube-version", "1.3"), [f"1.{minor}" for minor in range(38, 29, -1)]),
        (("explain", "--kube-version", "1.37."), ["1.37.2", "1.37.1", "1.37.0"]),
        (("diff", "--to-kube-version", "1.36.6"), ["1.36.6"]),
        (
            ("explain", "--kube-version", "1.33", "--feature-gates", "A=true,DRAPrio"),
            ["A=true,DRAPrioritizedList=true"],
        ),
        (("explain", "--context", ""), ["prod", "stage"]),
        (("--context", "st"), ["stage"]),
        (("explain", "--cluster", "c-p"), ["c-prod"]),
        (("explain", "--cluster", "arn", ":", "aws", ":", "e"), [EKS]),
        (("explain", "--user", ""), ["admin"]),
        (("explain", "--config", "fixtures/profiles/bin-packing.yaml", "--profile", ""), ["default-scheduler"]),
        (("explain", *DEMO, "--profile", ""), ["default-scheduler"]),
        (("whatif", *DEMO, "--drain", "ma"), ["master"]),
        (("whatif", *DEMO, "--add-nodes", "3=ma"), ["3=master"]),
        (("whatif", *DEMO, "--add-nodes", "3", "=", "ma"), ["3=master"]),
        (("whatif", "--replicas", "m"), ["max"]),
        (("capacity", *DEMO, "--shape", "nvi"), ["nvidia.com/gpu="]),
        (("whatif", *DEMO, "--make-room", "pod/we"), ["pod/web-0"]),
        (("capacity", *DEMO, "--shape", "a=cpu=1,me"), ["a=cpu=1,memory="]),
        (("bind", "--dry-run", "c"), ["client"]),
        (("bind", "--watch", "--leader-elect", ""), ["true", "false"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_is_begun_goes_on(words: tuple[str, ...], expected: list[str]) -> None:
    assert values(*words) == expected


def test_every_command_is_offered_with_what_it_does() -> None:
    offered = {candidate.value: candidate.about for candidate in completions([""]).candidates}
    assert set(COMMANDS) <= set(offered)
    assert all(offered[name] for name in COMMANDS)


def test_pods_are_offered_with_where_they_are_and_ended_ones_are_not(tmp_path: Path) -> None:
    pods = [
        {"kind": "Pod", "metadata": {"name": "waiting"}},
        {"kind": "Pod", "metadata": {"name": "running"}, "spec": {"nodeName": "w1"}},
        {"kind": "Pod", "metadata": {"name": "done"}, "status": {"phase": "Succeeded"}},
        {"kind": "Pod", "metadata": {"name": "elsewhere", "namespace": "shop"}},
        {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}},
    ]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"kind": "List", "items": [{"apiVersion": "v1", **pod} for pod in pods]}))
    found = completions(["explain", "--from", str(dump), "pod", ""]).candidates
    assert found == (("waiting", "pending"), ("running", "on w1"))
    assert values("explain", "--from", str(dump), "-A", "pod", "e") == ["elsewhere"]
    assert values("explain", "--from", str(dump), "deployment/") == ["deployment/web"]
    assert values("whatif", "--from", str(dump), "deploy/") == ["deploy/web"]


@pytest.mark.parametrize(
    ("words", "directive"),
    [
        (("explain", "--from", "fix"), FILES),
        (("explain", "--config="), FILES),
        (("whatif", "man"), FILES),
        (("snapshot", ""), FILES),
        (("explain", *DEMO, "--node", ""), NO_FILES),
        (("explain", "--token", ""), NO_FILES),
        (("whatif", *DEMO, "--taint", "gpu"), NO_FILES | NO_SPACE),
        (("frobnicate", ""), NO_FILES),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_the_shell_is_told_whether_files_or_a_blank_may_follow(words: tuple[str, ...], directive: int) -> None:
    assert completions(words).directive == directive


def completed(*words: str) -> subprocess.CompletedProcess[str]:
    """The requests of shells at a tab."""
    return program.run("__complete", *words)


@pytest.mark.parametrize("words", [("explain", "pod", ""), ("explain", "--from", "/nowhere", "pod", ""), ("bind", "")])
def test_what_cannot_be_read_completes_to_nothing_and_says_nothing(words: tuple[str, ...]) -> None:
    done = completed(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f":{NO_FILES}"
    assert "web" not in done.stdout


def test_a_server_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = completed("explain", "--server", server, "pod", "")
    assert (done.returncode, done.stdout, done.stderr) == (0, f":{NO_FILES}\n", "")


def test_nothing_secret_is_ever_offered() -> None:
    for flag in ("--token", "--user", "--context", "--client-key", "--server"):
        assert SECRET not in completed("explain", flag, "").stdout


HOSTILE = [
    "web$(touch x)",
    "web`touch x`",
    "web;touch x",
    "web&touch x",
    "web|touch x",
    "web>x",
    "web x",
    "web'x",
    'web"x',
    "web\\x",
    "web*",
    "web?",
    "web[x]",
    "web{x,y}",
    "web~",
    "web!touch",
    "web#x",
    "web(x)",
    "web^x",
    "web%x",
    "web\nx",
    "web\tx",
    "web\x1b[31m",
    "web\u202ex",
    "web\u3164",
    "web\u00e9",
    "~root",
    "=ls",
    "-rf",
    "--all",
]


@pytest.fixture
def hostile_dump(tmp_path: Path) -> str:
    """A dump with objects of every kind that is completed, each hostile name beside `web-1`."""
    items: list[dict[str, object]] = []
    for name in (*HOSTILE, "web-1"):
        meta = {"name": name, "namespace": "default"}
        items += [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"schedulerName": name}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "namespace": name}, "spec": {"nodeName": name}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta},
        ]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(items))
    return str(dump)


@pytest.fixture
def hostile_config(tmp_path: Path) -> str:
    profiles = [{"schedulerName": name} for name in (*HOSTILE, "web-1")]
    config = tmp_path / "config.json"
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config.write_text(json.dumps({**version, "profiles": profiles}))
    return str(config)


PLACES = [
    (("explain", "{dump}", "--node"), "web-1"),
    (("explain", "{dump}", "-n"), "web-1"),
    (("explain", "{dump}", "--profile"), "web-1"),
    (("explain", "{config}", "--profile"), "web-1"),
    (("explain", "{dump}", "pod"), "web-1"),
    (("explain", "{dump}", "deployment"), "web-1"),
    (("whatif", "{dump}", "--drain"), "web-1"),
    (("whatif", "{dump}", "--taint"), "web-1="),
    (("explain", "--context"), "web-1"),
    (("explain", "--cluster"), "web-1"),
    (("explain", "--user"), "web-1"),
]


def hostile_words(words: Sequence[str], dump: str, config: str) -> list[str]:
    """Fill in the files, and give the environment's kubeconfig hostile names."""
    sections = {"contexts": "context", "clusters": "cluster", "users": "user"}
    entries = {name: [{"name": each, of: {}} for each in (*HOSTILE, "web-1")] for name, of in sections.items()}
    Path(os.environ["KUBECONFIG"]).write_text(json.dumps(entries))
    return [each.format(dump=f"--from={dump}", config=f"--config={config}") for each in words]


@pytest.mark.parametrize(("words", "only"), PLACES, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_only_names_that_are_valid_for_their_kind_are_offered(
    words: tuple[str, ...], only: str, hostile_dump: str, hostile_config: str
) -> None:
    filled = hostile_words(words, hostile_dump, hostile_config)
    expected = {only} | ({"default-scheduler"} if "--profile" in words and "{dump}" in words else set())
    expected |= {"default"} if "-n" in words else set()
    found = completions([*filled, ""]).candidates
    assert {candidate.value for candidate in found} == expected
    assert all(candidate.about in {"", "pending", "bound", "on web-1"} for candidate in found)


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the completion script of each shell, as the program prints it."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in ("bash", "zsh", "fish"):
        (folder / name).write_text(program.run("completion", name).stdout)
    return folder


def in_path() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def in_bash(words: Sequence[str], scripts: Path) -> list[str]:
    """COMPREPLY, and the options that the function set, as bash would see them for this line."""
    script = """
    source "$1"; shift
    compopt() { printf 'compopt %s\\n' "$*"; }
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
    _kubectl_sched
    ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
    complete -p kubectl-sched
    """
    done = subprocess.run(
        [shell("bash"), "--norc", "-c", script, "bash", str(scripts / "bash"), "kubectl-sched", *words],
        env=in_path(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    *lines, last = done.stdout.splitlines()
    assert last == "complete -F _kubectl_sched kubectl-sched"
    return lines


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wh"], ["whatif"]),
        (["explain", *DEMO, "--node", "gp"], GPUS),
        (["explain", "--from", "=", "fixtures/demo", "--node", "=", "gp"], GPUS),
        (["whatif", *DEMO, "--add-nodes", "3", "=", "gp"], GPUS),
        (["whatif", *DEMO, "--taint", "gpu-1"], ["compopt -o nospace", "gpu-1="]),
        (["explain", "--from", ""], ["compopt -o default"]),
        (["explain", "--cluster", "ar"], [EKS]),
        (["explain", "--cluster", "arn", ":", "aws", ":", "e"], [EKS.removeprefix("arn:aws:")]),
        (["explain", "--cluster", "=", "arn", ":"], [EKS.removeprefix("arn:")]),
    ],
    ids=" ".join,
)
def test_bash_completes(words: list[str], expected: list[str], scripts: Path) -> None:
    assert in_bash(words, scripts) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kubectl-sched wh", ["whatif\tSay where pods would land, whether they fit, and how many more do"]),
        ("kubectl-sched explain --from fixtures/demo --node gp", GPUS),
        ("kubectl-sched explain --from fixtures/demo --node=gp", [f"--node={name}" for name in GPUS]),
        ("kubectl-sched explain --from fixtures/prof", ["fixtures/profiles/"]),
        ("kubectl-sched explain --from=fixtures/prof", ["--from=fixtures/profiles/"]),
    ],
)
def test_fish_completes(line: str, expected: list[str], scripts: Path) -> None:
    assert offered_by_fish(line, scripts) == expected


def offered_by_fish(line: str, scripts: Path) -> list[str]:
    script = "source $argv[1]; complete -C $argv[2]"
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", script, str(scripts / "fish"), line],
        env=in_path(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("begun", "expected"),
    [
        ("whati", "whatif "),
        ("explain --from fixtures/demo --node ma", "explain --from fixtures/demo --node master "),
        ("explain --from fixtures/demo --node=ma", "explain --from fixtures/demo --node=master "),
        ("whatif --from fixtures/demo --taint ma", "whatif --from fixtures/demo --taint master="),
        ("explain --from fixtures/prof", "explain --from fixtures/profiles/"),
    ],
)
def test_zsh_completes(begun: str, expected: str, tmp_path: Path, scripts: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    line = typed_into_zsh(shell("zsh"), scripts / "zsh", f"kubectl-sched {begun}", in_path(), home)
    assert line == f"kubectl-sched {expected}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["wh"], ["whatif\tSay where pods would land, whether they fit, and how many more do", ":4"]),
        (["explain", "pod", *DEMO, ""], PENDING),
        (["explain", *DEMO, "--node=gp"], [*GPUS, ":4"]),
        (["whatif", *DEMO, "--taint", "gpu-1"], ["gpu-1=", ":6"]),
    ],
    ids=" ".join,
)
def test_kubectl_completes_the_plugin(words: list[str], expected: list[str]) -> None:
    lines = kubectl_completes(words)
    if expected is PENDING:
        assert [line.partition("\t")[0] for line in lines if line.endswith("\tpending")] == PENDING
    else:
        assert lines == expected


def kubectl_completes(words: Sequence[str]) -> list[str]:
    done = subprocess.run(
        [shell("kubectl"), "__complete", "sched", *words], env=in_path(), capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


def offered_by_kubectl(words: Sequence[str]) -> list[str]:
    return [line for line in kubectl_completes(words) if not line.startswith(":")]


@pytest.mark.parametrize("kind", ["--node", "-n", "pod", "--context"])
@pytest.mark.parametrize("program_name", ["bash", "zsh", "fish", "kubectl"])
def test_no_shell_inserts_a_name_that_it_would_expand(
    program_name: str, kind: str, hostile_dump: str, hostile_config: str, tmp_path: Path, scripts: Path
) -> None:
    words = hostile_words(["explain", "{dump}", kind], hostile_dump, hostile_config)
    line = f"kubectl-sched {shlex.join(words)} we"
    home = tmp_path / "home"
    home.mkdir()
    if program_name == "bash":
        typed = typed_into_bash(shell("bash"), scripts / "bash", line, in_path(), home)
        assert typed == f"{line}b-1 "
    elif program_name == "zsh":
        typed = typed_into_zsh(shell("zsh"), scripts / "zsh", line, in_path(), home)
        assert typed == f"{line}b-1 "
    else:
        offered = offered_by_fish(line, scripts) if program_name == "fish" else offered_by_kubectl([*words, "we"])
        assert [each.partition("\t")[0] for each in offered] == ["web-1"]
    assert {each.name for each in tmp_path.iterdir()} == {"dump.json", "config.json", "kubeconfig", "home"}

"""`-o html` and `-o markdown` on the command line: of which commands, with which exit codes, the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.__main__ import main
from tests.render.pages import read

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
DEMO = str(FIXTURES / "demo")
WHAT_IF = FIXTURES / "what-if"
STUCK, LANDS = "web-0", "api-5d9c7b8f6d-m7c5t"
SCENARIOS = sorted(path.parent for path in (FIXTURES / "scenarios").glob("*/cluster.yaml"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Any]:
    """Runs the program; gives the exit code, what it printed, and what it complained of."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kubectl-sched", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return int(ended.value.code or 0), out.decode(), err.decode()

    return run


@pytest.mark.parametrize("output", ["html", "markdown"])
@pytest.mark.parametrize(
    ("arguments", "code"), [((STUCK,), 1), ((LANDS,), 0), ((LANDS, "--node", "master"), 1), (("--pending",), 1)]
)
def test_exit_codes_are_those_of_the_table(run: Any, arguments: tuple[str, ...], code: int, output: str) -> None:
    done, out, err = run("explain", *arguments, "--from", DEMO, "-o", output)
    assert done == code
    assert out
    assert err == ""


@pytest.mark.parametrize("output", ["html", "markdown"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("profiles",),
        ("schedulers", "--from", DEMO),
        ("diff", "--pending", "--to-kube-version", "1.33", "--from", DEMO),
        ("explain", "message", "0/3 nodes are available: 3 Insufficient cpu."),
        ("capacity", "--from", DEMO),
        ("whatif", "--drain", "general-1", "--from", DEMO),
    ],
)
def test_every_answer_has_them(run: Any, arguments: tuple[str, ...], output: str) -> None:
    code, out, _ = run(*arguments, "-o", output)
    assert code == 0
    if output == "html":
        page = read(out)
        assert page.one("h1").words
        assert page.every("p", "sentence") or page.every("table")
    else:
        assert out.startswith("**")


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda folder: folder.name)
def test_every_scenario_has_a_page_that_is_well_formed(run: Any, folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    arguments = ("explain", expected["pod"], "--from", str(folder / "cluster.yaml"), "--kube-version", "1.36", "-o")
    _, out, _ = run(*arguments, "html")
    page = read(out)
    _, out, _ = run(*arguments, "markdown")
    assert page.one("h1").words.startswith(f"default/{expected['pod']}")
    assert f"default/{expected['pod']}" in out.splitlines()[0]


def test_a_what_if_has_both(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(WHAT_IF)
    arguments = ("whatif", "plain.yaml", "--replicas", "12", "--from", "small-cluster.yaml", "-o")
    sentence = (
        "5 of 12 pods would be placed, on 2 nodes; 7 would not. "
        "default/plain-5: no node has 0.5 cpu free; the best has 0.4 of 2."
    )
    code, out, _ = run(*arguments, "html")
    page = read(out)
    assert code == 1
    assert page.every("p", "sentence")[0].words == sentence
    told = json.loads(run(*arguments, "json")[1])["placements"]
    rows = [[cell.words for cell in row.elements] for row in page.every("table", "plain")[2].every("tr")[1:]]
    assert [(row[0], row[2].removeprefix("\N{MULTIPLICATION X} "), row[3]) for row in rows] == [
        (f"default/{each['pod']['name']}", each["node"] or each["outcome"], str(each["total"] or "")) for each in told
    ]
    filled = [cell.words for cell in page.every("table", "plain")[1].every("tr")[0].elements]
    assert filled == ["Node", "New", "CPU requested (millicores)", "Memory requested (GiB)", "Pods"]
    assert "default/plain-5 fits on none of 2 nodes" in page.one("article").words
    code, out, _ = run(*arguments, "markdown")
    assert code == 1
    assert out.startswith(f"**{sentence}**\n")
    assert "| `Pod/plain` | 5 | 7 |" in out


def test_capacity_has_both(run: Any) -> None:
    arguments = ("capacity", "--from", "fixtures/room/gpus.yaml", "-o")
    sentence = "5 nodes; 0 of 1 pending workload fits."
    code, out, _ = run(*arguments, "html")
    page = read(out)
    assert code == 0
    assert page.every("p", "sentence")[0].words == sentence
    heats = [[cell.words for cell in heat.every("li")] for heat in page.every("ul", "heat")]
    assert len(heats) == len(["cpu", "memory", "nvidia.com/gpu"]) + len(["cpu", "memory"])
    assert heats[2:4] == [["gpu-3: 50%", "gpu-2: 38%", "gpu-1: 25%"], ["general-1: 25%", "general-2: 25%"]]
    assert page.every("ul", "heat")[0].every("li", "stranded") == []
    code, out, _ = run(*arguments, "markdown")
    assert code == 0
    assert out.startswith(f"**{sentence}**\n")
    assert "| `ml/Job/train` | 1 pending | 0 |" in out


def test_the_heat_map_marks_where_what_is_free_is_stranded(run: Any) -> None:
    arguments = ("capacity", "--shape", "train=cpu=16,nvidia.com/gpu=4", "--from", "fixtures/room/stranded.yaml")
    _, out, _ = run(*arguments, "-o", "html")
    gpus = read(out).every("ul", "heat")[-1]
    assert [cell.words for cell in gpus.every("li", "stranded")] == [
        "gpu-1: 38%, the rest stranded",
        "gpu-2: 62%, the rest stranded",
        "gpu-3: 62%, the rest stranded",
    ]


def test_no_pods_are_said_to_be_none(run: Any) -> None:
    code, out, _ = run("explain", "pods", "-l", "app=nothing", "--from", DEMO, "-o", "html")
    assert code == 0
    assert read(out).one("p", "sentence").words == "no pods match"


@pytest.mark.parametrize("output", ["html", "markdown"])
def test_another_process_writes_the_same(output: str) -> None:
    command = [sys.executable, "-m", "kubectl_sched", "explain", "--pending", "--from", DEMO, "-o", output]
    pages = [
        subprocess.run(
            command, capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        ).stdout
        for seed in ("1", "2")
    ]
    assert pages[0] == pages[1]
    assert pages[0].decode()

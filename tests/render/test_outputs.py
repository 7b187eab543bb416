"""The formats for scripts, exit codes, colour and pipes, through the program itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

from tests import program
from tests.render.pages import read
from tests.terminal import on_terminal

if TYPE_CHECKING:
    from subprocess import CompletedProcess

ROOT = Path(__file__).parent.parent.parent
DEMO = str(ROOT / "fixtures" / "demo")
STUCK, LANDS = "web-0", "api-5d9c7b8f6d-m7c5t"


def run(*arguments: str, source: str = DEMO, **environment: str) -> CompletedProcess[str]:
    return program.run("explain", *arguments, "--from", source, environment=environment)


def explained(*arguments: str) -> Any:
    return json.loads(run(*arguments, "-o", "json").stdout)


def test_yaml_and_json_say_the_same() -> None:
    assert yaml.safe_load(run(STUCK, "-o", "yaml").stdout) == explained(STUCK)


@pytest.mark.parametrize("output", ["table", "wide", "markdown", "html"])
@pytest.mark.parametrize("name", [STUCK, LANDS])
def test_the_verdict_is_the_first_line_of_every_format(name: str, output: str) -> None:
    printed, verdict = run(name, "-o", output).stdout, explained(name)["verdict"]
    assert len(verdict) <= 100
    line = f"default/{name}: {verdict}."
    first = read(printed).one("p", "sentence").words if output == "html" else printed.splitlines()[0].strip("*")
    assert first == line


def test_the_whole_table_says_how_a_bound_pod_was_placed_as_the_first_screen_does() -> None:
    first = run("node-agent-gpu-1", "-A").stdout.splitlines()[:3]
    assert first[1].startswith("the dump is ")
    assert first[2].startswith("Placed by ")
    assert run("node-agent-gpu-1", "-A", "-o", "wide").stdout.splitlines()[:3] == first


def test_whole_tables_of_several_pods_stand_apart_and_share_their_notes() -> None:
    printed = run("pods", LANDS, STUCK, "-o", "wide").stdout
    lines = printed.splitlines()
    assert lines[lines.index(f"default/{STUCK}: {explained(STUCK)['verdict']}.") - 1] == ""
    assert printed.count("the dump is ") == 1
    assert "all 2 pods are pending; 1 would land now." in lines


@pytest.mark.parametrize(
    "command", ["explain web-0", "explain pods --pending", "triage", "whatif --drain gpu-1", "whatif --make-room web-0"]
)
def test_all_notes_are_shown_that_are_asked_for(command: str) -> None:
    printed = program.run(*command.split(), "--notes", "--from", DEMO).stdout
    assert printed.count("\nnote: ") >= 1
    assert re.search(r"^the dump is \d+ days old", printed, re.MULTILINE)
    assert not re.search(r"\d+ (more|notes): --notes", printed)


@pytest.mark.parametrize("output", ["table", "html", "markdown", "json"])
@pytest.mark.parametrize(
    "command", ["capacity", "drain gpu-1", "explain node gpu-1", "explain nodes", "whatif --drain gpu-1"]
)
def test_an_old_dump_is_said_to_be_old(command: str, output: str) -> None:
    printed = program.run(*command.split(), "--from", DEMO, "-o", output)
    assert len(re.findall(r"he dump is \d+ days old", printed.stdout + printed.stderr)) == 1


@pytest.mark.parametrize("command", ["explain web-0", "whatif --drain gpu-1", "whatif --make-room web-0", "capacity"])
def test_markdown_ends_alike_whatever_was_asked(command: str) -> None:
    printed = program.run(*command.split(), "-o", "markdown", "--from", DEMO).stdout
    *_, notes, last = printed.rstrip("\n").split("\n\n")
    assert all(each.startswith("- note: ") for each in notes.splitlines())
    assert last.startswith("Replayed as: kube-scheduler ")


@pytest.mark.parametrize("command", ["capacity", "whatif pod.json"])
@pytest.mark.parametrize("output", ["table", "wide", "markdown"])
def test_there_is_no_table_and_no_empty_line_where_there_is_no_node(command: str, output: str, tmp_path: Path) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    for name in ("pod.json", "dump.json"):
        (tmp_path / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [made]}))
    printed = program.run(*command.split(), "-o", output, "--from", "dump.json", folder=tmp_path).stdout
    assert "fit" in printed
    assert "\n\n\n" not in printed
    assert "Bars: " not in printed
    assert "| Pool |" not in printed


def test_one_node_of_several_pods_is_a_page_each() -> None:
    lines = run("pods", LANDS, STUCK, "--node", "gpu-1").stdout.splitlines()
    starts = [index for index, line in enumerate(lines) if " on gpu-1: " in line]
    assert [lines[start].split()[0] for start in starts] == [f"default/{LANDS}", f"default/{STUCK}"]
    assert lines[0].startswith("the dump is ")
    assert (starts[0], lines[starts[1] - 1]) == (2, "")


def test_several_pods_make_a_list_in_the_order_asked_for() -> None:
    data = explained("pods", LANDS, STUCK)
    assert data["kind"] == "ExplanationList"
    assert [item["pod"]["name"] for item in data["items"]] == [LANDS, STUCK]


@pytest.mark.parametrize("arguments", [["pods", LANDS, STUCK], ["pods", "-A", "--pending"], ["pods", "-n", "none"]])
def test_a_list_that_is_written_item_by_item_is_formatted_like_any_other_json(arguments: list[str]) -> None:
    written = run(*arguments, "-o", "json").stdout
    whole = msgspec.json.format(msgspec.json.encode(json.loads(written)), indent=2).decode()
    assert written == f"{whole}\n"


def test_names_are_those_of_the_best_nodes() -> None:
    assert run(LANDS, "-o", "name").stdout == "node/general-3\n"
    assert run(STUCK, "-o", "name").stdout == ""
    tied = explained("batch-1")["best"]
    assert len(tied) == 3
    assert run("batch-1", "-o", "name").stdout == "".join(f"node/{name}\n" for name in tied)


def test_scores_add_up() -> None:
    for node in explained(LANDS)["nodes"]:
        assert all(each["weighted"] == each["normalized"] * each["weight"] for each in node["scores"])
        assert (node["total"] or 0) == sum(each["weighted"] for each in node["scores"])
        assert (node["filter"] is None) == bool(node["scores"])


@pytest.mark.parametrize(
    ("flags", "with_evidence"), [((), []), (("--node", "gpu-1"), ["gpu-1"]), (("--evidence",), None)]
)
def test_evidence_stands_where_it_was_asked_for(flags: tuple[str, ...], with_evidence: list[str] | None) -> None:
    nodes = explained(STUCK, *flags)["nodes"]
    found = [node["name"] for node in nodes if any("evidence" in each for each in node["rejections"])]
    assert found == ([node["name"] for node in nodes] if with_evidence is None else with_evidence)


def test_suggestions_have_changes_and_commands() -> None:
    suggestions = explained(STUCK)["suggestions"]
    assert suggestions
    for each in suggestions:
        assert each["outcome"] == "Schedulable"
        assert each["changes"]
        assert each["commands"] or each["manual"] or each["rung"] == "pay"
        assert each["node"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((STUCK,), 1),
        ((STUCK, "-o", "json"), 1),
        ((LANDS,), 0),
        ((LANDS, "-o", "yaml"), 0),
        ((LANDS, "--node", "general-1"), 0),
        ((LANDS, "--node", "master"), 1),
        (("pods", STUCK, LANDS), 1),
        (("pods", "-l", "app=nothing"), 0),
        (("web-7",), 2),
        ((LANDS, "--node", "nowhere"), 2),
        ((LANDS, "-o", "xml"), 2),
    ],
)
def test_exit_codes(arguments: tuple[str, ...], code: int) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stdout == ""
        assert done.stderr


def test_a_pipe_gets_no_colour_no_width_and_no_blanks_at_line_ends() -> None:
    for arguments in ((STUCK,), (STUCK, "-o", "wide"), ("--pending",), (STUCK, "--node", "gpu-1")):
        text = run(*arguments, COLUMNS="40", TERM="xterm-256color").stdout
        assert "\x1b" not in text
        assert all(line == line.rstrip() for line in text.splitlines())
    assert run(STUCK, COLUMNS="40").stdout == run(STUCK, COLUMNS="200").stdout
    assert f"kube-scheduler would say: {explained(STUCK)['event']}" in run(STUCK).stdout.splitlines()


def test_colour_is_asked_for_or_not() -> None:
    colored = run(STUCK, "--color", "always").stdout
    assert "\x1b[1;31m" in colored
    assert run(STUCK, "--color", "always", NO_COLOR="1").stdout == colored
    assert "\x1b[" in on_terminal(["explain", STUCK, "--from", DEMO], color=True)[0]
    assert "\x1b" not in on_terminal(["explain", STUCK, "--from", DEMO])[0]
    assert "\x1b" not in on_terminal(["explain", STUCK, "--from", DEMO, "--color", "never"], color=True)[0]


def test_colour_says_nothing_that_the_text_does_not() -> None:
    colored = run(STUCK, "--color", "always").stdout
    plain = run(STUCK).stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


@pytest.mark.parametrize("columns", [80, 160])
def test_lines_end_where_the_terminal_does(columns: int) -> None:
    for arguments in ([STUCK], [LANDS], [LANDS, "-o", "wide"], ["--pending"], [LANDS, "--node", "gpu-1"]):
        text, _ = on_terminal(["explain", *arguments, "--from", DEMO], columns=columns)
        assert all(len(line) <= columns for line in text.splitlines() if not line.lstrip().startswith("'"))


def test_data_hold_nothing_that_moves_a_cursor_or_hides(tmp_path: Path) -> None:
    told = "stopped\x9b31m \u202e\u200b\x7f na\u00efve \U0001f600 \U000e0001"
    condition = {"type": "Ready", "status": "False", "reason": "R", "message": told}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "w1"},
        "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]},
        "status": {"conditions": [condition]},
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0"}, "spec": {"containers": [{"name": "c"}]}}
    source = tmp_path / "dump.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    for output, load in (("json", json.loads), ("yaml", yaml.safe_load)):
        for arguments in (["web-0"], ["--pending"]):
            printed = run(*arguments, "-o", output, "--evidence", source=str(source), PYTHONUTF8="1").stdout
            assert not set(printed) & set("\x9b\u202e\u200b\x7f\U000e0001")
            data = load(printed)
            explanation = data["items"][0] if "items" in data else data
            (evidence,) = explanation["nodes"][0]["rejections"][0]["evidence"]
            assert told in evidence["text"]
    assert (
        "na\u00efve \U0001f600" in run("web-0", "-o", "json", "--evidence", source=str(source), PYTHONUTF8="1").stdout
    )

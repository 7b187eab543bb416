"""Defaults of how answers are shown, from variables and the home directory, and the pager."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import program
from tests.tui.test_on_a_terminal import shown

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

WEB = ("explain", "web-0", "--from", "fixtures/demo")


def run(home: Path, *arguments: str, file: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    (home / ".kubectl-sched.toml").write_text(file)
    return program.run(*(arguments or WEB), environment={"HOME": str(home), **variables})


def test_a_variable_counts_before_the_file_and_a_flag_before_both(tmp_path: Path) -> None:
    file = 'output = "yaml"\nnotes = true\n'
    assert run(tmp_path, file=file).stdout.startswith("apiVersion:")
    assert json.loads(run(tmp_path, file=file, KUBECTL_SCHED_OUTPUT="json").stdout)["kind"] == "Explanation"
    everything = ("whatif", "--with-pending", "--from", "fixtures/demo", "-o", "table")
    assert run(tmp_path, *everything, file=file).stdout.count("\nnote: ") == 2
    assert "\x1b[" in run(tmp_path, KUBECTL_SCHED_COLOR="always").stdout


def test_a_file_in_the_working_directory_sets_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / ".kubectl-sched.toml").write_text('output = "nonsense"\n')
    told = program.run("version", folder=folder, environment={"HOME": str(tmp_path)})
    assert told.returncode == 0


@pytest.mark.parametrize(
    ("file", "variables", "told"),
    [
        ('from = "dump.json"\n', {}, "from in ~/.kubectl-sched.toml is no default; there are output, color"),
        ("", {"KUBECTL_SCHED_OUTPUT": "html"}, "KUBECTL_SCHED_OUTPUT is 'html', and not one of table, wide"),
        ('color = "\x1b[31m"\n', {}, "~/.kubectl-sched.toml is no TOML"),
        ("output = \n", {}, "~/.kubectl-sched.toml is no TOML"),
    ],
)
def test_what_cannot_be_set_is_one_sentence(file: str, variables: dict[str, str], told: str, tmp_path: Path) -> None:
    ended = run(tmp_path, file=file, **variables)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {told}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("flags", [(), ("--color", "never"), ("-n", "shop")])
def test_a_message_is_told_as_it_is_without_a_default_format(tmp_path: Path, flags: tuple[str, ...]) -> None:
    text = "0/3 nodes are available: 3 Insufficient cpu."
    ended = run(tmp_path, "explain", *flags, "message", text, KUBECTL_SCHED_OUTPUT="wide")
    assert (ended.returncode, ended.stdout.splitlines()[0]) == (0, "0 of 3 nodes can take the pod.")
    asked = run(tmp_path, "explain", *flags, "-o", "name", "message", text)
    assert (asked.returncode, asked.stderr[:29]) == (2, "error: there is no -o name of")


@pytest.mark.parametrize("flag", ["-i", "-Ai", "--interactive=true"])
def test_a_screen_is_shown_whatever_the_default_format(tmp_path: Path, flag: str) -> None:
    ended = run(tmp_path, "explain", flag, "--from", "fixtures/demo", KUBECTL_SCHED_OUTPUT="json")
    assert ended.stderr.startswith("error: --interactive needs a terminal")
    asked = run(tmp_path, "explain", flag, "--from", "fixtures/demo", "-o", "json")
    assert asked.stderr.startswith("error: --interactive shows a screen and -o prints")


def test_no_variable_says_where_state_comes_from(tmp_path: Path) -> None:
    ended = run(tmp_path, "explain", "web-0", KUBECTL_SCHED_FROM="fixtures/demo", KUBECONFIG="/nonexistent")
    assert ended.returncode != 0
    assert not ended.stdout


def test_an_answer_longer_than_the_terminal_goes_through_the_pager(tmp_path: Path) -> None:
    """A pager that cannot be run costs nothing of the answer, and one that leaves early nothing of the exit code."""
    seen = tmp_path / "seen"
    home = {"HOME": str(tmp_path), "PAGER": "false"}
    long, short = [*WEB, "-o", "wide"], list(WEB)
    written, code = shown(long, [], **home, KUBECTL_SCHED_PAGER=f'echo "$LESS" >{seen}; head -3')
    assert (seen.read_text(), code) == ("FRX\n", 1)
    assert "kube-scheduler's own message" not in written
    for command, pager in ((long, "no-such-pager"), (long, "cat"), (short, f"cat >{seen}")):
        written, code = shown(command, [], **home, KUBECTL_SCHED_PAGER=pager)
        assert "kube-scheduler would say" in written
        assert code == 1
    assert seen.read_text() == "FRX\n"

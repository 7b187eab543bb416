"""Messages of the program if its answer cannot be written, or if there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
DEMO = Path(__file__).parents[2] / "fixtures" / "demo"


def explain(*flags: str, to: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubectl_sched", "explain", "web-0", "--from", str(DEMO), *flags]
    if to is None:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    with to.open("w") as stream:
        return subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full, which is always full, is a thing of Linux")
@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "html", "markdown"])
def test_a_full_disk_is_one_sentence(output: str) -> None:
    done = explain("-o", output, to=FULL)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "error: the output could not be written: No space left on device"


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full, which is always full, is a thing of Linux")
def test_a_snapshot_on_a_full_disk_is_the_same_sentence() -> None:
    command = [sys.executable, "-m", "kubectl_sched", "snapshot", "-", "--from", str(DEMO)]
    with FULL.open("w") as stream:
        done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "error: the output could not be written: No space left on device"


@pytest.mark.parametrize(
    "asked", [["snapshot", "-"], ["explain", "web-0", "-o", "json"], ["explain", "web-0", "-o", "wide"]]
)
def test_an_answer_whose_reader_goes_ends_in_silence(tmp_path: Path, asked: list[str]) -> None:
    nodes = [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": f"node-{number}"}} for number in range(2000)]
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-0"}}
    (tmp_path / "dump.json").write_text(json.dumps([*nodes, pod]))
    command = [sys.executable, "-m", "kubectl_sched", *asked, "--from", str(tmp_path / "dump.json")]
    # Without a buffer Python would take what part of the answer the pipe had room for as the whole.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 0)


@pytest.mark.parametrize(("closed", "printed"), [("<&-", True), ("2>&-", True), (">&-", False)])
def test_a_closed_stream_costs_only_what_goes_there(closed: str, printed: bool) -> None:
    command = f'"{sys.executable}" -m kubectl_sched explain web-0 --from "{DEMO}" {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("default/web-0: no node with pool=gpu has 4 GPUs free") == printed


def test_closed_standard_input_is_an_empty_dump() -> None:
    command = f'"{sys.executable}" -m kubectl_sched explain web-0 --from - <&-'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: standard input: it is empty\n")


def test_a_pod_that_has_not_drifted_is_no_answer() -> None:
    done = explain("--drifted")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "no pods match")

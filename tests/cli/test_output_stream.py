"""Messages of the program if its answer cannot be written, or if there is none."""

from __future__ import annotations

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


def test_a_pod_that_has_not_drifted_is_no_answer() -> None:
    done = explain("--drifted")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "no pods match")

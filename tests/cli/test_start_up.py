"""Start-up, guarded by counts that do not depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = str(Path(__file__).parents[2] / "fixtures" / "demo")
MOST_MODULES = 600
MOST_OF_OURS = 262
LATER = ("numpy.ma", "pydantic", "kubernetes", "textual", "jinja2", "urllib3", "prometheus_client")


@pytest.fixture(scope="module")
def imported() -> list[str]:
    """The modules that `explain` imports, as `python -X importtime` lists them."""
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "kubectl_sched",
        "explain",
        "pod",
        "web-0",
        "--from",
        str(DEMO),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "web-0" in run.stdout
    timed = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in timed[1:]]


def test_explaining_a_pod_imports_few_modules(imported: list[str]) -> None:
    assert 400 < len(imported) <= MOST_MODULES


def test_explaining_a_pod_imports_few_of_our_modules(imported: list[str]) -> None:
    assert 100 < sum(name.startswith("kubectl_sched") for name in imported) <= MOST_OF_OURS


@pytest.mark.parametrize("package", LATER)
def test_what_only_other_commands_need_is_not_imported(imported: list[str], package: str) -> None:
    assert not [name for name in imported if name == package or name.startswith(f"{package}.")]

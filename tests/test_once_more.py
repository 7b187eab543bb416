"""Tests that fail are run once more, alone; everything else is as pytest has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "e2e" / "once_more.py"
PASSES = "def test_that_passes():\n    open('passes', 'a').write('x')\n"
FLAKY = """
import os
def test_that_is_flaky():
    first = not os.path.exists('seen')
    open('seen', 'a').write('x')
    assert not first, 'the first traceback'
"""
FAILS = "def test_that_fails():\n    open('fails', 'a').write('x')\n    assert False\n"
CRASHES = "import os\ndef test_that_crashes():\n    open('crashes', 'a').write('x')\n    os._exit(3)\n"


def once_more(folder: Path, *arguments: str, **tests: str) -> subprocess.CompletedProcess[str]:
    for name, text in tests.items():
        (folder / f"test_{name}.py").write_text(text)
    plugins = ("-p", "xdist.plugin") if arguments else ()
    return subprocess.run(
        [sys.executable, str(PROGRAM), *plugins, *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # what is installed beside takes a second to import
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", [(), ("-n2",)])
def test_a_test_that_passes_the_second_time_is_flaky(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = once_more(tmp_path, *arguments, passes=PASSES, flaky=FLAKY)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "passes").read_text() == "x"
    assert (tmp_path / "seen").read_text() == "xx"
    said = done.stdout[done.stdout.index("flaky: test_flaky.py::test_that_is_flaky") :]
    assert "the first traceback" in said
    assert said.splitlines()[-1] == "1 flaky, 0 failed twice"


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    done = once_more(tmp_path, passes=PASSES, flaky=FLAKY, fails=FAILS)
    assert done.returncode == 1
    assert (tmp_path / "fails").read_text() == "xx"
    assert (tmp_path / "passes").read_text() == "x"
    assert done.stdout.splitlines()[-1] == "1 flaky, 1 failed twice"


@pytest.mark.parametrize(
    ("arguments", "tests"),
    [
        ((), {"wrong": "import nothing_of_this_name\n", "flaky": FLAKY}),
        (("-n2",), {"wrong": "import nothing_of_this_name\n", "flaky": FLAKY}),
        (("-n1",), {"crashes": CRASHES}),
        ((), {"crashes": CRASHES}),
        (("--no-such-flag",), {"passes": PASSES}),
    ],
)
def test_what_is_no_failed_test_is_not_repeated(
    arguments: tuple[str, ...], tests: dict[str, str], tmp_path: Path
) -> None:
    done = once_more(tmp_path, *arguments, **tests)
    assert done.returncode != 0
    assert "flaky:" not in done.stdout
    assert not (tmp_path / "seen").exists() or (tmp_path / "seen").read_text() == "x"
    assert not (tmp_path / "crashes").exists() or (tmp_path / "crashes").read_text() == "x"


def test_a_run_without_failures_is_one_run(tmp_path: Path) -> None:
    done = once_more(tmp_path, passes=PASSES)
    assert done.returncode == 0
    assert "once more" not in done.stdout
    assert (tmp_path / "passes").read_text() == "x"

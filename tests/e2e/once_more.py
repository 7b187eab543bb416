"""Runs tests, and those that fail once more at the end, one at a time: `python -m tests.e2e.once_more -m e2e`.

A test against live programs may fail by timing on a busy machine. The exit code is that of the second run. A crash, an
error of collection or an interrupted run fails at once, and nothing that passed is repeated.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOME_FAILED = 1
_CRASH = "crashed while running"


def main(arguments: Sequence[str]) -> int:
    """Run pytest with the arguments, and what fails once more; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        cache, report = Path(folder, "cache"), Path(folder, "report.xml")
        code = _pytest(*arguments, f"--junitxml={report}", cache=cache)
        if code != _SOME_FAILED:
            return code
        failed = _last_failed(cache)
        tracebacks = _tracebacks(report)
        if (
            not failed
            or any("::" not in each for each in failed)
            or any(_CRASH in each for each in tracebacks.values())
        ):
            print("a crash or an error of collection is not repeated")
            return code
        print(f"once more, one at a time: {len(failed)}", flush=True)
        alone = [word for word in arguments if not word.startswith("-n")] + ["-p", "no:xdist"]
        code = _pytest(*alone, "--last-failed", "--last-failed-no-failures", "none", cache=cache)
        flaky = sorted(failed - _last_failed(cache)) if code in {0, _SOME_FAILED} else []
        for test in flaky:
            print(f"flaky: {test}\n{tracebacks.get(_place(test), '')}\n")
        print(f"{len(flaky)} flaky, {len(failed) - len(flaky)} failed twice")
        return code


def _pytest(*arguments: str, cache: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-o", f"cache_dir={cache}", *arguments]
    return subprocess.run(command, check=False).returncode


def _last_failed(cache: Path) -> frozenset[str]:
    """Return the tests that pytest notes as failed."""
    noted = cache / "v" / "cache" / "lastfailed"
    return frozenset(json.loads(noted.read_text())) if noted.exists() else frozenset()


def _tracebacks(report: Path) -> dict[tuple[str, str], str]:
    """Return the text of each failure by module and name of its test."""
    return {
        (case.get("classname", ""), case.get("name", "")): f"{found.get('message', '')}\n{found.text or ''}"
        for case in ET.parse(report).iter("testcase")  # noqa: S314 - written by pytest just now
        for found in (*case.findall("failure"), *case.findall("error"))
    }


def _place(test: str) -> tuple[str, str]:
    path, *classes, name = test.split("::")
    return ".".join((path.removesuffix(".py").replace("/", "."), *classes)), name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

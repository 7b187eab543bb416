"""Karpenter's own code as a program that answers requests, built once (see `tests/oracle/build.py`).

python -m tests.oracle.karpenter.oracle 1.15.0      builds ahead
"""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from tests.oracle.build import build, cache_home, fingerprint

VERSION = "1.14.1"
VERSIONS = {"1.14.1": "", "1.15.0": "go1.26.9"}
"""The releases that there is a module file for, and the toolchain that each needs beyond the installed one."""

PROGRAM = Path(__file__).parent / "program"


def program(version: str = VERSION) -> Path:
    """The program of a release, built if it is not there yet; that takes some minutes."""
    module = PROGRAM / f"v{version}.mod"
    sources = [*PROGRAM.glob("*.go"), *PROGRAM.glob("*.s"), module, module.with_suffix(".sum")]
    target = cache_home() / "oracle" / f"karpenter-{version}-{fingerprint(sources)}" / "oracle"
    if not target.exists():
        build(module, target, flags=["-tags", tags(version)], toolchain=VERSIONS[version])
    return target


def tags(version: str) -> str:
    """The build tags of a release: one for its minor and each before it."""
    minors = [".".join(known.split(".")[:2]) for known in VERSIONS if known <= version]
    return ",".join(f"karpenter{minor}" for minor in minors)


class KarpenterOracle:
    """The running program."""

    def __init__(self, version: str = VERSION) -> None:
        self.version = version
        self._process = subprocess.Popen([program(version)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Its answer to one request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = msgspec.json.decode(self._process.stdout.readline())
        assert not answer.get("error"), answer["error"]
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def instance_types(*arguments: str) -> list[dict[str, Any]]:
    """Karpenter's own instance types: `kwok`, `kwok FILE`, `assorted`, or `fake` and how many."""
    done = subprocess.run([program(), "instance-types", *arguments], capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=list[dict[str, Any]])


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(program(wanted))

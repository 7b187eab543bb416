"""Karpenter's own simulation as a program that answers requests, built once (see `tests/oracle/build.py`)."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from tests.oracle.build import build, cache_home, fingerprint

VERSION = "1.14.1"
PROGRAM = Path(__file__).parent / "program"


def program() -> Path:
    """The program, built if it is not there yet; that takes some minutes."""
    module = PROGRAM / "go.mod"
    sources = [*PROGRAM.glob("*.go"), *PROGRAM.glob("*.s"), module, module.with_suffix(".sum")]
    target = cache_home() / "oracle" / f"karpenter-{VERSION}-{fingerprint(sources)}" / "oracle"
    if not target.exists():
        build(module, target, flags=[])
    return target


class KarpenterOracle:
    """The running program."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

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

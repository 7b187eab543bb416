"""Runs batches of cases in processes of their own, which bound the time and the memory of each case."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import shutil
import signal
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.findings import Finding, minimized
from tests.fuzz.laws import broken, known
from tests.fuzz.program import bounded, confined, run
from tests.fuzz.targets import case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzz.laws import Argvs

SECONDS = 10.0
"""Of processor time for a case; and twenty times as long by the clock, for what only waits."""
MEMORY = 1 << 30
"""Bytes that a case may take more than the process has."""


class Batch(NamedTuple):
    """Cases of one target, by their numbers."""

    target: str
    numbers: Sequence[int]


class Report(NamedTuple):
    """What came of a batch: how many cases were run, what broke a law, and the commands that were printed."""

    cases: int
    findings: list[Finding]
    commands: dict[str, Argvs]


class Worker:
    """A process that runs one batch. Its pipe gives the report; a process that was ended gives none."""

    def __init__(self, batch: Batch, seen: set[str], seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.batch = batch
        self._place = mmap.mmap(-1, 8)
        self._reading, writing = os.pipe()
        leave = os._exit  # replaced in the fork
        self.process = os.fork()
        if not self.process:
            code = 1
            try:
                os.close(self._reading)
                report = self._report(seen, seconds, memory)
                with os.fdopen(writing, "wb") as pipe:
                    pickle.dump(report, pipe)
                code = 0
            finally:
                leave(code)
        os.close(writing)

    def fileno(self) -> int:
        return self._reading

    def report(self) -> Report:
        """Wait for the end. The case at which the process was ended is a finding, and those after it were not run."""
        with os.fdopen(self._reading, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self.process, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            report: Report = pickle.loads(data)  # noqa: S301 - our own fork wrote it
            return report
        [at] = struct.unpack("q", self._place[:])
        number = self.batch.numbers[at]
        law = f"time: over {SECONDS:g} s" if -code in {signal.SIGPROF, signal.SIGALRM} else f"end: status {code}"
        return Report(at + 1, [Finding(self.batch.target, number, law, case(self.batch.target, number))], {})

    def _report(self, seen: set[str], seconds: float, memory: int) -> Report:
        folder = tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108
        os.environ.clear()
        os.environ.update({"HOME": folder, "PATH": "/nowhere", "LC_ALL": "C.UTF-8"})
        os.chdir(folder)
        findings: list[Finding] = []
        commands: dict[str, Argvs] = {}
        gc.freeze()
        try:
            begin = bounded(seconds, memory)
            with confined():
                for at, number in enumerate(self.batch.numbers):
                    self._place[:] = struct.pack("q", at)
                    begin()
                    tried = case(self.batch.target, number)
                    outcome = run(tried.arguments, tried.files, tried.stdin)
                    law = broken(outcome, tried.arguments)
                    commands.update(known(outcome.commands, seen))
                    if law is not None:
                        begin()
                        findings.append(minimized(Finding(self.batch.target, number, law, tried)))
                    if at % 50 == 0:
                        gc.collect()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Report(len(self.batch.numbers), findings, commands)

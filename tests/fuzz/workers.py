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
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

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

_MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - a folder of its own is made in it


class Batch(NamedTuple):
    """Cases of one target, by their numbers."""

    target: str
    numbers: Sequence[int]


class Report(NamedTuple):
    """The result of a batch: how many cases were run, what broke a law, and the commands that were printed."""

    cases: int
    findings: list[Finding]
    commands: dict[str, Argvs]


class Worker:
    """A process that runs one batch. Its pipe is closed when it ends, by itself or otherwise."""

    def __init__(self, batch: Batch, seen: set[str], seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.batch = batch
        self._place = mmap.mmap(-1, 8)
        memory_folder = _MEMORY_FOLDER if Path(_MEMORY_FOLDER).is_dir() else None
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory_folder))
        self._reading, writing = os.pipe()
        leave = os._exit  # replaced in the fork
        self.process = os.fork()
        if not self.process:
            code = 1
            try:
                os.close(self._reading)
                self._work(seen, seconds, memory)
                code = 0
            finally:
                leave(code)
        os.close(writing)

    def fileno(self) -> int:
        return self._reading

    def report(self) -> Report:
        """Wait for the end. The case at which the process was ended is a finding, and those after it were not run."""
        os.read(self._reading, 1)
        os.close(self._reading)
        _, status = os.waitpid(self.process, 0)
        code = os.waitstatus_to_exitcode(status)
        with (self._folder / "found").open("rb") as file:
            report = Report(len(self.batch.numbers), *_read_found(file))
        shutil.rmtree(self._folder)
        if code == 0:
            return report
        [at] = struct.unpack("q", self._place[:])
        number = self.batch.numbers[at]
        law = f"time: over {SECONDS:g} s" if -code in {signal.SIGPROF, signal.SIGALRM} else f"end: status {code}"
        ended = Finding(self.batch.target, number, law, case(self.batch.target, number))
        return report._replace(cases=at + 1, findings=[*report.findings, ended])

    def _work(self, seen: set[str], seconds: float, memory: int) -> None:
        """Run the batch; what is found is written at once."""
        place = self._folder / "place"
        place.mkdir()
        os.chdir(place)
        os.environ.clear()
        os.environ.update({"HOME": str(place), "PATH": "/nowhere", "LC_ALL": "C.UTF-8"})
        commands: dict[str, Argvs] = {}
        gc.freeze()
        begin = bounded(seconds, memory)
        with (self._folder / "found").open("wb", buffering=0) as found, confined():
            for at, number in enumerate(self.batch.numbers):
                self._place[:] = struct.pack("q", at)
                begin()
                tried = case(self.batch.target, number)
                outcome = run(tried.arguments, tried.files, tried.stdin)
                law = broken(outcome, tried.arguments)
                commands.update(known(outcome.commands, seen))
                if law is not None:
                    begin()
                    found.write(pickle.dumps(minimized(Finding(self.batch.target, number, law, tried))))
                if at % 50 == 0:
                    gc.collect()
            found.write(pickle.dumps(commands))


def _read_found(file: BinaryIO) -> tuple[list[Finding], dict[str, Argvs]]:
    findings: list[Finding] = []
    commands: dict[str, Argvs] = {}
    while True:
        try:
            found = pickle.load(file)  # noqa: S301 - our own fork wrote it
        except EOFError:
            return findings, commands
        if isinstance(found, Finding):
            findings.append(found)
        else:
            commands = found

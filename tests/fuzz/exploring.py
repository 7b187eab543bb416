"""Many cases: worker processes that are forked anew every few thousand cases, and watched from outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from select import select
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import preloaded
from tests.fuzz.laws import broken
from tests.fuzz.pasting import wrongly_run
from tests.fuzz.running import Runner
from tests.fuzz.targets import TARGETS, write_sound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CASES_OF_A_WORKER = 2_000

_import_everything = cache(preloaded.import_everything)
"""So that a case's time is its own."""

SILENT_SECONDS = 300.0
"""A worker that says nothing for so long hangs in code that no signal reaches; a busy machine is slow, too."""

_LARGEST_BATCH = 200
"""Commands that one bash runs."""


class Case(NamedTuple):
    """One input: the same target, seed and number are the same case."""

    target: str
    seed: int
    number: int


class Finding(NamedTuple):
    """A law that a case has broken, and the command line that runs the case again."""

    law: str
    again: str


class Report(NamedTuple):
    """What has been run and found."""

    cases: Counter[str]
    findings: list[Finding]
    commands: int
    seconds: float


def explore(
    names: Sequence[str], *, seed: int, first: int = 0, cases: int | None, seconds: float | None, workers: int = 1
) -> Report:
    """Run cases of these targets, by their shares, until the number or the time is up."""
    _import_everything()
    began = time.monotonic()
    todo = _batches(names, seed, first, cases)
    report = Report(Counter(), [], 0, 0.0)
    known: set[str] = set()
    running: dict[int, _Worker] = {}
    while True:
        late = seconds is not None and time.monotonic() - began > seconds
        while len(running) < workers and not late and (batch := next(todo, None)) is not None:
            worker = _Worker(batch)
            running[worker.pipe] = worker
        if not running:
            break
        ready, _, _ = select(running, [], [], 5.0)
        for pipe in ready:
            running[pipe].read()
        for pipe, worker in list(running.items()):
            worker.look_after(late=late)
            if worker.ended:
                del running[pipe]
                report.cases[worker.batch[0].target] += worker.done
                report.findings.extend(worker.findings)
                report = report._replace(commands=report.commands + _pasted(worker, known, report.findings))
    return report._replace(seconds=time.monotonic() - began)


def _batches(names: Sequence[str], seed: int, first: int, cases: int | None) -> Iterator[list[Case]]:
    """Batches for a worker each, all targets in turn; of few cases each target has its part, too."""
    shares = {name: TARGETS[name].share for name in names}
    whole = sum(shares.values())
    if cases is not None:
        left = {name: max(1, cases * share // whole) for name, share in shares.items()}
        sizes = dict.fromkeys(names, CASES_OF_A_WORKER)
    else:
        left = dict.fromkeys(names, 1 << 60)
        sizes = {name: max(1, 4 * CASES_OF_A_WORKER * share // whole) for name, share in shares.items()}
    at = dict.fromkeys(names, first)
    while any(left.values()):
        for name in names:
            size = min(left[name], sizes[name])
            if size:
                yield [Case(name, seed, number) for number in range(at[name], at[name] + size)]
                at[name] += size
                left[name] -= size


class _Worker:
    """A process with a batch of cases; it says before each one that it begins, and what it has found."""

    def __init__(self, batch: list[Case]) -> None:
        self.batch = batch
        self.done = 0
        self.findings: list[Finding] = []
        self.commands: dict[str, Any] = {}
        self.ended = False
        self._heard_at = time.monotonic()
        self._text = b""
        self.pipe, its = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self.pipe)
            _work(batch, its)
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(its)

    def read(self) -> None:
        data = os.read(self.pipe, 1 << 16)
        self._heard_at = time.monotonic()
        self._text += data
        *lines, self._text = self._text.split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        if not data:
            os.waitpid(self._pid, 0)
            os.close(self.pipe)
            if self.done < len(self.batch) and not self.ended:
                self.findings.append(Finding("it ends the process", again(self.batch[self.done])))
            self.ended = True

    def _take(self, said: dict[str, Any]) -> None:
        self.done = said["done"]
        self.commands |= said.get("commands", {})
        if "law" in said:
            self.findings.append(Finding(said["law"], again(self.batch[self.done])))

    def look_after(self, *, late: bool) -> None:
        """End it where it hangs, or where the time is up."""
        silent = time.monotonic() - self._heard_at > SILENT_SECONDS
        if self.ended or not (late or silent):
            return
        if silent:
            self.findings.append(Finding("it hangs", again(self.batch[self.done])))
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self.pipe)
        self.ended = True


def again(case: Case) -> str:
    """The command that runs one case again."""
    return f"python -m tests.fuzz --target {case.target} --seed {case.seed} --first {case.number} --cases 1"


def _work(batch: list[Case], pipe: int) -> None:
    """Run the cases of a batch, and say what comes of each."""
    with os.fdopen(pipe, "w", buffering=1) as out, tempfile.TemporaryDirectory(dir=_fast_folder()) as name:
        folder = Path(name)
        write_sound(folder)
        runner = Runner()
        told: set[str] = set()
        with runner.ready(folder):
            for number, case in enumerate(batch):
                law = run_case(case, runner, folder)
                said: dict[str, Any] = {"done": number, "law": law} if law else {"done": number + 1}
                new = {text: argvs for text, argvs in runner.commands.items() if text not in told}
                told |= new.keys()
                out.write(json.dumps(said | {"commands": new} if new else said) + "\n")
                if law:
                    out.write(json.dumps({"done": number + 1}) + "\n")


def run_case(case: Case, runner: Runner, folder: Path) -> str | None:
    """The law that a case breaks, None where all hold."""
    place = folder / "case"
    place.mkdir()
    arguments = TARGETS[case.target].make(Random(repr(case)), place)  # noqa: S311 - no secret
    law = broken(arguments, runner.run(arguments), runner.commands)
    shutil.rmtree(place)
    return law


def _fast_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own is made in it


def _pasted(worker: _Worker, known: set[str], findings: list[Finding]) -> int:
    """Run by bash the commands that no worker before has had; how many they were."""
    new = [text for text in worker.commands if text not in known]
    known.update(new)
    for start in range(0, len(new), _LARGEST_BATCH):
        batch = {text: worker.commands[text] for text in new[start : start + _LARGEST_BATCH]}
        findings += [Finding("bash makes something else of it", text) for text in wrongly_run(batch)]
    return len(new)

"""`python -m tests.fuzz --minutes N`: run cases until the time is over; exit code 1 with a finding."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from select import select
from typing import TYPE_CHECKING

from tests.fuzz import findings, laws, shell
from tests.fuzz.program import confined, import_everything, run
from tests.fuzz.targets import SHARES, TARGETS, Case, case
from tests.fuzz.workers import Batch, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUND = 20_000
"""Cases of all targets together until each is asked again. A worker runs one target's part of it."""
_MOST_FINDINGS = 100


def main() -> int:
    asked = _arguments()
    import_everything()
    if asked.again is not None:
        return _again(findings.read(asked.again) if asked.again.exists() else case(*_named(str(asked.again))))
    started = time.monotonic()
    counts, found, commands = _explore(asked)
    seconds = time.monotonic() - started
    for target, count in sorted(counts.items()):
        _say(f"{target:15}{count:>10,} cases")
    _say(f"{'all':15}{counts.total():>10,} cases in {seconds / 60:.1f} minutes, seed {asked.seed}")
    _say(f"{commands:,} distinct commands run by bash; {found} findings")
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long at most")
    parser.add_argument("--cases", type=int, default=10**9, help="how many cases at most")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this one; repeatable")
    parser.add_argument("--seed", type=int, default=None, help="which cases; another one each time unless it is given")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where findings are written")
    parser.add_argument("--again", type=Path, help="run one case again: a finding's file, or TARGET:NUMBER")
    asked = parser.parse_args()
    if asked.seed is None:
        asked.seed = int(time.time())
    return asked


def _explore(asked: argparse.Namespace) -> tuple[Counter[str], int, int]:
    until = time.monotonic() + 60 * asked.minutes
    batches = _batches(asked)
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    told: Counter[str] = Counter()
    running: list[Worker] = []
    told_at = time.monotonic()
    while True:
        while len(running) < asked.processes and time.monotonic() < until and told.total() < _MOST_FINDINGS:
            batch = next(batches, None)
            if batch is None:
                break
            running.append(Worker(batch, seen))
        if not running:
            return counts, told.total(), len(seen)
        for worker in select(running, [], [])[0]:
            running.remove(worker)
            report = worker.report()
            counts[worker.batch.target] += report.cases
            new = laws.known(report.commands, seen)
            wrong = [_shell_finding(worker.batch, text, law) for text, law in shell.wrongly_run(new)] if new else []
            for finding in (*report.findings, *wrong):
                told[laws.law_of(finding.law)] += 1
                path = findings.write(finding, asked.findings)
                _say(f"{finding.law[:400]}\n  run it again: python -m tests.fuzz --again {path}")
            if rest := worker.batch.numbers[report.cases :]:
                running.append(Worker(Batch(worker.batch.target, rest), seen))
        if time.monotonic() > told_at + 60:
            told_at = time.monotonic()
            _say(f"{counts.total():,} cases, {len(seen):,} commands, {told.total()} findings")


def _shell_finding(batch: Batch, text: str, law: str) -> findings.Finding:
    return findings.Finding(batch.target, batch.numbers[0], law, Case((batch.target,), {}, text.encode()))


def _batches(asked: argparse.Namespace) -> Iterator[Batch]:
    """Batches of all targets by turns, each in its share, until so many cases."""
    shares = {target: SHARES[target] for target in asked.target or TARGETS}
    begun = dict.fromkeys(shares, 0)
    left = asked.cases
    while left > 0:
        target = min(shares, key=lambda each: begun[each] / shares[each])
        size = min(left, _ROUND * shares[target] // 100)
        start = asked.seed * 10**9 + begun[target]
        yield Batch(target, range(start, start + size))
        begun[target] += size
        left -= size


def _named(text: str) -> tuple[str, int]:
    target, _, number = text.partition(":")
    return target, int(number)


def _again(tried: Case) -> int:
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with confined():
            outcome = run(tried.arguments, tried.files, tried.stdin)
        os.chdir("/")
    law = laws.broken(outcome, tried.arguments)
    _say(json.dumps(tried.arguments))
    _say(f"exit code {outcome.code}\n{outcome.stderr.decode(errors='replace')}")
    _say(law or "all laws hold")
    return 1 if law else 0


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())

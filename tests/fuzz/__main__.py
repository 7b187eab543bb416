"""`python -m tests.fuzz`: explore, or run a number of cases; see the package's docstring."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.exploring import explore
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Run cases until the time or the number is up; the exit code says whether there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Try broken and hostile inputs.")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float, help="how long")
    length.add_argument("--cases", type=int, help="how many cases of all targets together")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, help="what the cases follow from; another one each time by default")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each target")
    parser.add_argument("--workers", type=int, default=2, help="processes side by side")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else int(time.time())
    report = explore(
        given.target or list(TARGETS),
        seed=seed,
        first=given.first,
        cases=given.cases,
        seconds=given.minutes and given.minutes * 60,
        workers=given.workers,
    )
    for finding in report.findings:
        print(f"{finding.law}\n  {finding.again}", flush=True)
    counts = ", ".join(f"{name} {report.cases[name]:,}" for name in report.cases)
    print(
        f"seed {seed}: {sum(report.cases.values()):,} cases in {report.seconds:,.0f} s ({counts}); "
        f"{report.commands:,} distinct commands run by bash; {len(report.findings)} findings"
    )
    return int(bool(report.findings))


if __name__ == "__main__":
    sys.exit(main())

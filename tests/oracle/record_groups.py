"""Records the cycles of generated groups, so that the ordinary tests need no Go.

    python -m tests.oracle.record_groups --kube-version 1.36 --cases 25

writes fixtures/groups/<minor>.jsonl.gz: a `{"request", "answer"}` a line.
"""

import argparse
import gzip
import json
from pathlib import Path

from tests.oracle.build import Oracle
from tests.oracle.generate.podgroups import group_requests, topics
from tests.oracle.generate.samples import samples

FOLDER = Path(__file__).parents[2] / "fixtures" / "groups"
MINORS = ("1.36", "1.37", "1.38")


def record(oracle: Oracle, cases: int, seed: int) -> int:
    """Write so many cycles of each topic that have members; gives their number."""
    gates = frozenset(oracle.defaults()["featureGates"])
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = 0
    with (
        (FOLDER / f"{oracle.minor}.jsonl.gz").open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as lines,
    ):
        for topic in topics(gates):
            for number, request in enumerate(samples(group_requests(topic, gates), cases, seeded=seed)):
                named = request | {"id": f"{topic}-{seed}-{number:03}"}
                (answer,) = oracle.ask(named)
                line = json.dumps({"request": named, "answer": answer}, separators=(",", ":"))
                lines.write(line.encode() + b"\n")
                written += 1
    return written


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", choices=MINORS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=25, help="groups of each topic")
    options = parser.parse_args()
    with Oracle(options.kube_version) as oracle:
        print(f"{record(oracle, options.cases, options.seed)} cycles")


if __name__ == "__main__":
    main()

"""Records decisions of the real kube-scheduler, so that the ordinary tests need no Go.

    python -m tests.oracle.record --kube-version 1.34 --seed 1 --cases 40 mixed volumes     generated clusters
    python -m tests.oracle.record --kube-version 1.34 --requests FILE.jsonl                 requests of one's own

writes fixtures/decisions/<minor>/<name>.jsonl.gz: a `{"request", "responses"}` a line.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.oracle.build import VERSIONS, Oracle, OracleCrashedError, Request
from tests.oracle.generate.clusters import TOPICS, requests
from tests.oracle.generate.samples import samples

FOLDER = Path(__file__).parents[2] / "fixtures" / "decisions"


def record(oracle: Oracle, asked: Iterable[Request], path: Path) -> int:
    """Write each request with its answers; gives the number of decisions."""
    decisions = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a time in its header the same decisions make the same file.
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as lines:
        for request in asked:
            try:
                answers = oracle.ask(request)
            except OracleCrashedError as crash:
                print(f"{request['id']} takes kube-scheduler down and is left out: {str(crash)[:200]}", file=sys.stderr)
                continue
            decisions += len(answers)
            line = json.dumps({"request": request, "responses": answers}, separators=(",", ":"))
            lines.write(line.encode() + b"\n")
    return decisions


def generated(topic: str, gates: frozenset[str], cases: int, seed: int) -> list[Request]:
    """Requests with ids of their own; the same seed gives the same."""
    found = samples(requests(topic, gates), cases, seeded=seed)
    return [request | {"id": f"{topic}-{seed}-{number:03}"} for number, request in enumerate(found)]


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", choices=VERSIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=40, help="clusters of each topic")
    parser.add_argument("--requests", type=Path, help="a file of requests instead, one JSON line each")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(TOPICS)}")
    options = parser.parse_args()
    folder = FOLDER / options.kube_version
    with Oracle(options.kube_version) as oracle:
        if options.requests:
            asked = [json.loads(line) for line in options.requests.read_text().splitlines()]
            target = folder / f"{options.requests.stem}.jsonl.gz"
            print(f"{target}: {record(oracle, asked, target)} decisions")
        gates = frozenset(oracle.defaults()["featureGates"])
        for topic in options.topics:
            target = folder / f"{topic}.seed{options.seed}.jsonl.gz"
            asked = generated(topic, gates, options.cases, options.seed)
            print(f"{target}: {record(oracle, asked, target)} decisions")


if __name__ == "__main__":
    main()

"""Holds the oracle against decisions recorded from kube-scheduler: it is trusted because it reproduces them all.

Run it by hand over files of recorded decisions (one `{"request", "responses"}` a line, gzipped):

    python -m tests.oracle.recorded fixtures/decisions/*.jsonl.gz
"""

import argparse
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.oracle.build import VERSIONS, Answer, Oracle, Request


class Recorded(msgspec.Struct):
    """One line of a file of recorded decisions."""

    request: Request
    responses: list[Answer]


def read(path: Path) -> Iterator[Recorded]:
    """The recorded decisions of a gzipped file of JSON lines."""
    with gzip.open(path, "rb") as lines:
        for line in lines:
            yield msgspec.json.decode(line, type=Recorded)


def differences(recorded: Answer, answered: Answer) -> list[str]:
    """The fields in which two answers for the same pod differ, apart from what is chance in kube-scheduler itself."""
    left, right = without_chance(recorded, answered), without_chance(answered, recorded)
    return [field for field in sorted(left.keys() | right.keys()) if left.get(field) != right.get(field)]


def without_chance(answer: Answer, other: Answer) -> Answer:
    """The answer without what differs from run to run.

    Chance are the host among the best, the node that wins the last tie of preemption (with its victims), and which
    node's error is reported where several nodes fail.
    """
    kept = {field: value for field, value in answer.items() if field != "suggestedHost"}
    if answer.get("errorNodes", 0) > 1 and other.get("errorNodes", 0) > 1:
        kept["error"] = kept["finalMessage"] = "of one of several nodes"
    post_filter = answer.get("postFilter")
    if post_filter and post_filter.get("nominatedNodes"):
        node = post_filter["nominatedNode"]
        chosen = sorted(post_filter["dryRun"].get(node, {}).get("victims", []))
        consistent = node in post_filter["nominatedNodes"] and post_filter["victims"] == chosen
        kept["postFilter"] = {**post_filter, "nominatedNode": consistent, "victims": consistent}
    return kept


def compare(oracle: Oracle, path: Path) -> tuple[int, list[str]]:
    """The number of pods of a file, and a line for each that the oracle answers otherwise."""
    pods, wrong = 0, []
    for case in read(path):
        answers = oracle.ask(case.request)
        for recorded, answered in zip(case.responses, answers, strict=True):
            pods += 1
            wrong += [
                f"{case.request['id']} {recorded['pod']} {field}: "
                f"recorded {recorded.get(field)!s:.500} answered {answered.get(field)!s:.500}"
                for field in differences(recorded, answered)
            ]
    return pods, wrong


def main() -> int:
    """Compare files given on the command line; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", choices=VERSIONS)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    total, everything = 0, list[str]()
    with Oracle(options.kube_version) as oracle:
        for path in options.files:
            pods, wrong = compare(oracle, path)
            total += pods
            everything += wrong
            print(f"{path.name}: {pods} pods, {len(wrong)} differences")
    print(*everything[: options.show], sep="\n")
    print(f"{total} pods, {len(everything)} differences")
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())

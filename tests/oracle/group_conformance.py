"""The long run for groups: compares the cycles of generated groups with the real kube-scheduler's.

    python -m tests.oracle.group_conformance --groups 10000 --kube-version 1.36

Each pass replaces the figures of its version in fixtures/conformance_groups.json and writes the page
docs/development/conformance.md anew. A difference is printed; its request is written to the folder that --keep names.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.oracle.build import Oracle
from tests.oracle.conformance import FIGURES, GROUP_FIGURES, PAGE, page
from tests.oracle.generate.podgroups import group_requests, topics
from tests.oracle.generate.samples import samples
from tests.oracle.group_decisions import differences, replay
from tests.oracle.record_groups import MINORS

BATCH = 200
REPEATED = 10
"""How often kube-scheduler is asked again where it differs: what it draws is no difference."""


def run(oracle: Oracle, groups: int, keep: Path | None) -> Iterator[dict[str, list[int]]]:
    """Topic -> [cycles compared, differences] after each pass over the topics, until so many groups are compared."""
    gates = frozenset(oracle.defaults()["featureGates"])
    compared, differing = Counter[str](), Counter[str]()
    seed = 100
    while compared.total() < groups:
        for topic in topics(gates):
            for request in samples(group_requests(topic, gates), BATCH, seeded=seed):
                (answer,) = oracle.ask(request)
                assert not answer.get("error"), answer["error"]
                said = replay(request, oracle.patch)[answer["group"]]
                wrong = differences(answer, said)
                if wrong and any(not differences(oracle.ask(request)[0], said) for _ in range(REPEATED)):
                    print(f"{topic}: kube-scheduler draws, and ours is one of its answers", file=sys.stderr)
                    wrong = {}
                compared[topic] += 1
                if wrong:
                    differing[topic] += 1
                    print(topic, json.dumps(wrong), file=sys.stderr)
                    if keep is not None:
                        (keep / f"{topic}-{differing[topic]}.json").write_text(json.dumps(request))
        seed += 1
        print(f"{compared.total()} groups, {differing.total()} differ", file=sys.stderr, flush=True)
        yield {topic: [compared[topic], differing[topic]] for topic in topics(gates)}


def main() -> int:
    """Run one version and write its figures; the exit code says whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", choices=MINORS)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with Oracle(options.kube_version) as oracle:
        for found in run(oracle, options.groups, options.keep):
            known = json.loads(GROUP_FIGURES.read_text()) if GROUP_FIGURES.exists() else {}
            known[options.kube_version] = found
            GROUP_FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
            PAGE.write_text(page(json.loads(FIGURES.read_text())))
    return 1 if any(differing for _, differing in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

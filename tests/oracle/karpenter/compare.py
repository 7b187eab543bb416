"""Compares our replay of Karpenter with Karpenter on generated clusters, of 1.14.1 unless another release is named.

    python -m tests.oracle.karpenter.compare --pods 20000
    python -m tests.oracle.karpenter.compare --pods 10000 --movement
    python -m tests.oracle.karpenter.compare --pods 10000 --release 1.15.0 --newer
    python -m tests.oracle.karpenter.compare --pods 10000 --release 1.15.0 --devices
    python -m tests.oracle.karpenter.compare --pods 400 --record fixtures/karpenter/1.14.1.jsonl.gz

A difference makes the exit code 1 and names the seed of its cluster. Where Karpenter leaves a choice to chance, the
answer is marked tied and is looked for in 40 runs; one that none of them had is counted apart. What looks like a
difference without a mark is looked for in 400 runs, as an error text may be rare.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from tests.karpenter_decisions import as_answer, comparable, differences, options_of, replay
from tests.oracle.karpenter.generate import request_of, with_movement
from tests.oracle.karpenter.generate_devices import with_devices
from tests.oracle.karpenter.generate_newer import with_newer_rules
from tests.oracle.karpenter.oracle import VERSION, VERSIONS, KarpenterOracle

RUNS = 40
RUNS_FOR_DIFFERENCE = 400


def verdict(oracle: KarpenterOracle, request: dict[str, Any]) -> str:
    """The comparison of our answer to a request with Karpenter's."""
    outcome = replay(request)
    ours = as_answer(outcome, options_of(request))
    if not differences(oracle.ask(request)["results"], ours):
        return "the same, tied" if outcome.ties else "the same"
    results = oracle.ask({**request, "runs": RUNS})["results"]
    wrong = differences(results, ours)
    if wrong and not outcome.ties:
        results = oracle.ask({**request, "runs": RUNS_FOR_DIFFERENCE})["results"]
        wrong = differences(results, ours)
    if not wrong:
        placements = [comparable(each, ours) for each in results]
        differing = {msgspec.json.encode([each["claims"], each["existing"]], order="sorted") for each in placements}
        return "the same, tied" if outcome.ties or len(differing) == 1 else "tied without a mark"
    return "tied, in no run" if outcome.ties else f"different: {', '.join(wrong)}"


def pending(request: dict[str, Any]) -> int:
    """The number of pods of a request that need a node."""
    return sum(each["kind"] == "Pod" and each["status"]["phase"] == "Pending" for each in request["objects"])


def main() -> int:
    """Compare until so many pods were placed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--movement", action="store_true", help="nodes that go away, gates and reservations in each")
    parser.add_argument("--release", choices=VERSIONS, default=VERSION)
    parser.add_argument("--devices", action="store_true", help="claims for devices, which are not ignored")
    parser.add_argument("--newer", action="store_true", help="volume limits of types and default spread constraints")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    recorded = []
    seed = asked.seed
    with KarpenterOracle(asked.release) as oracle:
        while counts["pods"] < asked.pods:
            request = request_of(seed)
            if asked.movement:
                request = with_movement(request, seed)
            if asked.newer:
                request = with_newer_rules(request, seed)
            if asked.devices:
                request = with_devices(request, seed)
            request["release"] = asked.release
            counts["pods"] += pending(request)
            found = verdict(oracle, request)
            counts[found] += 1
            if found.startswith("different") or found == "tied without a mark":
                wrong += 1
                print(f"seed {seed}: {found}")
            if found == "the same" and asked.record:
                recorded.append({"request": request, "results": oracle.ask(request)["results"]})
            seed += 1
    if asked.record:
        asked.record.parent.mkdir(parents=True, exist_ok=True)
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in recorded)
        asked.record.write_bytes(gzip.compress(lines, mtime=0))
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

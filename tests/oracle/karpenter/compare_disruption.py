"""Compares what we say that Karpenter removes with its own disruption controller on generated clusters.

    python -m tests.oracle.karpenter.compare_disruption --nodes 5000
    python -m tests.oracle.karpenter.compare_disruption --nodes 120 --record FILE    as in fixtures/karpenter/disruption

A difference makes the exit code 1 and names the seed of its cluster. Where Karpenter leaves a choice to chance, the
answer is looked for in 40 of the orders that it may take, and in 40 answers of Karpenter.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from tests.oracle.karpenter.compared_disruption import ComparedDisruption
from tests.oracle.karpenter.generate_disruption import with_disruption
from tests.oracle.karpenter.oracle import VERSION, VERSIONS, KarpenterOracle

ORDERS = 40


def asked(oracle: KarpenterOracle, seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The request of a seed, and Karpenter's answer."""
    request = with_disruption(seed)
    return request, oracle.ask(request)["disruption"]


def disagreements(
    oracle: KarpenterOracle, request: dict[str, Any], theirs: list[dict[str, Any]]
) -> dict[str, list[str]]:
    """The differences by node and method that nothing that is left to chance explains."""
    compared = ComparedDisruption(request, theirs)
    wrong = compared.differences()
    for order in range(ORDERS):
        if not wrong.keys() & compared.tied:
            break
        others = compared.differences(order)
        wrong = {key: found for key, found in wrong.items() if key not in compared.tied or key in others}
    for _ in range(ORDERS):
        if not wrong:
            break
        others = ComparedDisruption(request, oracle.ask(request)["disruption"]).differences()
        wrong = {key: found for key, found in wrong.items() if key in others}
    return wrong


def main() -> int:
    """Compare until so many nodes were judged."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--release", choices=VERSIONS, default=VERSION)
    parser.add_argument("--record", type=Path)
    wanted = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = nodes = 0
    recorded = []
    with KarpenterOracle(wanted.release) as oracle:
        for seed in range(wanted.seed, 2**31):
            if nodes >= wanted.nodes:
                break
            request, theirs = asked(oracle, seed)
            request["release"] = wanted.release
            for key, found in disagreements(oracle, request, theirs).items():
                wrong += 1
                print(f"seed {seed}: {key}: {'; '.join(found)}")
            judged = [each for each in theirs if each["reason"] != "Expired"]
            nodes += len({each["node"] for each in judged})
            counts.update(f"{each['reason']} {each['decision']}" for each in judged)
            recorded.append({"request": request, "disruption": theirs})
    if wanted.record:
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in recorded)
        wanted.record.write_bytes(gzip.compress(lines, mtime=0))
    said = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))
    print(f"{nodes} nodes, {wrong} differences; {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

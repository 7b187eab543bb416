"""Records where the real scheduling loop puts the pods of a queue, in fixtures/loops.

python -m tests.oracle.loops.record_loops --kube-version 1.36
"""

import argparse
import gzip
import random
from pathlib import Path

import msgspec

from tests.oracle.build import VERSIONS, Answer, Oracle, Request
from tests.oracle.generate.loops import preferring
from tests.oracle.loops.following import followed

FOLDER = Path(__file__).parents[3] / "fixtures" / "loops"
OTHERS = 30


def main() -> None:
    """Keep every loop in which batching changes a placement, the requests of fixtures/loops, and some others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", choices=VERSIONS)
    parser.add_argument("--loops", type=int, default=1000)
    options = parser.parse_args()
    kept: list[bytes] = []
    chance = random.Random(options.kube_version)  # noqa: S311 - to be repeatable
    with Oracle(options.kube_version) as oracle:
        by_hand = [msgspec.json.decode(path.read_bytes(), type=Request) for path in sorted(FOLDER.glob("*.json"))]
        drawn = [preferring(chance) | {"id": f"loop-{index}"} for index in range(options.loops)]
        for index, request in enumerate([*by_hand, *drawn]):
            (answer,) = oracle.ask(request)
            if index < OTHERS or is_told_apart(request, answer, options.kube_version):
                kept.append(msgspec.json.encode({"request": request, "loop": answer["loop"]}))
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{options.kube_version}.jsonl.gz").write_bytes(gzip.compress(b"\n".join(kept), mtime=0))
    print(f"{len(kept)} of {options.loops} loops kept")


def is_told_apart(request: Request, answer: Answer, minor: str) -> bool:
    """Report whether scores alone would put a pod elsewhere."""
    return any(each.instead_of is not None for each in followed(request, answer["loop"], minor))


if __name__ == "__main__":
    main()

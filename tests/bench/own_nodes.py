"""The share of bound pods of dumps that their own node would let in: `python -m tests.bench.own_nodes PATH...`.

What is not feasible there is printed with the reason, to be understood: docs/dumps.md has the outcome.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field

from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read


@dataclass
class Tally:
    """Of the bound pods of one dump."""

    bound: int = 0
    feasible: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return self.feasible / self.bound if self.bound else 1.0


def tally(path: str) -> Tally:
    """Each bound pod that has not ended, against its own node."""
    dump = read([path])
    schedulers = ClusterSchedulers(dump, Replay())
    found = Tally()
    for item in dump.objects:
        if not isinstance(item, Pod) or not item.spec.node_name or item.has_ended:
            continue
        result = schedulers.schedule_one(item)
        row = result.nodes.row_of.get(item.spec.node_name)
        if row is None:
            continue
        found.bound += 1
        if result.verdict is not None and result.verdict[row].is_success:
            found.feasible += 1
        else:
            status = result.verdict[row] if result.verdict is not None else result.pre_filter
            reason = f"{status.plugin}: {status.message}"
            found.reasons[reason] += 1
            found.examples.setdefault(reason, f"{item.key} on {item.spec.node_name}")
    return found


def main() -> None:
    for path in sys.argv[1:]:
        found = tally(path)
        print(f"{path}: {found.feasible} of {found.bound} ({found.share:.1%})", flush=True)  # noqa: T201
        for reason, count in found.reasons.most_common():
            print(f"  {count:4} {reason}; such as {found.examples[reason]}")  # noqa: T201


if __name__ == "__main__":
    main()

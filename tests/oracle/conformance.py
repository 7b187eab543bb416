"""The long run: compares generated decisions with the real kube-scheduler and writes docs/development/conformance.md.

    python -m tests.oracle.conformance --pods 50000 --kube-version 1.36

Each run replaces the figures of its version and leaves those of the others. A difference is kept in
fixtures/regressions as it was found; `pytest -m oracle` shrinks one that it finds itself.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.decisions import is_refused
from tests.oracle.build import Answer, Oracle, OracleCrashedError, Request
from tests.oracle.differential import disagreements
from tests.oracle.generate.clusters import TOPICS, requests
from tests.oracle.generate.samples import samples
from tests.oracle.regressions import Keeper

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "fixtures" / "conformance.json"
GROUP_FIGURES = ROOT / "fixtures" / "conformance_groups.json"
PAGE = ROOT / "docs" / "development" / "conformance.md"
CYCLE = "whole cycle"
QUEUE = "scheduling queue (sequences)"
HINTS = "queueing hints (changes)"
GATED = "gated pods"
REFUSED = "refused configurations"
CRASHED = "requests that crash kube-scheduler (not compared)"
APART = (GATED, REFUSED, CRASHED)
BATCH = 400
"""Clusters that one seed gives at most: enough that hypothesis has left its simplest examples."""

PODS_A_CLUSTER = 2.3
"""About so many pods of a generated cluster come to a cycle."""

INTRODUCTION = """\
# Conformance

How far the tool's decisions have been compared with those of the real kube-scheduler, built from its own Go modules
(`tests/oracle/README.md`). Clusters, configurations and pods are generated; every aspect of every explanation is
compared: outcome, verdict and reasons of each node, each plugin's own rejections, raw, normalized and weighted scores,
totals, ties, messages, events, preemption and victims. Each cell is *decisions compared / differences*. A plugin has
decided about a pod where it was not skipped and rejected, filtered or scored; the row *whole cycle* counts pods that
come to a cycle. Gated pods, refused configurations and requests over which kube-scheduler crashes have rows of their
own.

    python -m tests.oracle.conformance --pods 50000 --kube-version 1.36

writes this page. The minors stand for 1.33.13, 1.34.4, 1.35.4, 1.36.2, 1.37.1 and v1.38.0-beta.0; a patch release asked
for by its number has a column of its own, of a smaller sample; 1.34.12, 1.35.8, 1.36.5 and 1.37.2 are the newest whose
modules can be had. Of 1.33.0, 1.34.0, 1.35.0, 1.36.0 and 1.37.0 no program was built: what they do otherwise was read
in their sources. CI compares a sample of 1.36 and holds the recorded decisions of every minor; 1.38 is
compared by command only (its program takes a newer Go and minutes to build).
The last row but one compares the queue of `bind --watch` with kube-scheduler's `PriorityQueue` over random sequences of
80 steps (pods come, change and go, are taken out, rejected, bound; events, time, gates): after each step both must hold
the same pods in activeQ, backoffQ and among the unschedulable, and hand out the same one.

    python -m tests.oracle.queue_sequences --sequences 10000 --kube-version 1.36

The last row asks kube-scheduler's queue and ours about random changes of nodes, pods, volumes and devices: the same
plugins, had they rejected a pod, must find the change worth another attempt.

    python -m tests.oracle.event_hints --questions 100000 --kube-version 1.36

"""

GROUPS = """
## Groups

Cycles of generated groups (`explain podgroup`, [groups.md](../groups.md)), each compared with the cycle that the real
kube-scheduler runs: every member's node and ties or its message and nomination, in every placement, scores of
placements, victims, and the groups' conditions, those of trees, too. Each cell is *cycles compared / differences*.
Which of several equal victims goes kube-scheduler 1.36 draws: where its answer to the same question changes, one of its
answers is enough.

    python -m tests.oracle.group_conformance --groups 10000 --kube-version 1.36

"""


LOOPS = """
## Queues, members of groups, and Karpenter

These comparisons are made by command; a part of each is in `pytest -m oracle`. None of them showed a difference.

- `ORACLE_EXAMPLES=1300 pytest -m oracle tests/oracle/loops/test_batching.py`: 2,109 queues each that the
  scheduling loops of 1.36 and 1.37 empty, with opportunistic batching.
- `ORACLE_EXAMPLES=300 pytest -m oracle tests/oracle/test_groups.py -k caches`: members that take each other's order of
  nodes, 1,651 attempts of 1.37 and 519 of 1.36.
- `python -m tests.oracle.karpenter.compare --movement --pods 10000`: 10,008 pods in 880 clusters with leaving nodes,
  gated pods and reservations. Where Karpenter leaves a choice to chance, the answer is marked as tied; in 33 of these
  clusters none of 40 runs had it.
- `python -m tests.oracle.karpenter.compare --release 1.15.0 --devices --pods 700`: 732 pods in 61 clusters with claims
  for devices. In two of them none of 40 runs had the answer, which is marked as tied. Asked once each: 3,612 pods in
  319 clusters of 1.15.0, and 3,012 in 264 of 1.14.1. Where nothing is left to chance (143 and 120 clusters), all
  answers are the same.
- Karpenter asked once about each cluster: 11,189 pods in 986 clusters of 1.15.0, with default spread constraints and
  volume limits, and 14,556 in 1,298 of 1.14.1. Where nothing is left to chance (563 and 840 clusters), all answers are
  the same; the others are marked as tied.
- `ORACLE_VERSIONS=1.36.5 ORACLE_EXAMPLES=250 pytest -m oracle tests/oracle/devices/test_devices.py`: 2,000 pods with
  claims, DeviceTaintRules among them, over which 1.36.2 goes down. With rules kube-scheduler tries pools in no order.
- `E2E_KUBE_SCHEDULER=1.38 E2E_PODS=600 pytest -m e2e tests/e2e/agreement/test_agreement.py`: 600 pods that are made one
  by one while kube-scheduler v1.38.0-beta.0 runs. It stands beside the servers of 1.37: two of the modules that
  kube-apiserver 1.38 is built from are not served yet.
"""


def deciding(answer: Answer) -> set[str]:
    """The plugins that had a say about the pod, and the cycle itself."""
    plugins = answer.get("plugins")
    if answer.get("preEnqueue"):
        return {GATED, answer["preEnqueue"]["plugin"]}
    if is_refused(answer):
        return {REFUSED}
    found = {CYCLE}
    if not plugins:
        return found
    found |= {name for node in answer["nodes"].values() for name in node.get("scores") or ()}
    if answer["preFilter"] and answer["preFilter"].get("plugin"):
        found.add(answer["preFilter"]["plugin"])
    if answer["nodes"] and not answer["preFilter"]:
        found |= set(plugins["filter"]) - set(answer["skippedFilterPlugins"])
    if answer["postFilter"]:
        found |= set(plugins["postFilter"])
    return found


class Figures:
    """plugin -> decisions compared, and those that differ."""

    def __init__(self) -> None:
        self.compared = Counter[str]()
        self.differing = Counter[str]()

    def add(self, answers: list[Answer], wrong: dict[str, object]) -> None:
        """Count the answers of one request."""
        for answer in answers:
            decided = deciding(answer)
            self.compared.update(decided)
            if answer["pod"] in wrong:
                told = json.dumps(wrong[answer["pod"]], default=str)
                self.differing.update({plugin for plugin in decided if plugin in told} | decided & {CYCLE, *APART})


def run(oracle: Oracle, pods: int) -> Iterator[Figures]:
    """Compare at least so many pods, spread evenly over the topics; yield the figures after each pass over these."""
    figures = Figures()
    clusters = min(BATCH, math.ceil(pods / len(TOPICS) / PODS_A_CLUSTER))
    gates = frozenset(oracle.defaults()["featureGates"])
    seed = 0
    while figures.compared[CYCLE] < pods:
        for topic in TOPICS:
            for request in samples(requests(topic, gates), clusters, seeded=seed):
                compare(oracle, request, figures, Keeper(topic, oracle.minor))
        seed += 1
        print(f"{figures.compared[CYCLE]} pods, {figures.differing[CYCLE]} differ", file=sys.stderr, flush=True)
        yield figures


def compare(oracle: Oracle, request: Request, figures: Figures, keeper: Keeper) -> None:
    """Compare one request, and keep it where it differs."""
    try:
        answers = oracle.ask(request)
    except OracleCrashedError:
        figures.compared[CRASHED] += 1
        return
    for answer in answers:
        assert not answer.get("error", "").startswith("oracle:"), answer["error"]
    wrong = disagreements(request, answers, oracle.patch)
    figures.add(answers, wrong)
    if wrong:
        keeper.keep(request, answers)


def page(figures: dict[str, dict[str, list[int]]]) -> str:
    """The table plugin x Kubernetes minor."""
    minors = sorted(figures)
    plugins = sorted({plugin for found in figures.values() for plugin in found} - {CYCLE, QUEUE, HINTS, *APART})
    lines = [
        "| Plugin | " + " | ".join(minors) + " |",
        "|---|" + "---:|" * len(minors),
    ]
    for plugin in [*plugins, CYCLE, *APART, QUEUE, HINTS]:
        cells = ["{:,} / {:,}".format(*figures[minor].get(plugin, [0, 0])) for minor in minors]
        lines.append(f"| {plugin} | " + " | ".join(cells) + " |")
    return INTRODUCTION + "\n".join(lines) + "\n" + _groups() + LOOPS


def _groups() -> str:
    """The table topic x Kubernetes minor of the cycles of groups."""
    if not GROUP_FIGURES.exists():
        return ""
    figures: dict[str, dict[str, list[int]]] = json.loads(GROUP_FIGURES.read_text())
    minors = sorted(figures)
    topics = sorted({topic for found in figures.values() for topic in found})
    rows = {topic: [figures[minor].get(topic, [0, 0]) for minor in minors] for topic in topics}
    rows["all"] = [[sum(each) for each in zip(*figures[minor].values(), strict=True)] for minor in minors]
    lines = ["| Topic | " + " | ".join(minors) + " |", "|---|" + "---:|" * len(minors)]
    lines += [
        f"| {topic} | " + " | ".join("{:,} / {:,}".format(*cell) for cell in row) + " |" for topic, row in rows.items()
    ]
    return GROUPS + "\n".join(lines) + "\n"


def record(minor: str, found: dict[str, list[int]]) -> None:
    """Keep a version's figures, those of a part that was not run included, and write the page."""
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    known[minor] = {**known.get(minor, {}), **found}
    FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(known))


def main() -> int:
    """Run one version and write its figures; the exit code says whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.36", help="a minor, or a patch release of one")
    parser.add_argument("--pods", type=int, default=50_000)
    options = parser.parse_args()
    differing = 0
    with Oracle(options.kube_version) as oracle:
        for found in run(oracle, options.pods):
            figures = {plugin: [found.compared[plugin], found.differing[plugin]] for plugin in found.compared}
            record(options.kube_version, figures)
            differing = found.differing.total()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

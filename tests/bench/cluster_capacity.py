"""Measures what-ifs on a running cluster against cluster-capacity, which places the same pods on the same nodes.

    python -m tests.bench.cluster_capacity [--program PATH] [--nodes 1000] [--running 3000] [--plain 10000]
                                           [--choosy 1000 10000] [--rounds 3]

starts etcd and kube-apiserver on loopback, fills them, and runs both programs in turn, from their start to their end.
`--program` is cluster-capacity (github.com/kubernetes-sigs/cluster-capacity, built there by `make build`); without it
the one on the PATH. How many pods each has placed is printed, too: times compare only where these numbers agree. The
bounds are a twentieth of its time for plain pods, and a hundredth for pods with spread constraints and anti-affinity.
For 1,000 of the latter it takes 3 s to 12 s, of which reading the cluster alone is more than a hundredth.

With many pods cluster-capacity often panics at the very end: at its limit it stops itself twice, and then prints no
report. It has made and bound all pods by then, so that such a run counts, and is said to be one. A run that panics
elsewhere is tried again.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.figures import Pairs, own_environment
from tests.bench.live import create
from tests.bench.make_dump import objects
from tests.e2e.control_plane import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = {"app": "what-if"}
BOUNDS = {"plain": "1/20", "choosy": "1/100"}
_COUNT = re.compile(r"^(?:All )?(\d[\d,]*)", re.MULTILINE)
_MOST_TRIES = 20
_PANIC = re.compile(r"^panic: .*", re.MULTILINE)
_AT_ITS_LIMIT = re.compile(r"^panic: send on closed channel\n\ngoroutine .*\n\S+\.postBindHook\(", re.MULTILINE)


class Run(NamedTuple):
    """One program from its start to its end."""

    seconds: float
    processor_seconds: float
    placed: str
    """The number that it prints, or what is known without a report."""


def pod(*, is_choosy: bool) -> dict[str, Any]:
    """A small pod; a choosy one is spread over zones and prefers nodes without its like."""
    selector = {"labelSelector": {"matchLabels": LABELS}}
    spread = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    away = {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", **selector}}
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [away]}}
    rules = {"topologySpreadConstraints": [{**spread, **selector}], "affinity": affinity} if is_choosy else {}
    container = {
        "name": "c",
        "image": "nginx",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "what-if", "namespace": "default", "labels": LABELS},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 30, **rules},
    }


def run(command: Sequence[str], environment: dict[str, str]) -> Run:
    """Run the program, again if it panics; the first number at the start of a line is that of the pods placed."""
    for tries in range(1, _MOST_TRIES + 1):
        used, started = _processor_seconds(), time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - started
        found, panic = _COUNT.search(done.stdout), _PANIC.search(done.stderr)
        if _AT_ITS_LIMIT.search(done.stderr) is not None:
            return Run(seconds, _processor_seconds() - used, "all, then it panicked")
        if found is not None and panic is None:
            return Run(seconds, _processor_seconds() - used, found[1].replace(",", ""))
        if panic is None:
            message = f"{' '.join(command)}: {done.stdout[-500:]}{done.stderr[-2000:]}"
            raise RuntimeError(message)
        sys.stdout.write(f"{Path(command[0]).name}, try {tries} of {_MOST_TRIES}: {panic[0]}\n")
        sys.stdout.flush()
    message = f"{' '.join(command)} panics each time"
    raise RuntimeError(message)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(plane: ControlPlane, program: str, kind: str, count: int, rounds: int) -> None:
    """Run both in turn with as many pods, and print the medians."""
    environment = {**own_environment(), "KUBECONFIG": str(plane.kubeconfig)}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pod.json"
        path.write_text(json.dumps(pod(is_choosy=kind == "choosy")))
        whatif = [sys.executable, "-m", "kubectl_sched", "whatif", str(path), "--replicas", str(count)]
        capacity = [program, "--kubeconfig", str(plane.kubeconfig), "--podspec", str(path), "--max-limit", str(count)]
        both = [(run(whatif, environment), run(capacity, environment)) for _ in range(rounds)]
    numbers = [" / ".join(each.placed for each in pair) for pair in both]
    sys.stdout.write(f"{kind} pods placed by whatif / cluster-capacity: {', '.join(numbers)}\n")
    for field in ("seconds", "processor_seconds"):
        ours, theirs = ([getattr(each, field) for each in column] for column in zip(*both, strict=True))
        what = f"whatif of {count:,} {kind} pods / cluster-capacity, {field.replace('_', ' ')}"
        sys.stdout.write(f"{what}: {Pairs(ours, theirs)}, at most {BOUNDS[kind]}\n")
        sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="cluster-capacity")
    sizes = {"--nodes": 1000, "--running": 3000, "--plain": 10_000, "--rounds": 3}
    for option, default in sizes.items():
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("--choosy", type=int, nargs="+", default=[1000, 10_000])
    asked = parser.parse_args()
    program = shutil.which(asked.program)
    if program is None:
        parser.error(f"{asked.program} is not there; see --help")
    with ControlPlane() as plane:
        create(plane.port, [json.loads(text) for text in objects(asked.nodes, asked.running)])
        compare(plane, program, "plain", asked.plain, asked.rounds)
        for count in asked.choosy:
            compare(plane, program, "choosy", count, asked.rounds)


if __name__ == "__main__":
    main()

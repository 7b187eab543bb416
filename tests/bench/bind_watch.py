"""Measures `bind --watch` against kube-scheduler: how fast each of them, alone on the same server, binds waiting pods.

    python -m tests.bench.bind_watch [--nodes 5000] [--pods 5000] [--rounds 3] [--distinct]

starts etcd and kube-apiserver on loopback and lets both bind the same pods in turn. kube-scheduler may send 5,000
requests a second (clientConnection.qps); `bind --watch` has no limit but the threads that write. Processor time is the
whole program's, from its start to its end, and a cycle's time is by each scheduler's own account
(scheduler_scheduling_algorithm_duration_seconds). With `--distinct` no two pods and no two nodes are alike. The bounds
are four fifths of kube-scheduler's pods a second, and its time for a cycle.
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import ssl
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import urlopen

from tests.bench.figures import Pairs
from tests.bench.live import create
from tests.bench.make_dump import objects
from tests.bench.measure import strangers
from tests.e2e.api import Api
from tests.e2e.binding_cluster import PODS
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane, free_ports
from tests.e2e.watchers import WatcherProcess, create_pods, plain_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tests.e2e.api import Json

OURS, THEIRS = "ours", "theirs"
QPS = 5000
SECONDS = 600
DELETED_AT_ONCE = 500
_BOUND = b'"nodeName":"'


class Measured(NamedTuple):
    """One scheduler binding all pods."""

    seconds: float
    """From the program's start to the last binding."""
    pods_a_second: float
    """From the first binding to the last."""
    processor_seconds: float
    milliseconds_a_cycle: float


UNITS = ("s", "pods/s", "s of processor", "ms a cycle")
"""Of each field of `Measured`."""


class Bindings:
    """Follows the pods, and notes when each was bound."""

    def __init__(self, port: int, wanted: int) -> None:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
        connection.request("GET", f"{PODS}?watch=true&fieldSelector=spec.nodeName!=", headers=headers)
        self._lines = connection.getresponse()
        self._wanted = wanted
        self.times: list[float] = []
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while len(self.times) < self._wanted:
            if self._lines.readline().startswith(b'{"type":"ADDED"'):
                self.times.append(time.monotonic())

    def all(self) -> list[float]:
        """When they were bound, once all are."""
        self._thread.join(SECONDS)
        if len(self.times) < self._wanted:
            message = f"{len(self.times)} of {self._wanted} pods were bound within {SECONDS} s"
            raise RuntimeError(message)
        return self.times


@contextmanager
def running(plane: ControlPlane, name: str) -> Iterator[Callable[[], str]]:
    """The scheduler of that name; the call gives its metrics."""
    if name == OURS:
        flags = ("--scheduler-name", name, "--leader-elect=false", "--take-over", "--quiet")
        with WatcherProcess(plane.kubeconfig, *flags) as watcher:
            yield lambda: watcher.ask("/metrics")
            watcher.stop()
    else:
        connection = {"kubeconfig": str(plane.kubeconfig), "qps": QPS, "burst": QPS}
        config: dict[str, object] = {"clientConnection": connection, "profiles": [{"schedulerName": name}]}
        (port,) = free_ports(1)
        serving = (f"--secure-port={port}", "--bind-address=127.0.0.1", "--authorization-always-allow-paths=/metrics")
        server = plane.start_scheduler("-v=0", *serving, config=config)
        yield lambda: metrics_at(port)
        server.stop()


def metrics_at(port: int) -> str:
    """The metrics that kube-scheduler serves."""
    context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
    with urlopen(f"https://127.0.0.1:{port}/metrics", context=context, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def waiting(name: str, pods: int, *, are_distinct: bool) -> Iterator[Json]:
    """Pods for the scheduler of that name."""
    for number in range(pods):
        if are_distinct:
            body = plain_pod(f"{name}-{number}", name, f"{10 + number}m")
            body["metadata"]["labels"] = {f"key-{number}": "waits"}
            yield body
        else:
            yield plain_pod(f"{name}-{number}", name)


def measured(plane: ControlPlane, name: str, bodies: Sequence[Json]) -> Measured:
    """Let one scheduler bind pods that wait for it."""
    create_pods(plane, bodies)
    pods = len(bodies)
    bindings = Bindings(plane.port, pods)
    busy, began = processor_seconds(), time.monotonic()
    with running(plane, name) as metrics:
        times = bindings.all()
        cycle = milliseconds_a_cycle(metrics())
    busy = processor_seconds() - busy
    delete_pods(plane)
    return Measured(times[-1] - began, (pods - 1) / (times[-1] - times[0]), busy, cycle)


def processor_seconds() -> float:
    """The processor time of all programs that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def delete_pods(plane: ControlPlane) -> None:
    """Delete all pods, a page after the other: the server takes too long for thousands in one request."""
    with Api(plane.port, ADMIN_TOKEN) as api:
        while api.delete(f"{PODS}?limit={DELETED_AT_ONCE}", grace_seconds=0)["items"]:
            pass


def milliseconds_a_cycle(metrics: str) -> float:
    """The mean of a scheduling cycle, by the scheduler's own account."""
    found = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
    total, count = (
        float(found[f"scheduler_scheduling_algorithm_duration_seconds_{each}"]) for each in ("sum", "count")
    )
    return total / count * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in (("--nodes", 5000), ("--pods", 5000), ("--rounds", 3)):
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("--distinct", action="store_true")
    asked = parser.parse_args()
    made: Iterable[Json] = strangers(asked.nodes, 0) if asked.distinct else map(json.loads, objects(asked.nodes, 0))
    rounds = []
    with ControlPlane() as plane:
        create(plane.port, [item for item in made if item["kind"] == "Node"])
        for _ in range(asked.rounds):
            pods = [list(waiting(name, asked.pods, are_distinct=asked.distinct)) for name in (OURS, THEIRS)]
            rounds.append((measured(plane, OURS, pods[0]), measured(plane, THEIRS, pods[1])))
            sys.stderr.write(f"{rounds[-1]}\n")
    sys.stdout.write(f"bind --watch / kube-scheduler, {asked.pods:,} pods on {asked.nodes:,} nodes, medians:\n")
    for unit, *both in zip(UNITS, *(zip(*each, strict=True) for each in rounds), strict=True):
        ours, theirs = zip(*both, strict=True)
        sys.stdout.write(f"{Pairs(ours, theirs, unit)}\n")


if __name__ == "__main__":
    main()

"""Measures `bind --watch` against kube-scheduler: how fast each of them, alone on the same server, binds waiting pods.

    python -m tests.bench.bind_watch [nodes] [pods] [rounds]

starts etcd and kube-apiserver on loopback and lets both bind the same pods in turn. Both may send 5,000 requests a
second. The bound is four fifths of kube-scheduler's pods a second.
"""

from __future__ import annotations

import http.client
import json
import ssl
import statistics
import sys
import threading
import time
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import urlopen

from tests.bench.live import create
from tests.bench.make_dump import objects
from tests.e2e.api import Api
from tests.e2e.binding_cluster import PODS
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane, free_ports
from tests.e2e.watchers import WatcherProcess, create_pods, plain_pod

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS, THEIRS = "ours", "theirs"
QPS = 5000
SECONDS = 600
_BOUND = b'"nodeName":"'


class Rate(NamedTuple):
    """Seconds from the program's start to the last binding, and pods a second from the first to the last."""

    seconds: float
    pods_a_second: float


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
def running(plane: ControlPlane, name: str) -> Iterator[None]:
    """The scheduler of that name."""
    if name == OURS:
        flags = ("--scheduler-name", name, "--leader-elect=false", "--take-over", "--quiet")
        with WatcherProcess(plane.kubeconfig, *flags) as watcher:
            yield
            tell_cycle(name, watcher.ask("/metrics"))
            watcher.stop()
    else:
        connection = {"kubeconfig": str(plane.kubeconfig), "qps": QPS, "burst": QPS}
        config: dict[str, object] = {"clientConnection": connection, "profiles": [{"schedulerName": name}]}
        (port,) = free_ports(1)
        serving = (f"--secure-port={port}", "--bind-address=127.0.0.1", "--authorization-always-allow-paths=/metrics")
        server = plane.start_scheduler("-v=0", *serving, config=config)
        yield
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        with urlopen(f"https://127.0.0.1:{port}/metrics", context=context, timeout=60) as answer:
            tell_cycle(name, answer.read().decode())
        server.stop()


def rate(plane: ControlPlane, name: str, pods: int) -> Rate:
    """Let one scheduler bind pods that wait for it."""
    create_pods(plane, [plain_pod(f"{name}-{number}", name) for number in range(pods)])
    bindings = Bindings(plane.port, pods)
    began = time.monotonic()
    with running(plane, name):
        times = bindings.all()
    with Api(plane.port, ADMIN_TOKEN) as api:
        api.delete(PODS, grace_seconds=0)
    return Rate(times[-1] - began, (pods - 1) / (times[-1] - times[0]))


def tell_cycle(name: str, metrics: str) -> None:
    """Print the mean of a scheduling cycle, by the scheduler's own account."""
    found = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
    total, count = (
        float(found[f"scheduler_scheduling_algorithm_duration_seconds_{each}"]) for each in ("sum", "count")
    )
    sys.stderr.write(f"{name}: a cycle takes {total / count * 1000:.2f} ms\n")


def main() -> None:
    """Measure and print."""
    nodes, pods, rounds = (int(text) for text in islice([*sys.argv[1:], "5000", "5000", "3"][:3], 3))
    with ControlPlane() as plane:
        create(plane.port, [json.loads(text) for text in objects(nodes, 0)])
        measured = []
        for _ in range(rounds):
            measured.append((rate(plane, OURS, pods), rate(plane, THEIRS, pods)))
            sys.stderr.write(f"{measured[-1]}\n")
    for field, unit in (("seconds", "s"), ("pods_a_second", "pods/s")):
        ours, theirs = (
            statistics.median(getattr(each, field) for each in column) for column in zip(*measured, strict=True)
        )
        sys.stdout.write(
            f"bind --watch / kube-scheduler, {field}: {ours:.1f} {unit} / {theirs:.1f} {unit} = {ours / theirs:.2f}\n"
        )


if __name__ == "__main__":
    main()

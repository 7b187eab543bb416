"""Measures what-ifs: `python -m tests.bench.placements`. Counted after the state is read.

Seconds of the processor and of the clock on the wall; the latter mean little where other work is done beside.

Every node is judged for each placement. Nothing here is asserted by a test.
"""

from __future__ import annotations

import platform
import resource
import sys
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import Service
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation
from tests.bench import clusters, replicas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.pod import Pod

NAMED = "StatefulSet pods, each selected by a Service of its own"
KINDS: tuple[tuple[str, Pod, Callable[[Pod, int], Iterator[Pod]]], ...] = (
    ("plain pods", clusters.plain_pod("100m"), replicas.plain),
    ("pods with spread and affinity", clusters.choosy_pod(), replicas.plain),
    ("StatefulSet pods", clusters.plain_pod("100m"), replicas.numbered),
    (NAMED, clusters.plain_pod("100m"), replicas.numbered),
    ("StatefulSet pods with a claim each", clusters.plain_pod("100m"), replicas.claiming),
    ("pods with a generic ephemeral volume", clusters.plain_pod("100m"), replicas.with_ephemeral_volume),
)
SIZES = ((1000, 10_000, 2000), (5000, 50_000, 1000), (5000, 50_000, 4000), (5000, 150_000, 2000))
"""Nodes, running pods, and replicas to place."""


def main() -> None:
    """Measure and print the table."""
    sys.stdout.write(f"{platform.machine()}, Python {platform.python_version()}\n\n")
    sys.stdout.write("| nodes | running pods | replicas | what | placements a second of processor | of wall |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for node_count, pod_count, count in SIZES:
        scheduler = clusters.scheduler(node_count, pod_count, cpu="50m")
        for what, pod, kind in KINDS:
            pods = list(kind(pod, count))
            simulation = Simulation(scheduler)
            objects = replicas.with_storage(scheduler.nodes.objects, scheduler.nodes.names, pods)
            if what is NAMED:
                objects = objects.with_these(Service, list(map(replicas.service_of, pods)))
            simulation.nodes = replace(scheduler.nodes, objects=objects)
            scheduler.cycle(pods[0], simulation.nodes)
            simulation.enqueue(QueuedPod(pod=each) for each in pods)
            busy, started = time.process_time(), time.perf_counter()
            simulation.run()
            taken = time.process_time() - busy, time.perf_counter() - started
            rates = " | ".join(f"{simulation.result.placed / seconds:,.0f}" for seconds in taken)
            row = f"| {node_count:,} | {pod_count:,} | {count:,} | {what} | {rates} |\n"
            sys.stdout.write(row)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"\npeak memory {peak:,.0f} MiB\n")


if __name__ == "__main__":
    main()

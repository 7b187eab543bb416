"""Measures what-ifs: `python -m tests.bench.placements`. Counted after the state is read.

Every node is judged for each placement. Nothing here is asserted by a test.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import Service
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation
from tests.bench import clusters, replicas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot.objects import Objects
    from kubectl_sched.snapshot.snapshot import Snapshot

NAMED = "StatefulSet pods, each selected by a Service of its own"
IN_ZONES = "StatefulSet pods, each bound to a volume of its own in one of three zones"
ON_NODES = "StatefulSet pods, each bound to a volume of one node"
OPEN = "StatefulSet pods with a claim each that existing volumes in three zones are open to"
KINDS: tuple[tuple[str, Pod, Callable[[Pod, int], Iterator[Pod]]], ...] = (
    ("plain pods", clusters.plain_pod("100m"), replicas.plain),
    ("pods with spread and affinity", clusters.choosy_pod(), replicas.plain),
    ("StatefulSet pods", clusters.plain_pod("100m"), replicas.numbered),
    (NAMED, clusters.plain_pod("100m"), replicas.numbered),
    ("StatefulSet pods with a claim each", clusters.plain_pod("100m"), replicas.claiming),
    ("pods with a generic ephemeral volume", clusters.plain_pod("100m"), replicas.with_ephemeral_volume),
    (IN_ZONES, clusters.plain_pod("100m"), replicas.claiming),
    (ON_NODES, clusters.plain_pod("100m"), replicas.claiming),
    (OPEN, clusters.plain_pod("100m"), replicas.claiming),
)
VOLUMES: dict[str, Callable[[Objects, Sequence[str]], Objects]] = {
    IN_ZONES: replicas.bound,
    ON_NODES: replicas.bound_to_nodes,
    OPEN: replicas.open_volumes,
}
"""The volumes that the claims of a row have, or may have."""
SIZES = ((1000, 10_000, 2000), (5000, 50_000, 1000), (5000, 50_000, 4000), (5000, 150_000, 2000))
"""Nodes, running pods, and replicas to place."""


ROUNDS = 5


def main() -> None:
    """Measure and print the table: medians, with the least and the most."""
    sys.stdout.write(f"{platform.machine()}, Python {platform.python_version()}\n\n")
    sys.stdout.write("| nodes | running pods | replicas | what | placements a second | least and most | of plain |\n")
    sys.stdout.write("|---|---|---|---|---|---|---|\n")
    for node_count, pod_count, count in SIZES:
        scheduler = clusters.scheduler(node_count, pod_count, cpu="50m")
        plain = 0.0
        for what, pod, kind in KINDS:
            pods = list(kind(pod, count))
            objects = replicas.with_storage(scheduler.nodes.objects, scheduler.nodes.names, pods)
            objects = VOLUMES.get(what, _as_they_are)(objects, scheduler.nodes.names)
            if what is NAMED:
                objects = objects.with_these(Service, list(map(replicas.service_of, pods)))
            nodes = replace(scheduler.nodes, objects=objects)
            rates = [placements_a_second(scheduler, nodes, pods) for _ in range(ROUNDS)]
            median = statistics.median(rates)
            plain = plain or median
            row = f"{what} | {median:,.0f} | {min(rates):,.0f} to {max(rates):,.0f} | {median / plain:.2f}"
            sys.stdout.write(f"| {node_count:,} | {pod_count:,} | {count:,} | {row} |\n")
    sys.stdout.write(f"\npeak memory {peak_kibibytes() / 1024:,.0f} MiB\n")


def _as_they_are(objects: Objects, _: Sequence[str]) -> Objects:
    return objects


def placements_a_second(scheduler: Scheduler, nodes: Snapshot, pods: Sequence[Pod]) -> float:
    """Place them all; placements a second of the processor, with the columns of the first cycle warm."""
    simulation = Simulation(scheduler)
    simulation.nodes = nodes
    scheduler.cycle(pods[0], nodes)
    simulation.enqueue(QueuedPod(pod=each) for each in pods)
    busy = time.process_time()
    simulation.run()
    return simulation.result.placed / (time.process_time() - busy)


def peak_kibibytes() -> int:
    """Peak resident memory of this process; getrusage would have that of the program which started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()

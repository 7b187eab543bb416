"""Measures what-ifs: `python -m tests.bench.placements`. Processor seconds, counted after the state is read.

Every node is judged for each placement. Nothing here is asserted by a test.
"""

from __future__ import annotations

import platform
import resource
import sys
import time

from msgspec.structs import replace

from kubectl_sched.scheduler.placement import QueuedPod
from kubectl_sched.scheduler.simulate import Simulation
from tests.bench import clusters

KINDS = (("plain pods", clusters.plain_pod("100m")), ("pods with spread and affinity", clusters.choosy_pod()))
SIZES = ((1000, 10_000, 2000), (5000, 50_000, 1000), (5000, 50_000, 4000), (5000, 150_000, 2000))
"""Nodes, running pods, and replicas to place."""


def main() -> None:
    """Measure and print the table."""
    sys.stdout.write(f"{platform.machine()}, Python {platform.python_version()}\n\n")
    sys.stdout.write("| nodes | running pods | replicas | what | placements a second |\n|---|---|---|---|---|\n")
    for node_count, pod_count, replicas in SIZES:
        scheduler = clusters.scheduler(node_count, pod_count, cpu="50m")
        for what, pod in KINDS:
            scheduler.explain(pod)
            simulation = Simulation(scheduler)
            simulation.enqueue(
                QueuedPod(replace(pod, metadata=replace(pod.metadata, name=f"new-{index}", uid=f"new-{index}")))
                for index in range(replicas)
            )
            started = time.process_time()
            simulation.run()
            rate = simulation.result.placed / (time.process_time() - started)
            row = f"| {node_count:,} | {pod_count:,} | {replicas:,} | {what} | {rate:,.0f} |\n"
            sys.stdout.write(row)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"\npeak memory {peak:,.0f} MiB\n")


if __name__ == "__main__":
    main()

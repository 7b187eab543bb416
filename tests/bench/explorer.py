"""Measures the explorer: `python -m tests.bench.explorer`. Nothing here is asserted by a test.

It is driven as in its tests, on a terminal in memory of 160 by 50, over a cluster of 5,000 nodes and 50,000 pods. A key
is timed from its arrival until everything that follows from it is drawn, the replay in its thread included. Times are
those of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from kubectl_sched.queries.explanation import explanation_of
from kubectl_sched.tui.app import Explorer
from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.explorer_input import Exploration
from tests.bench import clusters
from tests.bench.measure import row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.pilot import Pilot

    from kubectl_sched.api.pod import Pod

NODES, PODS = 5000, 50_000
SIZE = (160, 50)
RUNS = 7


IMPORT = """
import time
import rich.table
import kubectl_sched.sources, kubectl_sched.scheduler.scheduler, kubectl_sched.tui.explore
started = time.process_time()
import kubectl_sched.tui.app
print(time.process_time() - started)
"""


def importing() -> float:
    """Seconds that the explorer and Textual take to import, when a dump has been explained already."""
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True)
    return float(done.stdout)


async def settled(pilot: Pilot[None]) -> None:
    """Everything that was begun is drawn."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def opening(app: Explorer) -> float:
    """Seconds until the first screen is drawn, the import of Textual left aside."""
    started = time.process_time()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        seconds = time.process_time() - started
        await settled(pilot)
    return seconds


async def pressing(app: Explorer, before: Sequence[str], key: str, after: Sequence[str]) -> list[float]:
    """Seconds from the key until it is drawn, several times; the keys before and after it are not counted."""
    found = []
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        for _ in range(RUNS):
            for each in before:
                await pilot.press(each)
            await settled(pilot)
            started = time.process_time()
            await pilot.press(key)
            await settled(pilot)
            found.append(time.process_time() - started)
            for each in after:
                await pilot.press(each)
            await settled(pilot)
    return found


def main() -> None:
    """Measure everything and print the table."""
    sys.stdout.write(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n\n")
    sys.stdout.write("| what | measured | bound |\n|---|---|---|\n")
    scheduler = clusters.scheduler(NODES, PODS, cpu="100m")

    def app(pod: Pod) -> Explorer:
        return Explorer(
            Exploration(
                decisions=(Decision(explanation_of(scheduler.schedule_one(pod), scheduler), scheduler),),
                formats=("table",),
            )
        )

    gc.freeze()
    imports = statistics.median(importing() for _ in range(5))
    row("import Textual and the explorer", f"{imports:.2f} s", "")
    for what, pod in (("plain pod", clusters.plain_pod("100m")), ("spread and affinity", clusters.choosy_pod())):
        seconds = imports + statistics.median(asyncio.run(opening(app(pod))) for _ in range(5))
        row(f"open over {NODES:,} nodes, the import included, {what}", f"{seconds:.2f} s", "1 s")
        for told, before, key, after in (
            ("a letter of the filter", ["slash"], "1", ["escape"]),
            ("the next line", [], "j", []),
            ("the next sort column", [], "s", []),
            ("a step of the pipeline", [], "right", ["left"]),
            ("change the pod's request, replayed", ["w", *"request", "space", *"cpu", "equals_sign", "2"], "enter",
             ["escape", "u"]),
            ("cordon a node, replayed", [], "x", ["u"]),
            ("undo", ["x"], "u", []),
        ):  # fmt: skip
            times = asyncio.run(pressing(app(pod), before, key, after))
            row(f"{told}, {what}", f"{statistics.median(times) * 1000:.0f} ms, at most {max(times) * 1000:.0f} ms", "")


if __name__ == "__main__":
    main()

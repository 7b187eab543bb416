"""A bar on stderr for what takes over a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kubectl_sched.safe_output import can_draw, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

_PATIENCE_SECONDS = 1.0
_MOST_LINES = 20


@contextmanager
def progress(*, of_bytes: bool = True) -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Yield a callback that shows progress (what, done, of how many); None where nobody would see it."""
    if not can_draw(sys.stderr):
        yield None
        return
    bar: Progress | None = None
    tasks: dict[str, TaskID] = {}
    started = time.monotonic()

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - started < _PATIENCE_SECONDS:
                return
            bar = _bar(of_bytes=of_bytes)
            bar.start()
        if what not in tasks:
            _make_room(bar, tasks)
            tasks[what] = bar.add_task(safe(what), total=total)
        bar.update(tasks[what], completed=done, total=total)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def _make_room(bar: Progress, tasks: dict[str, TaskID]) -> None:
    """Take away what is done: a bundle has thousands of files, and every line is drawn again each time."""
    for what, task in list(tasks.items()):
        if bar.tasks[bar.task_ids.index(task)].finished or len(tasks) > _MOST_LINES:
            bar.remove_task(tasks.pop(what))


def _bar(*, of_bytes: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    done = DownloadColumn(binary_units=True) if of_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), done)
    return Progress(*columns, console=Console(stderr=True), transient=True)

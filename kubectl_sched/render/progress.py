"""A bar on stderr for what takes over a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

_PATIENCE_SECONDS = 1.0


@contextmanager
def progress() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Something to tell (what, done, of how many) to; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    bar: Progress | None = None
    tasks: dict[str, int] = {}
    started = time.monotonic()

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - started < _PATIENCE_SECONDS:
                return
            bar = _bar()
            bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(binary_units=True))
    return Progress(*columns, console=Console(stderr=True), transient=True)

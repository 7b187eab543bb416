"""A process that has the program imported, and forks itself for each run that it is asked for.

`python -m tests.preloaded FD` serves the Unix socket FD until its other end is closed; `tests.program` is what asks.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
from datetime import datetime
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from typing import Any

import kubectl_sched
from kubectl_sched.__main__ import main as program
from kubectl_sched.render.writers import placement_progress, progress_bar
from kubectl_sched.sources.dump import completeness

_LATE = ("jinja2", "msgspec.yaml", "rich.console", "rich.table", "yaml")
"""The modules that the program imports where it uses them."""
_LEFT_OUT = ("__main__", "binding", "live")
"""Modules that few runs need, and that import much."""


def main() -> None:
    """Serve until nobody asks any more."""
    import_everything()
    _never_show_progress()
    # Forks share what is never looked through for garbage.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as requests, requests.makefile() as lines:
        while True:
            begun, streams, _, _ = socket.recv_fds(requests, 1, 3)
            if not begun:
                return
            asked = json.loads(lines.readline())
            child = os.fork()
            if not child:
                break
            for stream in streams:
                os.close(stream)
            _, status = os.waitpid(child, 0)
            requests.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    _become(asked, streams)
    _pin_clock(os.environ.pop("PINNED_CLOCK", None))
    try:
        program()
    except SystemExit as ended:
        sys.stdout.flush()
        sys.stderr.flush()
        # To take everything apart that was imported would take longer than most commands.
        os._exit(int(ended.code or 0))


def import_everything() -> None:
    """Import all modules of the program, and what it imports late."""
    for module in pkgutil.walk_packages(kubectl_sched.__path__, "kubectl_sched."):
        if not set(module.name.split(".")) & set(_LEFT_OUT):
            importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)


def _never_show_progress() -> None:
    """It is there for whoever waits, and whether one waits falls to the machine."""
    placement_progress._PATIENCE_SECONDS = progress_bar._PATIENCE_SECONDS = float("inf")  # noqa: SLF001 - no user sets it


def _pin_clock(moment: str | None) -> None:
    """Pin the day, on which the stated age of a dump depends, if a test sets it (RFC 3339)."""
    if moment is not None:
        pinned = datetime.fromisoformat(moment)
        clock = type("Clock", (datetime,), {"now": lambda _: pinned})
        setattr(completeness, "datetime", clock)  # noqa: B010 - mypy would rather not have it replaced


def _become(asked: dict[str, Any], streams: list[int]) -> None:
    """Take over what a process is started with."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (_opened(number) for number in range(3))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[1:] = asked["arguments"]


def _opened(number: int) -> TextIOWrapper:
    """Open a stream as Python does. One that was opened before remembers whether the file then could be sought in."""
    is_read, by_lines = number == 0, number == 2 or os.isatty(number)
    raw = FileIO(number, "r" if is_read else "w", closefd=False)
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    buffered = BufferedReader(raw) if is_read else BufferedWriter(raw)
    return TextIOWrapper(buffered, "utf-8", errors, line_buffering=by_lines)


if __name__ == "__main__":
    main()

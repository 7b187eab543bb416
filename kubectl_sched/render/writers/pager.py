"""The pager that an answer longer than the terminal goes through, chosen as git chooses it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from typing import Final

from kubectl_sched.user_defaults import user_defaults

_AS_GIT_HAS_IT: Final = {"LESS": "FRX", "LV": "-c"}
_NO_PAGER: Final = frozenset({"", "cat"})
_NOT_STARTED: Final = frozenset({126, 127})
"""Exit codes by which the shell says that a program cannot be run."""


def in_pager(text: str) -> bool:
    """Show the text in the pager until the user leaves it; report whether there is one and it could be run."""
    command = pager()
    return command is not None and _ran(command, text)


def pager() -> str | None:
    """Return the command of the pager: KUBECTL_SCHED_PAGER, the home directory's, PAGER, or less; None for none."""
    chosen = user_defaults().get("pager", os.environ.get("PAGER", "less" if shutil.which("less") else ""))
    return None if chosen.strip() in _NO_PAGER or os.environ.get("TERM", "dumb") == "dumb" else chosen


def _ran(command: str, text: str) -> bool:
    environment = {**_AS_GIT_HAS_IT, **os.environ}
    # What interrupts is meant for the pager, which shares the terminal.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # The command is the user's own, and a line of the shell as PAGER is everywhere.
        argv = ["/bin/sh", "-c", command]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, env=environment) as running:  # noqa: S603
            running.communicate(
                text.encode(errors="backslashreplace")
            )  # which does not mind that the user leaves early
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return running.returncode not in _NOT_STARTED

"""Runs the program on a terminal of some size, and gives what is on it then."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def on_terminal(
    arguments: Sequence[str], *, columns: int = 80, lines: int = 24, color: bool = False
) -> tuple[str, int]:
    """The text that the program writes to a terminal, its lines ending in a newline alone, and its exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    environment |= {"TERM": "xterm-256color", "PYTHONUTF8": "1", **({} if color else {"NO_COLOR": "1"})}
    with subprocess.Popen(
        [sys.executable, "-m", "kubectl_sched", *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        written = bytearray()
        while chunk := _read(master):
            written += chunk
    os.close(master)
    return written.decode().replace("\r\n", "\n"), process.returncode


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end is closed
        return b""

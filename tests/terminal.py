"""Runs the program on a terminal of some size, and gives what is on it then."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from typing import TYPE_CHECKING

from tests.program import start

if TYPE_CHECKING:
    from collections.abc import Sequence


def on_terminal(
    arguments: Sequence[str], *, columns: int = 80, lines: int = 24, color: bool = False
) -> tuple[str, int]:
    """The text that the program writes to a terminal, its lines ending in a newline alone, and its exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    environment |= {"TERM": "xterm-256color", **({} if color else {"NO_COLOR": "1"})}
    ended = start(arguments, (slave, slave, slave), environment=environment)
    os.close(slave)
    written = bytearray()
    while chunk := _read(master):
        written += chunk
    os.close(master)
    return written.decode().replace("\r\n", "\n"), ended()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end is closed
        return b""

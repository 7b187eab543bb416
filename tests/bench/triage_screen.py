"""Measures `kubectl sched` on a terminal: `python -m tests.bench.triage_screen`. Nothing here is asserted by a test.

The cluster is that of tests.bench.pending: 1,000 pending pods of 50 workloads on 5,000 nodes. Each step is timed on the
wall, from the state being read until its words are on the terminal.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

import msgspec

from tests.bench.pending import dump

SIZE = (50, 160)
STEPS = {
    "the first group": r"[1-9][\d,]* judged so far",
    "all causes": "4 causes",
    "all pods judged": "looking for what helps",
    "what helps the largest group": "looking for what helps: 1 of 4",
    "what helps all of them": "note: ",
}
READING = """
import sys
from kubectl_sched.cli.options import state_source
read = state_source.read_source
def read_source(*arguments):
    answer = read(*arguments)
    sys.stdout.write("[state read]")
    sys.stdout.flush()
    return answer
state_source.read_source = read_source
from kubectl_sched.__main__ import run
run()
"""


def write(path: Path, nodes: int, running: int, pending: int, workloads: int) -> None:
    """Write the cluster as a List."""
    items = [
        {"apiVersion": "v1", "kind": type(each).__name__, **msgspec.to_builtins(each)}
        for each in dump(nodes, running, pending, workloads).objects
    ]
    path.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))


def times(path: Path) -> dict[str, float]:
    """The seconds until each step is on the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        program = [sys.executable, "-c", READING, "--from", str(path), "--kube-version", "1.36"]
        os.execv(sys.executable, program)  # noqa: S606 - the program itself, on the terminal of the fork
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
    written = ""
    while "[state read]" not in written:
        written += read(terminal)
    started = time.perf_counter()
    found = {}
    for step, words in STEPS.items():
        while not re.search(words, written):
            written += read(terminal)
        found[step] = time.perf_counter() - started
    os.write(terminal, b"\x03")
    os.waitpid(child, 0)
    return found


def read(terminal: int) -> str:
    """Read what has been written."""
    return os.read(terminal, 1 << 16).decode(errors="replace")


def main() -> None:
    """Measure, and print the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "dump.json")
        write(path, 5000, 50_000, 1000, 50)
        for step, seconds in times(path).items():
            sys.stdout.write(f"{step}: {seconds:.2f} s\n")


if __name__ == "__main__":
    main()

"""Runs the program in a process of its own, which takes as long as what it is asked to do.

Each run is a fork of one process that has everything imported (`tests.preloaded`): it has its own arguments,
environment, folder and streams, and its own end. What Python settles as it starts (`PYTHON*` variables, how text is
encoded, the seed of hashes) it has from that process, so tests of these start `python -m kubectl_sched`.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).parent.parent
_AS_IS = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(
    *arguments: str, stdin: str | None = None, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The output of the program into pipes and its exit code; `environment` is added to ours."""
    in_, given = os.pipe()
    written, out = os.pipe()
    with TemporaryFile() as errors:
        streams = (in_, out, errors.fileno())
        ended = start(arguments, streams, folder=folder, environment={**os.environ, **(environment or {})})
        os.close(in_)
        os.close(out)
        with suppress(BrokenPipeError), os.fdopen(given, "wb") as all_of_it:
            all_of_it.write((stdin or "").encode())
        with os.fdopen(written, "rb") as answer:
            stdout = answer.read()
        code = ended()
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.decode(), errors.read().decode())


def start(
    arguments: Sequence[str],
    streams: Sequence[int],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Callable[[], int]:
    """Start the program on three open files; what is returned waits for its exit code. One runs at a time."""
    server = _server()
    variables = os.environ if environment is None else environment
    asked = {"arguments": arguments, "folder": str(folder or Path.cwd()), "environment": dict(variables)}
    socket.send_fds(server, [b"\n"], list(streams))
    server.sendall(f"{json.dumps(asked)}\n".encode())
    return lambda: int(server.makefile().readline())


@cache
def _server() -> socket.socket:
    ours, its = socket.socketpair()
    command = [sys.executable, "-m", "tests.preloaded", str(its.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[its.fileno()], env={**os.environ, **_AS_IS})
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours

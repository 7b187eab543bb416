"""One case in this process: the program as it is, in a world where nothing outside its folder can be reached."""

from __future__ import annotations

import gc
import io
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from unittest import mock

from kubectl_sched import shell_commands
from kubectl_sched.__main__ import main
from kubectl_sched.sources.live.client import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kubectl_sched.shell_commands import Argv

CPU_SECONDS = 10.0
"""Of processor time, for an input of some kilobytes."""

MEMORY_BYTES = 2 << 30
"""Beyond what the process has when it begins."""

_KEPT_AT_MOST = 50
"""Cases between two collections of garbage: the program itself collects none."""


class Outcome(NamedTuple):
    """What a run of the program did. `code` is None where it was stopped, since it took too long."""

    code: int | None
    out: bytes
    err: bytes
    seconds: float


class _TooLongError(BaseException):
    """The time is up. No code that catches errors catches it."""


class _ExitedError(BaseException):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Runner:
    """Runs command lines, and remembers every command for a shell that was built meanwhile."""

    def __init__(self) -> None:
        self.commands: dict[str, tuple[Argv, ...]] = {}
        self._cases = 0

    @contextmanager
    def ready(self, folder: Path) -> Iterator[None]:
        """Shut the world out: no connection, no other program, a home of its own, bounded memory."""
        for name in [name for name in os.environ if name.startswith(("KUBE", "XDG", "HTTP", "http"))]:
            del os.environ[name]
        os.environ |= {"HOME": str(folder), "TERM": "dumb", "COLUMNS": "100"}
        bound_memory()
        signal.signal(signal.SIGPROF, _stop)
        with (
            mock.patch.object(os, "_exit", _exit),
            mock.patch.object(socket.socket, "connect", _refuse),
            mock.patch.object(socket, "getaddrinfo", _refuse),
            mock.patch.object(subprocess, "Popen", _not_there),
            mock.patch.object(Server, "_wait", _no_pause),
            mock.patch.object(shell_commands.ShellCommand, "__str__", self._noting()),
        ):
            yield

    def run(self, arguments: list[str]) -> Outcome:
        """Run the program on the arguments."""
        self._cases += 1
        if self._cases % _KEPT_AT_MOST == 0:
            gc.collect()
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="surrogateescape") for _ in range(2))
        streams, sys.argv = (sys.stdin, sys.stdout, sys.stderr), ["kubectl-sched", *arguments]
        sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), out, err
        code: int | None = 0
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except _ExitedError as ended:
            code = ended.code
        except _TooLongError:
            code = None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdin, sys.stdout, sys.stderr = streams
        return Outcome(code, _written(out), _written(err), time.process_time() - began)

    def _noting(self) -> Any:
        original = shell_commands.ShellCommand.__str__

        def noting(command: shell_commands.ShellCommand) -> str:
            text = original(command)
            self.commands[text] = command.argvs
            return text

        return noting


def bound_memory() -> None:
    """Let this process have so much more memory than it has."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - it is no file
        has = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + MEMORY_BYTES, resource.RLIM_INFINITY))


def _written(stream: io.TextIOWrapper) -> bytes:
    if stream.closed:
        return b""
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def _no_pause(*_: object) -> None:
    pass


def _stop(*_: object) -> NoReturn:
    raise _TooLongError


def _exit(code: int) -> NoReturn:
    raise _ExitedError(code)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise ConnectionRefusedError(111, "Connection refused")


def _not_there(*_: object, **__: object) -> NoReturn:
    raise FileNotFoundError(2, "No such file or directory")

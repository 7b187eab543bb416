"""Runs the program in this process, as often as one likes: nothing leaves it, and nothing it is given can end it."""

from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import resource
import socket
import ssl
import subprocess
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import kubectl_sched
from kubectl_sched import __main__ as program
from kubectl_sched.shell_commands import ShellCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_LEFT_OUT = frozenset({"__main__", "binding", "tui"})
_LATE = ("jinja2", "kubernetes.client", "msgspec.yaml", "rich.console", "rich.table", "yaml", "re2")
_CREDENTIAL = (
    b'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}',
    b'{"apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"a","clientKeyData":"b"}}',
    b'{"status":null}',
    b"\xff",
    b"",
)


class EscapedError(BaseException):
    """Something was about to start a program. It passes through every handler of the program."""


class Outcome(NamedTuple):
    """The result of a run: `commands` are those printed, by their text; `crash` is an exception that got out."""

    code: int
    stdout: bytes
    stderr: bytes
    commands: Mapping[str, tuple[tuple[str, ...], ...]]
    crash: str | None = None


def import_everything() -> None:
    """Import what any case may need, so that workers that are forked have it."""
    for module in pkgutil.walk_packages(kubectl_sched.__path__, "kubectl_sched."):
        if not set(module.name.split(".")) & _LEFT_OUT:
            importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)


def run(arguments: Sequence[str], files: Mapping[str, bytes], stdin: bytes = b"") -> Outcome:
    """Run the program on these arguments, in the current folder with these files in it.

    The arguments `read PATH` only read a dump and say what was noted about it.
    """
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    streams = [io.BytesIO(stdin), io.BytesIO(), io.BytesIO()]
    commands: dict[str, tuple[tuple[str, ...], ...]] = {}
    with _streams(streams), _recorded(commands):
        code, crash = _ended(arguments)
    for name in files:
        Path(name).unlink()
    return Outcome(code, streams[1].getvalue(), streams[2].getvalue(), commands, crash)


def _ended(arguments: Sequence[str]) -> tuple[int, str | None]:
    sys.argv[1:] = arguments
    own = program._run  # noqa: SLF001 - the entry without a command line
    if arguments[0] == "read":
        program._run = lambda: _read(arguments[1])  # noqa: SLF001 - as above
    try:
        program.main()
    except SystemExit as end:
        return (end.code if isinstance(end.code, int) else 0), None
    except (Exception, EscapedError) as error:  # noqa: BLE001 - it is what is looked for
        return 4, f"{type(error).__name__}: {error}"
    finally:
        program._run = own  # noqa: SLF001 - as above
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()


def _read(path: str) -> int:
    from kubectl_sched.render.writers.data import warn
    from kubectl_sched.sources.dump.reader import read

    warn(read([path]).warnings)
    return 0


@contextmanager
def _streams(buffers: Sequence[io.BytesIO]) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr, sys.argv[:]
    sys.stdin = io.TextIOWrapper(buffers[0], "utf-8", "surrogateescape")
    sys.stdout = io.TextIOWrapper(buffers[1], "utf-8", "surrogateescape")
    sys.stderr = io.TextIOWrapper(buffers[2], "utf-8", "backslashreplace", line_buffering=True)
    try:
        yield
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr, sys.argv = before


@contextmanager
def _recorded(commands: dict[str, tuple[tuple[str, ...], ...]]) -> Iterator[None]:
    """Note each command that is made a text."""
    written = ShellCommand.__str__

    def noted(command: ShellCommand) -> str:
        text = written(command)
        commands[text] = command.argvs
        return text

    ShellCommand.__str__ = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        ShellCommand.__str__ = written  # type: ignore[method-assign]


@contextmanager
def confined() -> Iterator[None]:
    """Nothing here starts a program, reaches a host, asks the machine for its certificates, or ends the process."""
    from kubectl_sched.cli import app, lazy_commands
    from kubectl_sched.sources.live import exec_plugin

    changes: list[tuple[Any, str, Any]] = [
        (os, "_exit", _exit),
        (os, "fork", _escaped),
        (os, "execve", _escaped),
        (os, "system", _escaped),
        (os, "posix_spawn", _escaped),
        (subprocess.Popen, "__init__", _escaped),
        (exec_plugin, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": _plugin})),
        (socket.socket, "connect", _refused),
        (socket.socket, "connect_ex", _refused),
        (socket, "getaddrinfo", _looked_up),
        (ssl.SSLContext, "load_default_certs", lambda *_: None),
        (sys, "argv", sys.argv[:]),
        (gc, "freeze", lambda: None),  # the next case's garbage collection would not find what this one leaves
        (app, "command", cache(lazy_commands.command)),  # to build a command anew takes longer than most cases
    ]
    before = [(place, name, vars(place).get(name, None)) for place, name, _ in changes]
    inherited = [(place, name) for place, name, value in before if value is None]
    for place, name, value in changes:
        setattr(place, name, value)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for place, name, value in before:
            if (place, name) in inherited:
                delattr(place, name)
            else:
                setattr(place, name, value)


def _exit(code: int) -> NoReturn:
    raise SystemExit(code)


def _escaped(*arguments: Any, **_: Any) -> NoReturn:
    raise EscapedError(f"a program was to be started: {arguments!r:.200}")


def _refused(*_: Any) -> NoReturn:
    raise ConnectionRefusedError(111, "Connection refused")


def _looked_up(host: str | None, port: Any, *_: Any, **__: Any) -> list[Any]:
    if host:
        host.encode("idna")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


def _plugin(argv: Sequence[str], *, env: Mapping[str, str], **_: Any) -> subprocess.CompletedProcess[bytes]:
    """Refuse what no process can be given, as starting one does; else print one of a few credentials."""
    for text in (*argv, *env, *env.values()):
        if b"\0" in os.fsencode(text):
            raise ValueError("embedded null byte")
    if any("=" in name for name in env):
        raise ValueError("illegal environment variable name")
    length = sum(map(len, argv))
    return subprocess.CompletedProcess(argv, int(length % 11 == 0), _CREDENTIAL[length % len(_CREDENTIAL)])


def bounded(seconds: float, memory: int) -> Callable[[], None]:
    """Limit the memory of this process from now on; what is returned grants the next case its processor time."""
    import signal

    held = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + memory, held + memory))

    def begin() -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 20 * seconds)

    return begin

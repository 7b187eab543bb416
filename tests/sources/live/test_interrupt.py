"""Ctrl-C ends the program at once: as it starts, and where a server has taken a request and says nothing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Programs that we start take Ctrl-C, also where we run in the background of a shell and do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


AT_IMPORT = """
import os, runpy, signal, sys

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["IMPORTED"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
runpy.run_module("kubectl_sched", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("imported", ["kubectl_sched.cli.command_line", "typer", "kubectl_sched.cli.app", "numpy"])
def test_the_start_is_interrupted_without_a_word(imported: str) -> None:
    command = [sys.executable, "-c", AT_IMPORT, "explain", "web-0", "--from", str(FIXTURES / "demo")]
    ended = subprocess.run(command, env={**os.environ, "IMPORTED": imported}, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


WHILE_AN_OBJECT_GOES = """
import os, runpy, signal, sys, time

class Going:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)  # here Python raises KeyboardInterrupt, and drops it

class AtNumpy:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            sys.meta_path.remove(self)
            Going()
            time.sleep(60)

sys.meta_path.insert(0, AtNumpy())
runpy.run_module("kubectl_sched", run_name="__main__", alter_sys=True)
"""


def test_an_interrupt_that_python_drops_is_repeated() -> None:
    command = [sys.executable, "-c", WHILE_AN_OBJECT_GOES, "explain", "web-0", "--from", str(FIXTURES / "demo")]
    ended = subprocess.run(command, capture_output=True, check=False, timeout=50)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


LIVE = [
    ["explain", "web-0"],
    ["explain", "web-0", "-w"],
    ["snapshot", "-"],
    ["bind", "pod", "web-0"],
    ["bind", "--watch", "--yes", "--scheduler-name", "mine"],
]


@pytest.mark.parametrize("arguments", LIVE, ids=" ".join)
def test_a_silent_server_is_not_waited_for(arguments: list[str], tmp_path: Path) -> None:
    assert_interruptible(["-m", "kubectl_sched"], arguments, tmp_path)


def assert_interruptible(program: list[str], arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "config").touch()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, *program, *arguments, "--server", server, "--kubeconfig", str(tmp_path / "config")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            taken, _ = silent.accept()
            with taken:
                taken.recv(1)
                started.send_signal(signal.SIGINT)
                try:
                    out, error = started.communicate(timeout=50)
                finally:
                    started.kill()
    assert (started.returncode, out) == (130, b"")
    assert all(line.startswith((b"waiting for ", b"error: interrupted: nothing was")) for line in error.splitlines())


WHILE_A_LOCK_IS_RETAKEN = """
import os, runpy, signal, sys, threading

retake = threading.Condition._acquire_restore

def interrupted(condition, state):
    if threading.current_thread() is threading.main_thread():
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().is_set()  # here Python raises KeyboardInterrupt, and then cannot release the lock
    retake(condition, state)

threading.Condition._acquire_restore = interrupted
runpy.run_module("kubectl_sched", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("arguments", [["explain", "web-0"], ["bind", "pod", "web-0"]], ids=" ".join)
def test_an_interrupt_amid_pythons_own_locks_is_no_bug_of_ours(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "config").touch()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        where = ["--server", server, "--kubeconfig", str(tmp_path / "config")]
        command = [sys.executable, "-c", WHILE_A_LOCK_IS_RETAKEN, *arguments, *where]
        ended = subprocess.run(command, capture_output=True, check=False, timeout=50)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


WHERE_ANOTHER_THREAD_TAKES_THE_SIGNAL = """
import runpy, signal, threading

threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
runpy.run_module("kubectl_sched", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("arguments", LIVE, ids=" ".join)
def test_an_interrupt_that_ends_no_wait_is_handled(arguments: list[str], tmp_path: Path) -> None:
    """Like a signal that comes just before the main thread begins to wait, but not by chance."""
    assert_interruptible(["-c", WHERE_ANOTHER_THREAD_TAKES_THE_SIGNAL], arguments, tmp_path)

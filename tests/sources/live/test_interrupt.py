"""Ctrl-C ends the program at once, also where a server has taken a request and says nothing."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Programs that we start take Ctrl-C, also where we run in the background of a shell and do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "arguments", [["explain", "web-0"], ["explain", "web-0", "-w"], ["snapshot", "-"]], ids=" ".join
)
def test_a_silent_server_is_not_waited_for(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "config").touch()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-m", "kubectl_sched", *arguments, "--server", server]
        with subprocess.Popen(
            [*command, "--kubeconfig", str(tmp_path / "config")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as program:
            taken, _ = silent.accept()
            with taken:
                taken.recv(1)
                program.send_signal(signal.SIGINT)
                said = program.communicate(timeout=120)
    out, error = said
    assert (program.returncode, out) == (130, b"")
    assert all(line.startswith(b"waiting for ") for line in error.splitlines())

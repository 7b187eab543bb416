"""Control planes live side by side, and end with whoever started them, however that ends."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.api import Api
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


def test_two_side_by_side_know_nothing_of_each_other(control_plane: ControlPlane) -> None:
    with (
        ControlPlane() as other,
        Api(other.port, ADMIN_TOKEN) as there,
        Api(control_plane.port, ADMIN_TOKEN) as here,
    ):
        there.create("/api/v1/namespaces", {"metadata": {"name": "only-there"}})
        assert "only-there" in {item["metadata"]["name"] for item in there.get("/api/v1/namespaces")["items"]}
        assert "only-there" not in {item["metadata"]["name"] for item in here.get("/api/v1/namespaces")["items"]}


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_run_ends(ending: signal.Signals) -> None:
    command = [sys.executable, "-m", "tests.e2e.control_plane"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        kubeconfig = Path(run.stdout.readline().removeprefix("export KUBECONFIG=").strip())
        port = int(kubeconfig.read_text().split("https://127.0.0.1:")[1].split('"')[0])
        assert listens(port)
        os.kill(run.pid, ending)
        run.communicate()
    until(lambda: not listens(port))
    until(lambda: not kubeconfig.parent.exists())


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False

"""A server to write to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.writer import Writer
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from tests.binding.api_server import ApiServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[ApiServer]:
    made = ApiServer()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    thread.join()
    made.http.server_close()


@pytest.fixture
def writer(server: ApiServer) -> Writer:
    return Writer(Server(Endpoint(f"http://127.0.0.1:{server.http.server_address[1]}"), environment={}))

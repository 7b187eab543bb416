"""`/healthz`, `/livez`, `/readyz` and `/metrics` over plain HTTP, for a Deployment's probes and for Prometheus."""

from __future__ import annotations

import http.server
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from kubectl_sched.binding.second_scheduler.settings import address
from kubectl_sched.errors import SchedError, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"
_PLAIN: Final = "text/plain; charset=utf-8"


class EndpointServer:
    """Answers until it is closed. A check gives what is wrong, an empty text where nothing is."""

    def __init__(self, listen: str, checks: Mapping[str, Callable[[], str]], metrics: Callable[[], bytes]) -> None:
        host, port = address(listen)
        self._host = host

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0].rstrip("/")
                if path == "/metrics":
                    self._answer(HTTPStatus.OK, metrics(), _METRICS)
                elif path in checks:
                    wrong = checks[path]()
                    status = HTTPStatus.INTERNAL_SERVER_ERROR if wrong else HTTPStatus.OK
                    self._answer(status, (wrong or "ok").encode(), _PLAIN)
                else:
                    self._answer(HTTPStatus.NOT_FOUND, b"there are /healthz, /livez, /readyz and /metrics", _PLAIN)

            def _answer(self, status: HTTPStatus, body: bytes, content: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", content)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
                """Probes are no news."""

        try:
            self._server = _server_class(host)((host, port), Handler)
        except OSError as error:
            raise SchedError(f"--listen {listen}: {words_of(error)}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, name="serving", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    @property
    def at(self) -> str:
        """`127.0.0.1:10259`, or where it listens on all addresses `port 10259 of all addresses`."""
        if not self._host:
            return f"port {self.port} of all addresses"
        return f"[{self._host}]:{self.port}" if ":" in self._host else f"{self._host}:{self.port}"

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()


def _server_class(host: str) -> type[http.server.ThreadingHTTPServer]:
    import socket

    of_both = not host and socket.has_dualstack_ipv6()

    class Listening(http.server.ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host or of_both else socket.AF_INET
        daemon_threads = True

        def server_bind(self) -> None:
            if of_both:
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            super().server_bind()

    return Listening

"""A proxy in front of an API server that can be told what to do wrong."""

import http.client
import http.server
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Handler = http.server.BaseHTTPRequestHandler
Fault = Callable[[Handler], None]
"""Answers instead of the server, or does something before it raises `PassError`."""


class PassError(Exception):
    """Let the request through after all."""


class FaultyServer:
    """Passes GETs on to a server; each request may first meet a fault that `inject` has laid for its path."""

    def __init__(self, port: int, certificates: Path) -> None:
        self._target = port
        self._certificates = certificates
        self._faults: list[tuple[str, Fault]] = []
        self._lock = threading.Lock()
        self.requests: list[tuple[str, dict[str, list[str]]]] = []
        self.headers: list[Any] = []

    def __enter__(self) -> Self:
        outer = self

        class Passing(Handler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:  # noqa: N802 - http.server's name
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Passing)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificates / "apiserver.crt", self._certificates / "apiserver.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The address to ask."""
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    def inject(self, part_of_path: str, *faults: Fault) -> None:
        """The next requests whose path and query hold the text meet these faults, one each."""
        with self._lock:
            self._faults += [(part_of_path, fault) for fault in faults]

    def answer(self, request: Handler) -> None:
        """Let the request meet its fault, or pass it on."""
        parts = urlsplit(request.path)
        fault = None
        with self._lock:
            self.requests.append((parts.path, parse_qs(parts.query)))
            self.headers.append(request.headers)
            found = next((entry for entry in self._faults if entry[0] in request.path), None)
            if found is not None:
                self._faults.remove(found)
                fault = found[1]
        try:
            if fault is not None:
                fault(request)
                return
        except PassError:
            pass
        self._pass_on(request)

    def _pass_on(self, request: Handler) -> None:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        connection = http.client.HTTPSConnection("127.0.0.1", self._target, context=context, timeout=30)
        kept = {name: value for name, value in request.headers.items() if name.lower() not in {"host", "connection"}}
        connection.request("GET", request.path, headers=kept)
        response = connection.getresponse()
        body = response.read()
        request.send_response(response.status)
        for name in ("Content-Type", "Content-Encoding"):
            if response.headers[name]:
                request.send_header(name, response.headers[name])
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        connection.close()


def status(code: int, reason: str = "", message: str = "", **headers: str) -> Fault:
    """An answer with a Status of the API."""

    def answer(request: Handler) -> None:
        body = f'{{"kind":"Status","code":{code},"reason":"{reason}","message":"{message}"}}'.encode()
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def break_off(request: Handler) -> None:
    """Promise more than is sent, and hang up."""
    request.send_response(200)
    request.send_header("Content-Length", "100000")
    request.end_headers()
    request.wfile.write(b'{"kind":"PodList","metadata":{},"items":[')
    request.wfile.flush()
    request.close_connection = True
    request.connection.close()


def hang_up(request: Handler) -> None:
    """Close without a word."""
    request.close_connection = True
    request.connection.close()


def trickle(released: threading.Event) -> Fault:
    """One byte now and then, until released."""

    def answer(request: Handler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100000")
        request.end_headers()
        while not released.wait(0.05):
            try:
                request.wfile.write(b" ")
                request.wfile.flush()
            except OSError:
                break
        request.close_connection = True

    return answer

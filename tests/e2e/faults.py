"""A proxy in front of an API server that can be told what to do wrong."""

import contextlib
import http.client
import http.server
import socket
import ssl
import threading
import time
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


class _QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Clients that hang up are part of the game."""


class FaultyServer:
    """Passes requests on to a server, watches line by line; each may first meet a fault.

    `inject` lays faults for single requests; `always` is asked about every request that meets none of those.
    """

    def __init__(self, port: int, certificates: Path) -> None:
        self._target = port
        self._certificates = certificates
        self._faults: list[tuple[str, Fault]] = []
        self._lock = threading.Lock()
        self._watches: list[Handler] = []
        self.always: Callable[[Handler], Fault | None] = lambda _: None
        self.requests: list[tuple[str, dict[str, list[str]]]] = []
        self.headers: list[Any] = []

    def __enter__(self) -> Self:
        outer = self

        class Passing(Handler):
            protocol_version = "HTTP/1.1"
            passes_to: http.client.HTTPSConnection | None = None
            """The server's end, for as long as the client keeps its own."""

            def do_GET(self) -> None:  # noqa: N802 - http.server's name
                outer.answer(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - as above

            def log_message(self, *_: object) -> None:
                pass

            def finish(self) -> None:
                try:
                    super().finish()
                finally:
                    if self.passes_to is not None:
                        self.passes_to.close()

        self._server = _QuietServer(("127.0.0.1", 0), Passing)
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

    def cut_watches(self) -> None:
        """Break every watch that is open."""
        while self._watches:
            with contextlib.suppress(OSError):
                self._watches.pop().connection.shutdown(socket.SHUT_RDWR)

    def answer(self, request: Handler) -> None:
        """Let the request meet its fault, or pass it on."""
        parts = urlsplit(request.path)
        # Read whatever comes of it, as the next request follows on the same connection.
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        fault = None
        with self._lock:
            self.requests.append((parts.path, parse_qs(parts.query)))
            self.headers.append(request.headers)
            found = next((entry for entry in self._faults if entry[0] in request.path), None)
            if found is not None:
                self._faults.remove(found)
                fault = found[1]
        fault = fault or self.always(request)
        try:
            if fault is not None:
                fault(request)
                return
        except PassError:
            pass
        self._pass_on(request, body)

    def _pass_on(self, request: Handler, body: bytes) -> None:
        connection: http.client.HTTPSConnection = getattr(request, "passes_to", None) or self._connect()
        request.passes_to = connection  # type: ignore[attr-defined] # of `Passing`, above, which closes it at the end
        kept = {name: value for name, value in request.headers.items() if name.lower() not in {"host", "connection"}}
        connection.request(request.command, request.path, body or None, kept)
        # Closed here, too: of an answer that says "Connection: close" the connection lets go at once.
        with connection.getresponse() as response:
            request.send_response(response.status)
            for name in ("Content-Type", "Content-Encoding", "Retry-After"):
                if response.headers[name]:
                    request.send_header(name, response.headers[name])
            if "watch=true" in request.path and response.status == http.client.OK:
                self._watches.append(request)
                _pass_lines(request, response)
                connection.close()
            else:
                answer = response.read()
                request.send_header("Content-Length", str(len(answer)))
                request.end_headers()
                request.wfile.write(answer)

    def _connect(self) -> http.client.HTTPSConnection:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        return http.client.HTTPSConnection("127.0.0.1", self._target, context=context, timeout=90)


def _pass_lines(request: Handler, response: http.client.HTTPResponse) -> None:
    """What a watch says, as it says it, until either side has enough."""
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    with contextlib.suppress(OSError, http.client.HTTPException):
        while line := response.readline():
            request.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            request.wfile.flush()
        request.wfile.write(b"0\r\n\r\n")
    request.close_connection = True


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


def expired(request: Handler) -> None:
    """A watch that begins and says that the state to go on from is forgotten."""
    body = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n'
    request.send_response(200)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def late(seconds: float) -> Fault:
    """The request is passed on, but only after a while; a watch then has much to catch up with."""

    def wait(_: Handler) -> None:
        time.sleep(seconds)
        raise PassError

    return wait


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

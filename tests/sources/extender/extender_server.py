"""An extender: a real HTTP server in a thread, which turns nodes down and scores them by what their names end in."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

Json = dict[str, Any]


class ExtenderServer(ThreadingHTTPServer):
    """`asked` are the verbs and bodies so far."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, Json]] = []
        self.authorizations: list[str | None] = []
        self.moved_to = ""
        scheme = "http"
        if tls is not None:
            scheme = "https"
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.url = f"{scheme}://localhost:{self.server_port}/scheduler"

    def handle_error(self, *_: object) -> None:
        """A client that waits no longer is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: ExtenderServer

    def do_GET(self) -> None:
        self.server.authorizations.append(self.headers["Authorization"])
        self.send_error(405)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verb = self.path.rpartition("/")[2]
        self.server.asked.append((verb, body))
        self.server.authorizations.append(self.headers["Authorization"])
        status, answer = 200, ANSWERS.get(verb, lambda _: None)(body)
        if verb == "broken":
            status = 500
        if verb == "slow":
            time.sleep(1)
        data = RAW[verb] if verb in RAW else json.dumps(answer).encode()
        status = {"moved": 307, "moved-for-a-get": 302}.get(verb, status)
        self.send_response(status)
        if status in {302, 307}:
            self.send_header("Location", self.server.moved_to or self.path.replace("moved", "filter"))
        size = HUGE if verb == "huge" else len(data) + (verb == "short")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        try:
            for byte in data if verb == "drop-by-drop" else ():
                self.wfile.write(bytes([byte]))
                time.sleep(0.02)
            for _ in range(size >> 20 if verb == "huge" else 0):
                self.wfile.write(b" " * (1 << 20))
        except OSError:
            return  # nobody waits any longer
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def _names(body: Json) -> list[str]:
    listed = body["Nodes"]
    return body["NodeNames"] if listed is None else [item["metadata"]["name"] for item in listed["items"]]


def _filter(body: Json) -> Json:
    """Odd nodes are turned down, n7 for good, n5 without a word."""
    left = [name for name in _names(body) if int(name[1:]) % 2 == 0]
    failed = {name: "it is odd" for name in _names(body) if name not in left and name not in {"n5", "n7"}}
    answer: Json = {"FailedNodes": failed, "FailedAndUnresolvableNodes": {"n7": "it is seven"}}
    if body["Nodes"] is None:
        return answer | {"NodeNames": left}
    return answer | {"Nodes": {"items": [item for item in body["Nodes"]["items"] if item["metadata"]["name"] in left]}}


def _prioritize(body: Json) -> list[Json]:
    return [{"Host": name, "Score": int(name[1:]) % 5} for name in _names(body)]


def _preempt(body: Json) -> Json:
    """Of all candidates the last by name is left, with all its victims."""
    victims = body["NodeNameToMetaVictims"] or body["NodeNameToVictims"]
    name = max(victims)
    pods = [{"UID": pod.get("UID") or pod["metadata"]["uid"]} for pod in victims[name]["Pods"]]
    return {"NodeNameToMetaVictims": {name: {"Pods": pods, "NumPDBViolations": 0}}}


_NONE: Json = {"NodeNames": []}

ANSWERS: dict[str, Any] = {
    "filter": _filter,
    "prioritize": _prioritize,
    "preempt": _preempt,
    "refuse": lambda _: {"Error": "it will not"},
    "stranger": lambda _: {"NodeNames": ["elsewhere"]},
    "nothing": lambda _: {},
    "nowhere": lambda _: {
        "NodeNames": [],
        "FailedNodes": {"n1": "it is odd", "gone": "it is gone", "lost": "it is gone"},
        "FailedAndUnresolvableNodes": {"lost": "it is lost"},
    },
    "number": lambda _: 5,
    "number-of-names": lambda _: {"NodeNames": 5},
    "nameless": lambda _: {"Nodes": {"items": [{"metadata": 5}]}},
    "victims": lambda _: {"NodeNameToMetaVictims": {"n1": {"Pods": 5}}},
    "scores": lambda _: [{"Host": "n1", "Score": "many"}],
    "overflow": lambda _: [{"Host": "n1", "Score": score} for score in (2**63 - 1, 2)] + [{"Host": "n2", "Score": 1}],
    "fraction": lambda _: [{"Host": "n1", "Score": 1.5}],
    "nulls": lambda _: [None, {"Host": "n1", "Score": 10}],
    "number-of-errors": lambda _: {"NodeNames": ["n1"], "Error": 5},
    "number-failed": lambda _: {"NodeNames": ["n1"], "FailedNodes": {"n2": 5}},
    "loud": lambda body: (
        {"NodeNames": body["NodeNames"], "FailedNodes": {"gone": "it is gone"}}
        if len(body["NodeNames"]) == 1
        else _NONE
    ),
    "alone": lambda body: {"Error": "it is alone"} if len(body["NodeNames"]) == 1 else _NONE,
    "twice": lambda _: {"NodeNames": ["n2", "n2"]},
    "no-quantity": lambda _: {
        "Nodes": {"items": [{"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "x"}}}]}
    },
}


HUGE = 100 << 20
"""Bytes, more than any answer has; spaces, which JSON may begin with."""

RAW: dict[str, bytes] = {
    "huge": b"",
    "silent": b"",
    "page": b"<html>no</html>",
    "cut": b'{"NodeNames": ["n1"',
    "trailing": b'{"NodeNames": ["n2"]} and more',
    "short": b'{"NodeNames": ["n2"]}',
    "latin-1": b'{"Error": "\xe9"}',
    "drop-by-drop": b" " * 10_000,
}


@contextmanager
def extender_server(tls: ssl.SSLContext | None = None) -> Iterator[ExtenderServer]:
    """A server that answers until the block ends."""
    server = ExtenderServer(tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

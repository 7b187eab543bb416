"""An API server that notes what is written to it."""

from __future__ import annotations

import http.server
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Sent = tuple[str, str, dict[str, Any]]


class ApiServer:
    """Notes the writes that it gets; what it answers and refuses is laid down by method and path."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.refused: dict[tuple[str, str], int] = {}
        self.answers: dict[tuple[str, str], dict[str, Any]] = {}
        self.raw: dict[tuple[str, str], bytes] = {}
        """Answers that are no JSON."""
        self.on_get: Callable[[str], None] = lambda _: None
        """Called with the path before a read is answered."""
        listening = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                asked = (self.command, self.path.partition("?")[0])
                if self.command == "GET":
                    listening.on_get(asked[1])
                else:
                    body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    listening.sent.append((*asked, body))
                said = listening.raw.get(asked, json.dumps(listening.answers.get(asked, {})).encode())
                self.send_response(listening.refused.get(asked, 200))
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                """No log."""

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _ in self.sent if "/events" not in path]

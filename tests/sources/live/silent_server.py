"""A server that says what it is told to, and then falls silent."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def serving(said: bytes) -> Iterator[str]:
    """A server that says this on each connection and then nothing more; gives its address."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                    taken.append(connection)
                    while connection.recv(1 << 16):
                        connection.sendall(said)
                except OSError:
                    return

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

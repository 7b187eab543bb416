"""A server that says what it is told to, and then falls silent."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def serving(said: bytes, taken: list[socket.socket] | None = None, pause: float = 0.0) -> Iterator[str]:
    """A server that says this to whatever it is asked, and then nothing more; gives its address.

    `taken` has the connections that were made to it; with a pause it says each byte by itself.
    """
    taken = [] if taken is None else taken
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                    taken.append(connection)
                    while connection.recv(1 << 16):
                        for piece in (said[at : at + 1] for at in range(len(said))) if pause else (said,):
                            connection.sendall(piece)
                            time.sleep(pause)
                except OSError:
                    return

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        while thread.is_alive():  # it may have taken one more connection meanwhile
            for connection in list(taken):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join(0.05)
        for connection in taken:
            connection.close()

"""The cluster that the flags name, with Ctrl-C ending every wait for its server."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.sources.live.kubeconfig import resolve

if TYPE_CHECKING:
    from kubectl_sched.sources.live.connection_flags import Connection
    from kubectl_sched.sources.live.endpoint import Endpoint

_PAUSES: Final = (0.05, 0.2, 1.0)
"""Seconds before each time that the main thread is woken: more than once, as it may be about to wait again."""


def endpoint_of(connection: Connection) -> Endpoint:
    """Resolve the connection as `resolve` does; then the main thread handles signals at once, however it waits."""
    _wake_for_signals()
    return resolve(connection)


@cache
def _wake_for_signals() -> None:
    """Wake the main thread after each signal.

    CPython takes note of a signal, and handles it when the main thread takes its next step. If it comes just before
    that thread begins to wait for a lock or a server, the next step is taken when the wait is over, which may be never.
    """
    if not hasattr(signal, "pthread_kill"):  # Windows
        return
    noted, note = os.pipe()
    os.set_blocking(note, False)
    signal.signal(signal.SIGURG, lambda *_: None)  # so that it ends a wait, and nothing else
    signal.set_wakeup_fd(note, warn_on_full_buffer=False)
    threading.Thread(target=_wake, args=(noted,), name="signals", daemon=True).start()


def _wake(noted: int) -> None:
    main = threading.main_thread().ident
    while main is not None:
        if set(os.read(noted, 1 << 10)) <= {signal.SIGURG}:
            continue
        for seconds in _PAUSES:
            time.sleep(seconds)
            signal.pthread_kill(main, signal.SIGURG)

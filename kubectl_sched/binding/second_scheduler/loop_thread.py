"""Runs the scheduling loop beside the main thread, which is left to signals."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from kubectl_sched.binding.second_scheduler.loop_messages import Stop

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_SECONDS: Final = 0.5


def run_in_thread(loop: Callable[[], Stop], give_up_at: Callable[[], float]) -> Stop:
    """Run the loop until it ends, or until a monotonic time that a signal handler may set while it runs.

    Raises what the loop raises. A loop that hangs is left to end with the process.
    """
    ended: SimpleQueue[Stop | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            ended.put(loop())
        except BaseException as failure:  # noqa: BLE001 - raised again in the main thread
            ended.put(failure)

    threading.Thread(target=run, name="scheduling-loop", daemon=True).start()
    while True:
        try:
            outcome = ended.get(timeout=_LOOK_SECONDS)
        except Empty:
            if time.monotonic() >= give_up_at():
                return Stop("the scheduling loop hangs in the cycle of a pod, which is given up", exit_code=3)
            continue
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

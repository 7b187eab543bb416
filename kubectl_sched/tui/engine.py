"""The one thread that replays and gathers evidence, so that typing stays fluid while it works."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Engine:
    """Runs one call after the other: a result's columns fill as they are asked for, which two threads must not do."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="replay")

    async def run(self, call: Callable[[], T]) -> T:
        """The call's answer, once the thread has come to it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def stop(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

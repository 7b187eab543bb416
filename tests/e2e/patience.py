"""Waiting for what a server does in its own time."""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

SECONDS = 120
"""More than the slowest machine needs: what never comes is told late, but what comes late is not told as never."""

Answer = TypeVar("Answer")


def until(ask: Callable[[], Answer | None], told: Callable[[], str] = lambda: "it did not come to be") -> Answer:
    """The first answer that is true; where none is, the test fails with what is `told` then."""
    deadline = time.monotonic() + SECONDS
    while not (answer := ask()):
        if time.monotonic() > deadline:
            pytest.fail(told())
        time.sleep(0.03)
    return answer

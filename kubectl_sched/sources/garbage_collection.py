"""Reads while the garbage collector waits."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Nothing that is read holds cycles, and to look for them costs a third of the time, now or at any later moment."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()

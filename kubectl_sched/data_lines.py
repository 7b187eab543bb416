"""Tables of data in files beside the modules that read them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@cache
def data_lines(table: Path) -> tuple[str, ...]:
    """Return the lines of a table without its comments, which begin with `#`."""
    return tuple(line for line in table.read_text("utf-8").splitlines() if not line.startswith("#"))

"""Addresses of servers and proxies."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from urllib.parse import SplitResult


def split_address(text: str) -> SplitResult | None:
    """The parts of an address; None where it names no host, or a port that there cannot be."""
    try:
        parts = urlsplit(text)
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_address else None

"""A cache of the latest values alone."""

from __future__ import annotations

from typing import TypeVar

_MOST_REMEMBERED = 64
K = TypeVar("K")
V = TypeVar("V")


def remember(known: dict[K, V], key: K, value: V) -> None:
    """Add a value, and forget the oldest ones if there are too many."""
    while len(known) >= _MOST_REMEMBERED:
        del known[next(iter(known))]
    known[key] = value

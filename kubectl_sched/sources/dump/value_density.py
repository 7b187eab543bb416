"""The limit on how many values a text may hold for its size.

A few hundred megabytes of `{},` are as many objects as take gigabytes of memory. Values of real dumps stand at least
twenty bytes apart.
"""

from __future__ import annotations

from kubectl_sched.sources.errors import BombError

_MANY = 1_000_000
_LEAST_BYTES = 12


def check_density(text: bytes, values: int, source: str) -> None:
    """Raises BombError if the text holds over a million values that are shorter than those of any dump."""
    if values > _MANY and values * _LEAST_BYTES > len(text):
        raise BombError(f"{source}: it holds {values:,} values in {len(text):,} bytes, as no dump does")

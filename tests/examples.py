"""The number of examples that the laws are tried on."""

from __future__ import annotations

from hypothesis import settings

_HUNDRED = 100
"""The number of examples that hypothesis draws by default; the ordinary tests draw fewer (tests/conftest.py)."""


def examples(at_length: int) -> int:
    """The number to draw, where `at_length` are drawn when there is time for a hundred of every other law."""
    drawn = settings.default.max_examples if settings.default is not None else _HUNDRED
    return max(1, at_length * drawn // _HUNDRED)

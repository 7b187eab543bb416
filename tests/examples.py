"""The number of examples that the laws are tried on, and of cases where a family of them is long."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

_HUNDRED = 100
"""The number of examples that hypothesis draws by default; the ordinary tests draw fewer (tests/conftest.py)."""


def examples(at_length: int) -> int:
    """The number to draw, where `at_length` are drawn when there is time for a hundred of every other law."""
    drawn = settings.default.max_examples if settings.default is not None else _HUNDRED
    return max(1, at_length * drawn // _HUNDRED)


at_length = pytest.mark.at_length
"""Marks tests whose `cases` are all taken where laws are tried at length."""


def cases(of: Sequence[T], every: int) -> Sequence[T]:
    """Return one of so many cases in the ordinary tests, and all of them where laws are tried at length."""
    is_at_length = examples(_HUNDRED) >= _HUNDRED
    return of if is_at_length else of[::every]

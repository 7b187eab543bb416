"""Choices that Karpenter leaves to chance, because it iterates a Go map."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Ties:
    """The part of an answer that another run may decide differently.

    A replay takes the first by name, or with a seed one at random.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.choices: set[str] = set()
        self._random = Random(seed) if seed is not None else None  # noqa: S311 - one of many possible orders

    def mark(self, choice: str) -> None:
        """Note a choice that was made where others were as good."""
        self.choices.add(choice)

    def chosen(self, items: Sequence[T]) -> Sequence[T]:
        """Return one of the items, in a list of its own; an empty list of none."""
        if self._random is None or not items:
            return items[:1]
        return [self._random.choice(items)]

    def ordered(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items in one of the orders that they may have."""
        return items if self._random is None else self._random.sample(items, len(items))

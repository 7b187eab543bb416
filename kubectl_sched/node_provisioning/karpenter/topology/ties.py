"""Choices that Karpenter leaves to chance, because it iterates a Go map."""

from __future__ import annotations


class Ties:
    """The part of an answer that another run may decide differently. A replay takes the first by name."""

    def __init__(self) -> None:
        self.choices: set[str] = set()

    def mark(self, choice: str) -> None:
        """Note a choice that was made where others were as good."""
        self.choices.add(choice)

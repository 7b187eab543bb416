"""Figures as the benches print them: medians with their spread."""

import os
import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Pairs(NamedTuple):
    """Figures of a program and of its baseline, run in turn: seconds, if no unit is given."""

    ours: Sequence[float]
    baseline: Sequence[float]
    unit: str = "s"

    def per(self, amount: float, baseline_amount: float, unit: str) -> "Pairs":
        """The figures for one of each amount."""
        ours, baseline = [each / amount for each in self.ours], [each / baseline_amount for each in self.baseline]
        return Pairs(ours, baseline, f"{self.unit}/{unit}")

    def __str__(self) -> str:
        """Both medians, their ratio, and the least and the most of the pairs' ratios."""
        median, baseline = statistics.median(self.ours), statistics.median(self.baseline)
        ratios = [ours / theirs for ours, theirs in zip(self.ours, self.baseline, strict=True)]
        return (
            f"{median:.3g} {self.unit} / {baseline:.3g} {self.unit} = {median / baseline:.3g} "
            f"({min(ratios):.3g} to {max(ratios):.3g})"
        )


def own_environment() -> dict[str, str]:
    """The environment of a program that is measured, which keeps what it compiles, as it does for everybody."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def with_spread(figures: Sequence[float], unit: str) -> str:
    """The median, the least and the most of the figures."""
    return f"{statistics.median(figures):.3g} {unit} ({min(figures):.3g} to {max(figures):.3g})"

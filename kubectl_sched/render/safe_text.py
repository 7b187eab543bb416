"""Text out of a cluster, made safe and short enough to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.safe_output import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["clipped", "count", "listed", "safe", "shortened"]

_CUT = "..."


def clipped(text: str, length: int) -> str:
    """The text cut to a length, with dots where something is left out."""
    return text if len(text) <= length else f"{text[: length - len(_CUT)].rstrip()}{_CUT}"


def shortened(name: str, length: int) -> str:
    """A name cut to a length in its middle: names of one cluster mostly differ at their ends."""
    if len(name) <= length:
        return name
    head = (length - len(_CUT)) // 3
    return f"{name[:head]}{_CUT}{name[len(name) - (length - len(_CUT) - head) :]}"


def count(number: int, noun: str) -> str:
    """`1 node`, `3 nodes`, `5,000 nodes`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 7 more`."""
    return safe(first_few(names, most))

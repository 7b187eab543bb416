"""Upper limits on the pods and nodes of a what-if, so that a mistyped number cannot fill the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_PODS = 1_000_000
MOST_NODES = 100_000
_LONGEST = 18


def pods_counted(number: int, where: str) -> int:
    """The number. Raises SchedError, naming `where` it was given, for more pods than a what-if makes."""
    if number > MOST_PODS:
        raise SchedError(f"{where}: a what-if makes at most {MOST_PODS:,} pods of a workload")
    return number


def nodes_counted(number: int, where: str) -> int:
    """The number. Raises SchedError, naming `where` it was given, for more nodes than a what-if adds."""
    if number > MOST_NODES:
        raise SchedError(f"{where}: a what-if adds at most {MOST_NODES:,} nodes at once")
    return number


def decimal(text: str) -> int | None:
    """The number that the digits are, None if there is anything else; the longest are taken as merely too large."""
    if not text.isdecimal():
        return None
    digits = text.lstrip("0")
    return int(digits or "0") if len(digits) <= _LONGEST else 10**_LONGEST


def few(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 7 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")

"""Differences between minors in the language of selectors, and in what an evaluation is charged."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class CelGo(IntEnum):
    """Releases of cel-go that evaluate or charge an expression differently."""

    V0_26 = 26
    V0_29 = 29
    """An affix is charged by its own size, `matches(text, pattern)` as the method, and lists.range() is limited."""
    V0_33 = 33
    """A failure ends its call: no other argument is evaluated, and the call costs nothing."""


class Dialect(NamedTuple):
    """The parts of a later release that an expression may use already, and the evaluator."""

    sharing: bool = True
    """device.allowMultipleAllocations."""
    includes: bool = False
    """The function of that name."""
    lists: bool = False
    """Attributes that are lists, so that any may be one."""
    cel_go: int = CelGo.V0_26

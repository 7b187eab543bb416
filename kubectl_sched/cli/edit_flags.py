"""Edits apply in the order in which they stand, across flags, which a parser of options does not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.simulation.node_edits import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def in_order(arguments: Sequence[str], given: Mapping[str, Sequence[str] | None]) -> tuple[Edit, ...]:
    """The values that the parser found for each flag, in the order in which the flags stand among the arguments."""
    left = {flag: list(values) for flag, values in given.items() if values}
    ordered: list[Edit] = []
    for argument in arguments:
        flag = argument.partition("=")[0]
        if left.get(flag):
            ordered.append(Edit(flag, left[flag].pop(0)))
    return (*ordered, *(Edit(flag, value) for flag, values in left.items() for value in values))

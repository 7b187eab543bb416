"""The labels of nodes that volumes, classes and capacities ask for, with the values that they name.

A volume of one node names one of thousands of host names: to it all others are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.labels import GREATER_THAN, LESS_THAN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.apimachinery.labels import Requirement
    from kubectl_sched.snapshot import Column

_ANOTHER: Final = "\0"
"""Stands for the values that nobody names; no label has such a value."""

_COMPARISONS: Final = frozenset({GREATER_THAN, LESS_THAN})


class AskedLabels:
    """The values that some requirements name, by label."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self.values: dict[str, set[str]] = {}
        self._compared: set[str] = set()
        for each in requirements:
            self.values.setdefault(each.key, set()).update(each.values)
            if each.operator in _COMPARISONS:
                self._compared.add(each.key)

    def told_apart(self, column: Column[str | None], key: str) -> Column[str | None]:
        """The values of a label, all that no requirement can tell apart being one."""
        named = self.values[key]
        if key in self._compared or min(len(column), len(column.values)) <= len(named) + 1:
            return column
        return column.map(lambda value: value if value is None or value in named else _ANOTHER).distinct()

"""A number of each node, told by the distinct value that the node has, or by the node itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kubectl_sched.snapshot.array_types import Codes, Integers, Rows


class NodeNumbers(NamedTuple):
    """int[n]: `values[codes]`, or `values` themselves without codes."""

    values: Integers | Codes
    codes: Codes | None = None
    are_of_domains: bool = False
    """They name domains, whose counts pods on other nodes change."""

    def of(self, row: int) -> int:
        """The number of one node."""
        return int(self.values[row if self.codes is None else self.codes[row]])

    def everywhere(self) -> Integers | Codes:
        """The numbers of all nodes."""
        return self.values if self.codes is None else self.values.take(self.codes)

    def at(self, rows: Rows) -> Integers | Codes:
        """The numbers of some nodes."""
        return self.values.take(rows if self.codes is None else self.codes.take(rows))

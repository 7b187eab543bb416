"""Counts that each of many equal pods raises alike, and what plugins make of them, kept as plain numbers.

A pod changes few numbers, which costs less than to write a state anew and to ask about all nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kubectl_sched.snapshot.array_types import Codes, Integers, Mask


class ReplicaCounts:
    """Counts of the domains of one topology key: `counts[domain_of[row]]` is that of a node.

    One more of the pods on the node raises it by `raises[row]`.
    """

    def __init__(
        self, domain_of: Codes, counts: Integers, raises: Integers | Mask, *, tells_domains: bool = False
    ) -> None:
        """`counts` has one number a domain, the others one a node.

        `tells_domains` makes the numbers of nodes tell their domains even if no pod is counted.
        """
        raises = raises.astype(np.int64)
        self.domain_of: list[int] = domain_of.tolist()
        self.counts: list[int] = counts.tolist()
        self.raises: list[int] = raises.tolist()
        self.are_of_nodes = int(np.bincount(domain_of).max()) == 1
        """No two nodes have the same domain."""

        self.are_shared = not self.are_of_nodes and (tells_domains or bool(raises.any()))
        """Pods on one node may raise the counts of others, too."""

        self.numbers = domain_of if self.are_shared else counts.take(domain_of)
        """int[n]: nodes with equal numbers and `steps` have equal counts, now and after further pods."""

        self.steps = np.zeros_like(raises) if self.are_shared else raises
        """int64[n]: one more of the pods on a node raises its number by so much."""


class ReplicaVerdicts(ABC):
    """A plugin's verdicts for one more of equal pods; they differ between nodes with different counts alone."""

    def __init__(self, counts: Sequence[ReplicaCounts]) -> None:
        self.counts = counts
        self.key: Hashable = 0
        """While it is equal, nodes whose own numbers are equal have the same verdict."""

    @abstractmethod
    def place(self, row: int) -> None:
        """One more of the pods runs on the row's node."""

    @abstractmethod
    def passes(self, row: int) -> bool:
        """Report whether one more of the pods may run on the row's node."""


class ReplicaRawScores:
    """A plugin's raw scores for one more of equal pods: the sums of counts, unless a subclass has them otherwise."""

    depends_on_feasible_count = False
    """The number of feasible nodes matters."""

    def __init__(self, counts: Sequence[ReplicaCounts]) -> None:
        self.counts = counts
        self.are_shared = any(each.are_shared for each in counts)

    def place(self, row: int) -> None:
        """One more of the pods runs on the row's node."""
        for each in self.counts:
            each.counts[each.domain_of[row]] += each.raises[row]

    def of(self, rows: Sequence[int], feasible_count: int) -> list[int]:  # noqa: ARG002 - for others
        """The raw score of each row. Each feasible node has the same numbers as one of these rows."""
        counts = self.counts
        return [sum([each.counts[each.domain_of[row]] for each in counts]) for row in rows]

"""A change of one thing, to the pod or to a node, and what a replay says it would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod


class Change(Record, frozen=True):
    """One thing to change, in words that follow `it would fit on w1`, and the command that changes it.

    Exactly one of `pod` and `node` is set: what the pod becomes, or which node becomes what.
    """

    text: str
    command: str
    pod: Callable[[Pod], Pod] | None = None
    node_name: str | None = None
    node: Callable[[Node], Node] | None = None
    caution: str | None = None
    """What the change gives up, where it weakens something."""


class Suggestion(Record, frozen=True):
    """A change that was replayed, where the pod would then land (all of the tied), and how many nodes it would fit."""

    change: Change
    nodes: tuple[str, ...]
    feasible_count: int

    @property
    def text(self) -> str:
        """The sentence."""
        where = self.nodes[0] if self.feasible_count == 1 else f"{self.feasible_count:,} nodes"
        caution = f" ({self.change.caution})" if self.change.caution else ""
        return f"It would fit on {where} {self.change.text}{caution}."

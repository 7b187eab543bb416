"""The budget of what explains one result: evidence, near misses, suggestions, and the cycles that they try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.framework.cycle_budget import ANSWER, BudgetEnded, CycleLimits, GroupBudget

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

LARGEST: Final = 32 << 10
"""Bytes of JSON: some hundreds of tolerations, constraints, selectors or ports. Real pods have a tenth of it."""

EXPLANATION: Final = CycleLimits(steps=20_000_000, memory=4 << 30)
"""About twenty seconds; a cycle of an ordinary pod takes some ten thousand steps."""

_STEPS_OF_A_PART: Final = 200
"""For a piece of evidence, a clause, or the changes that would help on one node."""


class ExplanationBudget(GroupBudget):
    """Counts the work of all that explains one result, as the budget of a group counts that of its members."""

    __slots__ = ("_of_nodes",)

    def __init__(self, pod: Pod, limits: CycleLimits = EXPLANATION) -> None:
        """Nothing is explained of a pod that is larger than any real one."""
        super().__init__(ANSWER, limits)
        self._of_nodes: tuple[str, ...] = ()
        if len(msgspec.json.encode(pod.spec)) > LARGEST:
            self.close(f"no evidence and no suggestion is searched: the pod's spec is over {LARGEST >> 10} KiB")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for each thing that was left out."""
        return (*((self.ended,) if self.ended is not None else ()), *self._of_nodes)

    @property
    def is_over(self) -> bool:
        """Report whether nothing is left."""
        return self.ended is not None

    def allows(self, pods: int) -> bool:
        """Count a part of the explanation over so many existing pods; False if it may not be begun."""
        try:
            self.spend(_STEPS_OF_A_PART)
            self.spend_on_arrays(1, pods)
        except BudgetEnded:
            return False
        return True

    def takes_node(self, node: Node) -> bool:
        """Report whether the node is small enough to be searched for changes of it."""
        if len(msgspec.json.encode((node.metadata.labels, node.spec))) <= LARGEST:
            return True
        self._of_nodes = (f"no change is suggested for nodes whose labels and taints are over {LARGEST >> 10} KiB",)
        return False

    @property
    def _too_much_work(self) -> str:
        return f"the search for evidence and suggestions was stopped after {self.limits.steps:,} steps of work"

    @property
    def _too_much_memory(self) -> str:
        return f"the search for evidence and suggestions was stopped at {self.limits.memory >> 20:,} MiB of memory"

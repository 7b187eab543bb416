"""Ties in a make-room plan: every tied node is tried. Where the plan needs one, the other nodes are cordoned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.simulation.relocation import CORDON, UNCORDON, Step, carried_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.relocation import Outcome, Relocation

MOST_PINNED: Final = 10
"""A plan that would cordon more nodes than this to pin a tie is given up."""

FOLLOWED: Final = 10
"""The number of other tied nodes on which the rest of a plan is tried for each tie."""

FEW: Final = 3
"""The most other tied nodes with which the ties that come after are followed from each, as their number multiplies."""


class TiePins:
    """Pins the ties of plans for pods; `ahead` are the pending pods before them in the queue."""

    def __init__(self, relocation: Relocation, pods: Sequence[Pod], ahead: Sequence[Pod]) -> None:
        self._relocation = relocation
        self._pods = pods
        self._ahead = ahead

    def pinned(self, outcome: Outcome) -> Outcome | None:
        """Return the plan with cordons around each tie that it depends on; None if cordons do not settle them."""
        steps: list[Step] = []
        for index, step in enumerate(outcome.steps):
            others = [] if self._holds(outcome, index) else _others(step)
            if len(others) > MOST_PINNED:
                return None
            steps += (Step(action=CORDON, node=name) for name in others)
            steps.append(step)
            steps += (Step(action=UNCORDON, node=name) for name in others)
        if len(steps) == len(outcome.steps):
            return outcome
        found = carried_out(self._relocation, self._pods, steps, outcome.before[0], self._ahead)
        if found is None or not all(self._holds(found, index) for index in range(len(found.steps))):
            return None
        return found

    def _holds(self, outcome: Outcome, index: int) -> bool:
        """Report whether the rest of the plan goes through wherever else the pod of this step lands.

        Where few nodes are tied, the ties that come after it there are followed, too.
        """
        rest = [replace(step, lands=None) for step in outcome.steps[index + 1 :]]
        here, others = outcome.steps[index], _others(outcome.steps[index])
        for name in others[:FOLLOWED]:
            steps = [replace(here, lands=name), *rest]
            found = carried_out(self._relocation, self._pods, steps, outcome.before[index], self._ahead)
            if found is None:
                return False
            if len(others) <= FEW and not all(self._holds(found, later) for later in range(1, len(found.steps))):
                return False
        return True


def pinned_nodes(steps: Sequence[Step], own: AbstractSet[str]) -> Iterator[str]:
    """Yield the nodes that are cordoned though no pod leaves them and none of the target lands there (`own`)."""
    unused: set[str] = set()
    for step in steps:
        if step.action == CORDON:
            unused.add(step.node)
        elif step.pod is not None:
            unused.discard(step.node)
        elif step.node in unused - own:
            yield step.node


def _others(step: Step) -> list[str]:
    return [name for name in step.tied if name != step.lands]

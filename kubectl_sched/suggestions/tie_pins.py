"""Ties in a plan: followed on each of the tied nodes, and pinned by cordons where the plan depends on one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.simulation.relocation import CORDON, UNCORDON, Step, carried_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.relocation import Outcome, Relocation

MOST_PINNED: Final = 10
"""A plan that would cordon more nodes than this to pin a tie is given up."""

FOLLOWED: Final = 10
"""The number of other tied nodes on which the rest of a plan is tried for each tie."""


class TiePins:
    """Pins the ties of plans for pods; `ahead` are the pending pods before them in the queue."""

    def __init__(self, relocation: Relocation, pods: Sequence[Pod], ahead: Sequence[Pod]) -> None:
        self._relocation = relocation
        self._pods = pods
        self._ahead = ahead

    def pinned(self, outcome: Outcome) -> Outcome | None:
        """Return the plan with cordons around each tie that it depends on; None if cordons do not settle them."""
        steps: list[Step] = []
        pins: list[str] = []
        for index, step in enumerate(outcome.steps):
            others = _others(step)
            if not self._holds(outcome, index):
                if len(others) > MOST_PINNED:
                    return None
                fresh = [name for name in others if name not in pins]
                steps += (Step(action=CORDON, node=name) for name in fresh)
                pins += fresh
            steps.append(step)
        if not pins:
            return outcome
        steps += (Step(action=UNCORDON, node=name) for name in pins)
        found = carried_out(self._relocation, self._pods, steps, outcome.before[0], self._ahead)
        if found is None or not all(self._holds(found, index) for index in range(len(found.steps))):
            return None
        return found

    def _holds(self, outcome: Outcome, index: int) -> bool:
        """Report whether the rest of the plan goes through wherever else the pod of this step lands."""
        rest = [replace(step, lands=None) for step in outcome.steps[index + 1 :]]
        here = outcome.steps[index]
        return all(
            carried_out(
                self._relocation,
                self._pods,
                [replace(here, lands=name), *rest],
                outcome.before[index],
                self._ahead,
            )
            is not None
            for name in _others(here)[:FOLLOWED]
        )


def _others(step: Step) -> list[str]:
    return [name for name in step.tied if name != step.lands]

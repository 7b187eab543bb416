"""The budget of one scheduling cycle: work is counted before it is done, and memory before it is taken.

A pod decides what its cycle costs: plugins multiply its terms by the distinct values of nodes and pods. The budget ends
a cycle that no real pod needs, and nothing in it depends on a clock.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kubectl_sched.record import Record

_ENTRIES_A_STEP: Final = 1000
_LOOKS_A_STEP: Final = 8
_STEPS_OF_A_DRY_RUN: Final = 1000
"""For each pod that may be taken off its node and put back, with the filters that are run again."""

_CALL: Final = 4
"""Steps that numpy takes for any array, however short."""


class CycleLimits(Record, frozen=True, kw_only=True):
    """The most that one cycle may take.

    A step is what an ordinary Python function takes, about a microsecond, or 1,000 entries of an array.
    """

    steps: int
    memory: int
    """Bytes of arrays and of lists that one cycle holds at once."""
    keeps_time: bool = False
    """True if kube-scheduler's own time-outs hold, too, as for a scheduler; an explanation knows no clock."""


ANSWER: Final = CycleLimits(steps=60_000_000, memory=4 << 30)
"""For one pod of an answer that somebody waits for: about a minute."""

SERVICE: Final = CycleLimits(steps=2_000_000, memory=256 << 20, keeps_time=True)
"""For one pod of a scheduler that serves others, too: about two seconds."""


HINT: Final = CycleLimits(steps=20_000, memory=1 << 20)
"""For one event and one pod that waits: a hint that takes longer than a small cycle saves nothing."""

UNLIMITED: Final = CycleLimits(steps=1 << 62, memory=1 << 62)
"""For what follows a cycle that did not end, where each of many equal pods takes a part of that cycle's work."""


class BudgetEnded(Exception):  # noqa: N818 - what happens, not a mistake
    """The work that comes next is more than the cycle may still take."""


class CycleBudget:
    """Counts the work and the memory of one cycle; once it has ended, nothing more is allowed."""

    __slots__ = ("_whole", "ended", "limits", "memory", "steps")

    def __init__(self, limits: CycleLimits = ANSWER, whole: CycleBudget | None = None) -> None:
        """`whole` is the budget of which this one is a part: it ends with it."""
        self.limits = limits
        self._whole = whole
        self.steps = 0
        self.memory = 0
        self.ended: str | None = None
        """A clause that says what ended the cycle; None while it may go on."""

    def spend(self, steps: int) -> None:
        """Count work that is about to be done; raise BudgetEnded if it is too much."""
        self.steps += steps
        if self.ended is not None or self.steps > self.limits.steps:
            self._end(f"more than {self.limits.steps:,} steps of work")

    @property
    def left(self) -> int:
        """Return how many steps may still be spent."""
        return max(self.limits.steps - self.steps, 0) if self.ended is None else 0

    def spend_on_arrays(self, arrays: int, length: int) -> None:
        """Count that many operations on arrays of a length."""
        self.spend(arrays * (_CALL + length // _ENTRIES_A_STEP))

    def spend_on_entries(self, entries: int) -> None:
        """Count entries that are looked at one after the other, by code as short as a look into a dictionary."""
        self.spend(entries // _LOOKS_A_STEP)

    def hold(self, size: int) -> None:
        """Count bytes that are about to be taken and kept; raise BudgetEnded if they are too many."""
        self.memory += size
        if self.ended is not None or self.memory > self.limits.memory:
            self._end(f"more than {self.limits.memory >> 20:,} MiB of memory")

    def release(self, size: int) -> None:
        """Count bytes that were held and are free again."""
        self.memory -= size

    def renewed(self) -> CycleBudget:
        """Return a budget of the same limits that nothing was taken from."""
        return CycleBudget(self.limits)

    def for_dry_run(self, pods: int) -> CycleBudget:
        """Return a budget of its own for a dry run over so many existing pods, which are no work of the pod's."""
        steps = self.limits.steps + _STEPS_OF_A_DRY_RUN * pods
        return CycleBudget(replace(self.limits, steps=steps), self)

    def _end(self, needs: str) -> None:
        if self.ended is None:
            self.ended = f"its cycle needs {needs}, the most that one cycle may take"
            if self._whole is not None:
                self._whole.ended = self.ended
        raise BudgetEnded(self.ended)

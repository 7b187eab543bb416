"""The budget of one scheduling cycle: work is counted before it is done, and memory before it is taken.

A pod decides what its cycle costs: plugins multiply its terms by the distinct values of nodes and pods. The budget ends
a cycle that no real pod needs, and nothing in it depends on a clock.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kubectl_sched.record import Record

STEPS_A_SECOND: Final = 1_000_000
"""A step is about a microsecond."""

_ENTRIES_A_STEP: Final = 1000
_LOOKS_A_STEP: Final = 8
_STEPS_OF_A_DRY_RUN: Final = 1000
"""For each pod that may be taken off its node and put back, with the filters that are run again."""

_CALL: Final = 4
"""Steps that numpy takes for any array, however short."""

_CYCLES_OF_A_GROUP: Final = 10
_MEMORY_OF_A_GROUP: Final = 4
"""A group has so many times the limits of one pod; the results of its members are all there at its end."""

_ARRAYS_OF_A_MEMBER: Final = 200
_BYTES_OF_A_NODE: Final = 50
_BYTES_OF_A_ROW: Final = 100
"""For each member and placement: its verdicts on all nodes, and its scores of those of the placement."""


_MOST: Final = "the most that one cycle may take"
_CANCELLED: Final = "its cycle was cancelled, as the program was asked to end"


class Cancellation:
    """A request to end whatever cycle is under way, made by another thread or by a signal handler."""

    __slots__ = ("_asked",)

    def __init__(self) -> None:
        self._asked = False

    def ask(self) -> None:
        """End each cycle before the next work that it counts."""
        self._asked = True

    @property
    def is_asked(self) -> bool:
        """Report whether cycles are to end."""
        return self._asked


class ChargedWork:
    """Steps that namespaces cause beside the cycles of their own pods, until somebody takes them."""

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}

    def add(self, namespace: str, steps: int) -> None:
        """Charge a namespace with work."""
        self._steps[namespace] = self._steps.get(namespace, 0) + steps

    def take(self) -> dict[str, int]:
        """Return the steps by namespace since the last time."""
        taken, self._steps = self._steps, {}
        return taken


class CycleLimits(Record, frozen=True, kw_only=True):
    """The most that one cycle may take.

    A step is what an ordinary Python function takes, about a microsecond, or 1,000 entries of an array.
    """

    steps: int
    memory: int
    """Bytes of arrays and of lists that one cycle holds at once."""
    keeps_time: bool = False
    """True if kube-scheduler's own time-outs hold, too, as for a scheduler; an explanation knows no clock."""
    cancellation: Cancellation | None = None
    """Ends all cycles with these limits; None if nothing asks for that."""

    charged: ChargedWork | None = None
    """Takes in what namespaces cause beside their own pods' cycles; None where nobody shares the time out."""

    @property
    def are_cancelled(self) -> bool:
        """Report whether the cycles with these limits were asked to end."""
        return self.cancellation is not None and self.cancellation.is_asked

    @property
    def of_group(self) -> CycleLimits:
        """Return the limits of a group whose members have these; none has more memory than an answer."""
        memory = max(self.memory, min(_MEMORY_OF_A_GROUP * self.memory, ANSWER.memory))
        return replace(self, steps=_CYCLES_OF_A_GROUP * self.steps, memory=memory)

    def of_dry_run(self, pods: int) -> CycleLimits:
        """Return the limits of a dry run over so many existing pods.

        They are no work of the pod's; but where others wait, a dry run may take no longer than a cycle.
        """
        return self if self.keeps_time else replace(self, steps=self.steps + _STEPS_OF_A_DRY_RUN * pods)


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

    __slots__ = ("_group", "_subject", "_whole", "ended", "limits", "memory", "steps")

    def __init__(
        self,
        limits: CycleLimits = ANSWER,
        whole: CycleBudget | None = None,
        group: GroupBudget | None = None,
        subject: str = "its cycle",
    ) -> None:
        """`whole` and `group` end with this budget; its work and memory count as the group's, too.

        `subject` is what needs too much where the budget ends.
        """
        self.limits = limits
        self._subject = subject
        self._whole = whole
        self._group = group
        self.steps = 0
        self.memory = 0
        self.ended: str | None = None
        """A clause that says what ended the cycle; None while it may go on."""

    def spend(self, steps: int) -> None:
        """Count work that is about to be done; raise BudgetEnded if it is too much."""
        self.steps += steps
        if self.limits.are_cancelled:
            self._end(_CANCELLED)
        if self.ended is not None or self.steps > self.limits.steps:
            self._end(self._too_much_work)
        if self._group is not None:
            self._group.steps += steps
            self._end_with_group()

    @property
    def left(self) -> int:
        """Return how many steps may still be spent."""
        if self.ended is not None:
            return 0
        left = max(self.limits.steps - self.steps, 0)
        return left if self._group is None else min(left, self._group.left)

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
            self._end(self._too_much_memory)
        if self._group is not None:
            self._group.memory += size
            self._end_with_group()

    def release(self, size: int) -> None:
        """Count bytes that were held and are free again."""
        self.memory -= size
        if self._group is not None:
            self._group.memory -= size

    def charge(self, namespace: str, steps: int) -> None:
        """Count work that existing pods of a namespace cause: the namespace bears it, and no cycle ends of it."""
        if self.limits.charged is not None and steps:
            self.limits.charged.add(namespace, steps)

    def for_dry_run(self, pods: int) -> CycleBudget:
        """Return a budget of its own for a dry run over so many existing pods."""
        group = self._group.for_dry_run(pods) if self._group is not None else None
        return CycleBudget(self.limits.of_dry_run(pods), self, group, "the dry run of its preemption")

    @property
    def _too_much_work(self) -> str:
        return f"{self._subject} needs more than {self.limits.steps:,} steps of work, {_MOST}"

    @property
    def _too_much_memory(self) -> str:
        return f"{self._subject} needs more than {self.limits.memory >> 20:,} MiB of memory, {_MOST}"

    def _end(self, why: str) -> None:
        self.close(why)
        raise BudgetEnded(self.ended)

    def close(self, why: str) -> None:
        """End the budget, and those that it is a part of; the clause of the first end stands."""
        if self.ended is None:
            self.ended = why
            for each in (self._whole, self._group):
                if each is not None:
                    each.close(why)

    def _end_with_group(self) -> None:
        group = self._group
        if group is not None and (why := group.exceeded) is not None:
            self._end(why)


class GroupBudget(CycleBudget):
    """The budget of a group's cycle: each member has its own limits, and all of them together those of the group."""

    __slots__ = ("_dry_runs", "_of_member")

    def __init__(
        self,
        of_member: CycleLimits,
        limits: CycleLimits | None = None,
        whole: CycleBudget | None = None,
        subject: str = "the cycle of the whole group",
    ) -> None:
        """Without limits of its own, the group has those that follow from its members'."""
        super().__init__(limits or of_member.of_group, whole, subject=subject)
        self._of_member = of_member
        self._dry_runs: GroupBudget | None = None

    def for_member(self, nodes: int, rows: int) -> CycleBudget:
        """Return the budget of one member's cycle over so many nodes, of which so many rows are in the placement."""
        self.steps += _ARRAYS_OF_A_MEMBER * (_CALL + nodes // _ENTRIES_A_STEP)
        self.memory += _BYTES_OF_A_NODE * nodes + _BYTES_OF_A_ROW * rows
        return CycleBudget(self._of_member, group=self, subject="the cycle of one member")

    def for_dry_run(self, pods: int) -> GroupBudget:
        """Return the budget that all dry runs of the cycle share, those of its members and of the group."""
        if self._dry_runs is None:
            of_member, limits = self._of_member.of_dry_run(pods), self.limits.of_dry_run(pods)
            self._dry_runs = GroupBudget(of_member, limits, self, "the dry run of the group's preemption")
        return self._dry_runs

    @property
    def exceeded(self) -> str | None:
        """A clause that says what ended the group's cycle, or ends it now; None while it may go on."""
        if self.ended is not None:
            return self.ended
        if self.steps > self.limits.steps:
            return self._too_much_work
        return self._too_much_memory if self.memory > self.limits.memory else None

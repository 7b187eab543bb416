"""The errors that end an allocation."""

from __future__ import annotations

from kubectl_sched.framework.golang import crash_of


class AllocationFailed(Exception):  # noqa: N818 - upstream's words are failures, not errors of this program
    """Something is wrong with a claim, a class or a slice: the whole cycle fails with this text."""


class SchedulerCrashes(AllocationFailed):
    """The real scheduler ends here with a panic of this text; it is shown as an error of the cycle."""

    def __init__(self, panic: str) -> None:
        super().__init__(crash_of(panic))


class FailedAllocationOnNode(AllocationFailed):
    """Something is wrong, but only for this node (ErrFailedAllocationOnNode)."""


class SearchTooLong(AllocationFailed):
    """Trying all devices takes so long that the real scheduler's filter timeout would end it."""

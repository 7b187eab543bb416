"""The verdict of a plugin on a pod, or on a pod and a node (k8s.io/kube-scheduler/framework/interface.go)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kubectl_sched.snapshot import Column
    from kubectl_sched.snapshot.array_types import Mask


class Code(Enum):
    """The values are what kube-scheduler prints, but for UNKNOWN, which is ours.

    A bug, or an ended budget, keeps a plugin from judging then.
    """

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"
    UNKNOWN = "Unknown"


REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})
"""The codes that mean "not here" rather than "something broke" (Status.IsRejected)."""


class Status(NamedTuple):
    """A verdict: a code, its reasons, and the plugin that gave it (set by the runtime)."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str | None = None

    @property
    def is_success(self) -> bool:
        """Report whether nothing stands against it."""
        return self.code is Code.SUCCESS

    @property
    def is_rejected(self) -> bool:
        """Report whether it is an expected "no"."""
        return self.code in REJECTED

    @property
    def message(self) -> str:
        """The reasons as kube-scheduler joins them."""
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the status, attributed to a plugin."""
        return self._replace(plugin=plugin)


SUCCESS = Status()
SKIP = Status(Code.SKIP)

NodeToStatus: TypeAlias = "Column[Status]"
"""One verdict a node."""


def passing(verdict: NodeToStatus) -> Mask:
    """bool[n]: the nodes that nothing stands against."""
    return verdict.where(lambda status: status.is_success)


def unschedulable(*reasons: str) -> Status:
    """Removing pods might help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """UnschedulableAndUnresolvable: preemption cannot help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(reason: str) -> Status:
    """Something broke: kube-scheduler fails the whole cycle with it."""
    return Status(Code.ERROR, (reason,))

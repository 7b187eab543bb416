"""Keeps pods that still carry scheduling gates out of the queue (plugins/schedulinggates/scheduling_gates.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.framework.interface import PreEnqueuePlugin
from kubectl_sched.framework.status import SUCCESS, Status, unresolvable

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot


class SchedulingGates(PreEnqueuePlugin):
    """A gate is taken off by whoever put it on; the scheduler only waits."""

    name: ClassVar[str] = "SchedulingGates"

    def pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """Unresolvable while there is any gate, all of them named."""
        if not pod.spec.scheduling_gates:
            return SUCCESS
        gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        return unresolvable(f"waiting for scheduling gates: [{gates}]")

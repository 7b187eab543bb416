"""Binds the pod to its node (plugins/defaultbinder/default_binder.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.framework.interface import BindingAction, BindingCyclePlugin

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.snapshot import Snapshot


class DefaultBinder(BindingCyclePlugin):
    """Posts the Binding, from which the API server sets spec.nodeName."""

    name: ClassVar[str] = "DefaultBinder"

    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """The one Binding."""
        action = f"bind pod {pod.key} to node {nodes.names[row]}"
        return (BindingAction(extension_point="bind", plugin=self.name, action=action),)

"""Reads what only few objects are asked for, from the text that they were decoded from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.api.pod import any_gated
from kubectl_sched.sources.discovery.scheduler_flags import any_karpenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject


def note_rare_fields(objects: Sequence[KubernetesObject], read: Any) -> None:
    """Note who set pods' gates, and the environment of Karpenter. `read` is the objects' JSON or plain value."""
    if any_gated(objects):
        from kubectl_sched.sources.gate_managers import note_gate_managers

        note_gate_managers(objects, read)
    if any_karpenter(objects):
        from kubectl_sched.sources.karpenter_variables import note_karpenter_variables

        note_karpenter_variables(objects, read)

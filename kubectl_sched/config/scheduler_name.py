"""The scheduler that a pod asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod


def scheduler_name_of(pod: Pod) -> str:
    """The schedulerName; the API server never stores an empty one, and a dump written by hand means its default."""
    return pod.spec.scheduler_name or DEFAULT_SCHEDULER_NAME

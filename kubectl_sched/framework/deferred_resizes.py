"""Pods that wait to be resized on their node, for which the scheduler keeps room there."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.handle import Handle


def grows_in_place(handle: Handle) -> Callable[[Pod], bool]:
    """Report whether a pod only waits for room to grow on its node; most plugins then have nothing to say."""
    if handle.features.enabled("InPlacePodVerticalScalingSchedulerPreemption"):
        return attrgetter("is_resize_deferred")
    return lambda pod: False  # noqa: ARG005 - no pod does

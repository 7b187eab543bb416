"""What a plugin may know of the scheduler it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.config.features import Features
    from kubectl_sched.config.types import Extender
    from kubectl_sched.config.versions import KubeVersion, Release
    from kubectl_sched.framework.extenders import ExtenderClient


class Handle(Record, frozen=True):
    """Given to each plugin's constructor, after its args."""

    version: KubeVersion
    release: Release
    features: Features
    extenders: tuple[Extender, ...] = ()
    """As configured, in the order in which they are asked."""
    parallelism: int = 16
    extender_client: ExtenderClient | None = None
    """How extenders are reached; None where they are not asked."""

"""What a manifest is refused with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod


class RefusedError(SchedError):
    """The API server would not store the pod: `field` is the path, empty where it is about the pod as a whole."""

    def __init__(self, pod: Pod, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        path = f"{field}: " if field else ""
        super().__init__(f"pod {pod.metadata.namespace}/{pod.metadata.name} would be refused: {path}{reason}")

"""The budget of what explains one result, so that no pod and no node makes the search for evidence or help endless."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from typing import Self

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

LARGEST = 32 << 10
"""Bytes of JSON: some hundreds of tolerations, constraints, selectors or ports. Real pods have a tenth of it."""

SECONDS = 20.0


class ExplanationBudget:
    """The time that evidence and suggestions may take together. `warnings` says what was left out for it."""

    def __init__(self, pod: Pod, seconds: float = SECONDS) -> None:
        self.warnings: tuple[str, ...] = ()
        self._seconds = seconds
        self._used = 0.0
        self._since = 0.0
        self._depth = 0
        if len(msgspec.json.encode(pod.spec)) > LARGEST:
            self._seconds = 0.0
            self._warn(f"no evidence and no suggestion is searched: the pod's spec is over {LARGEST >> 10} KiB")

    def running(self) -> Self:
        """Count the time of what happens within, once if it is nested."""
        return self

    def __enter__(self) -> Self:
        if self._depth == 0:
            self._since = time.monotonic()
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._used += time.monotonic() - self._since

    def is_over(self) -> bool:
        """Report whether nothing is left."""
        running = time.monotonic() - self._since if self._depth else 0.0
        if self._used + running < self._seconds:
            return False
        if self._seconds:
            self._warn(f"the search for evidence and suggestions was stopped after {self._seconds:g} s")
        return True

    def takes_node(self, node: Node) -> bool:
        """Report whether the node is small enough to be searched for changes of it."""
        if len(msgspec.json.encode((node.metadata.labels, node.spec))) <= LARGEST:
            return True
        self._warn(f"no change is suggested for nodes whose labels and taints are over {LARGEST >> 10} KiB")
        return False

    def _warn(self, sentence: str) -> None:
        self.warnings = tuple(dict.fromkeys((*self.warnings, sentence)))

"""The budget of what explains one result, so that no pod and no node makes the search for evidence or help endless."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self._since: float | None = None
        if len(msgspec.json.encode(pod.spec)) > LARGEST:
            self._seconds = 0.0
            self._warn(f"no evidence and no suggestion is searched: the pod's spec is over {LARGEST >> 10} KiB")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of what happens within, once if it is nested."""
        if self._since is not None:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._used += time.monotonic() - self._since
            self._since = None

    def is_over(self) -> bool:
        """Report whether nothing is left."""
        now = time.monotonic()
        if self._used + now - (self._since or now) < self._seconds:
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

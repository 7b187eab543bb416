"""Keeps what was parsed of the latest pods, so that each pod is parsed once as long as it stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod

T = TypeVar("T")

_MOST: Final = 1 << 17
"""Terms that are kept over all pods, of less than a kilobyte each."""


class ParsedPods(Generic[T]):
    """Values by the pod's name, each valid for the very same fields. Replicas share their fields, and so one value."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[tuple[object, ...], T, int]] = {}
        self._size = 0
        self._latest: tuple[tuple[object, ...], T] | None = None

    def of(self, pod: Pod, fields: tuple[object, ...], size: int, parse: Callable[[], T]) -> T:
        """Return what the fields of the pod parse to; `size` is the number of their terms."""
        if self._latest is not None and _are_same(self._latest[0], fields):
            return self._latest[1]
        key = (pod.metadata.namespace, pod.metadata.name)
        kept = self._kept.get(key)
        if kept is None or not _are_same(kept[0], fields):
            self._forget(key)
            kept = (fields, parse(), size)
            while self._kept and self._size + size > _MOST:
                self._forget(next(iter(self._kept)))
            self._kept[key] = kept
            self._size += size
        self._latest = kept[:2]
        return kept[1]

    def _forget(self, key: tuple[str, str]) -> None:
        gone = self._kept.pop(key, None)
        self._size -= 0 if gone is None else gone[2]


def _are_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Report whether the fields are the very same objects; only a text, as a namespace, is compared."""
    return all(one is other or (isinstance(one, str) and one == other) for one, other in zip(some, others, strict=True))

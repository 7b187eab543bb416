"""The question that a hint answers: a pod that was rejected, and what has happened since."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.features import Features
    from kubectl_sched.config.versions import Release
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.framework.interface import Plugin
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot

    T = TypeVar("T", bound=KubernetesObject)
    P = TypeVar("P", bound=Plugin)


class HintQuestion(NamedTuple):
    """A pod that one plugin has rejected, and one object before and after an event."""

    pod: Pod
    old: KubernetesObject | None
    new: KubernetesObject | None
    framework: Framework
    """That of the pod's profile."""
    cluster: Callable[[], Snapshot]
    """Gives a snapshot whose objects besides nodes and pods are up to date."""
    budget: CycleBudget
    """The work that the answer may take."""

    @property
    def features(self) -> Features:
        """The feature gates."""
        return self.framework.handle.features

    @property
    def release(self) -> Release:
        """The minor that is replayed."""
        return self.framework.handle.release

    def both(self, kind: type[T]) -> tuple[T | None, T | None]:
        """The object before and after the event."""
        old, new = self.old, self.new
        return old if isinstance(old, kind) else None, new if isinstance(new, kind) else None

    def after(self, kind: type[T]) -> tuple[T | None, T]:
        """The object before and after an event that is no deletion."""
        old, new = self.both(kind)
        assert new is not None  # noqa: S101 - the event's action says so
        return old, new

    def plugin(self, kind: type[P]) -> P:
        """The plugin that rejected the pod."""
        found = self.framework.plugins[kind.name]
        assert isinstance(found, kind)  # noqa: S101 - in-tree plugins are known by their names
        return found

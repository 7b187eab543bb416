"""Kinds of claims: all that any plugin reads of a pod's own claims and their volumes, so that names are left out.

Replicas whose claims are bound to volumes in three zones are of three kinds. Where existing volumes are open to claims,
there are fewer with each pod: a verdict on a node follows from the volumes that its pod would be bound to, so that the
nodes for which one of these is taken are asked about again, and no others.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.plugins.volume_binding.volume_outcome import BIND_CONFLICT, PodVolumes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from kubectl_sched.api.storage import PersistentVolume
    from kubectl_sched.plugins.volume_binding.binder import Binder
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

_FEW = 8


class ClaimKind:
    """The nodes that pass the plugins which look at claims, and the points that these give them."""

    is_judged = True
    """One more of the pods needs no whole cycle."""

    version = 0
    """Another one each time that others pass."""

    changed: Sequence[int] = ()
    """The rows whose verdict has changed so far, in that order."""

    few: Sequence[int] | None = None
    """The rows that pass where they are few and always the same."""

    def __init__(self, rows: Sequence[int], count: int, points: Integers | None) -> None:
        """The rows that pass, of how many, and int64[n], points times the weights; None where nobody scores claims."""
        self._rows = rows
        self._count = count
        self.points = points
        if len(rows) <= _FEW:
            self.few = rows

    @property
    def rows(self) -> Rows:
        """The rows that pass, in their order."""
        return np.array(self._rows, dtype=np.intp)

    @cached_property
    def passes(self) -> Mask:
        """bool[n]: the nodes that pass."""
        mask: Mask = np.zeros(self._count, dtype=np.bool_)
        mask[self.rows] = True
        return mask

    def passes_on(self, row: int) -> bool:
        """Report whether the row's node passes."""
        return bool(self.passes[row])

    def taken_on(self, _: int) -> Mapping[str, PersistentVolume]:
        """The existing volumes that one more of the pods takes on the row's node, by the names of nobody's claims."""
        return {}

    def follow(self, taken: Sequence[PersistentVolume]) -> None:
        """Be up to date with these volumes taken, of which there may be more than the last time."""


class OpenKind(ClaimKind):
    """A kind of claims that existing volumes are open to."""

    def __init__(
        self, binder: Binder, nodes: Snapshot, others: Mask, points: Callable[[PodVolumes], int] | None
    ) -> None:
        """`others` are the nodes that pass all plugins but VolumeBinding, which gives the points."""
        super().__init__((), len(others), None)
        self.few = None
        self._binder = binder
        self._others = others
        self._points = points
        self._seen = 0
        self._nodes = binder.kinds(nodes)
        self._code_of: list[int] = self._nodes.codes.tolist()
        # Until it is asked about, no kind of node passes.
        self._outcomes = [PodVolumes(reasons=(BIND_CONFLICT,))] * len(self._nodes.values)
        self._chosen_by: dict[str, set[int]] = {}
        self._passes_on: Mask = np.zeros(len(self._outcomes), dtype=np.bool_)
        self._points_on: Integers = np.zeros(len(self._outcomes), dtype=np.int64)
        self.changed: list[int] = []
        self._passes: Mask = others
        self._passes_version = -1
        self._ask(range(len(self._outcomes)))

    @property
    def rows(self) -> Rows:
        """The rows that pass, in their order."""
        return self.passes.nonzero()[0]

    @property
    def passes(self) -> Mask:
        """bool[n]: the nodes that pass."""
        if self._passes_version != self.version:
            self._passes, self._passes_version = self._others & self._passes_on.take(self._nodes.codes), self.version
        return self._passes

    def passes_on(self, row: int) -> bool:
        """Report whether the row's node passes."""
        return bool(self._others[row] and self._passes_on[self._code_of[row]])

    def taken_on(self, row: int) -> Mapping[str, PersistentVolume]:
        """Those that VolumeBinding binds the claims to."""
        return {claim.name: volume for claim, volume in self._outcomes[self._code_of[row]].static_bindings}

    def follow(self, taken: Sequence[PersistentVolume]) -> None:
        """Ask again about the nodes whose pods would have had one of these volumes."""
        changed: set[int] = set()
        for volume in taken[self._seen :]:
            self._binder.leave_out(volume)
            changed |= self._chosen_by.pop(volume.name, set())
        self._seen = len(taken)
        if changed:
            self._ask(changed)

    def _ask(self, codes: Collection[int]) -> None:
        """Ask about nodes of these kinds."""
        others = []
        for code in codes:
            before, outcome = self._outcomes[code], self._binder.on(self._nodes.values[code])
            self._outcomes[code] = outcome
            for _, volume in outcome.static_bindings:
                self._chosen_by.setdefault(volume.name, set()).add(code)
            if _passes(before) != _passes(outcome):
                others.append(code)
        if others:
            self._passes_on[others] = [_passes(self._outcomes[code]) for code in others]
            self.changed += np.isin(self._nodes.codes, others).nonzero()[0].tolist()
            self.version += 1
        if self._points is not None:
            self._weigh(codes, self._points)

    def _weigh(self, codes: Collection[int], points: Callable[[PodVolumes], int]) -> None:
        try:
            self._points_on[list(codes)] = [points(self._outcomes[code]) for code in codes]
        except PluginError:
            self.is_judged = False
        self.points = self._points_on.take(self._nodes.codes)


def _passes(outcome: PodVolumes) -> bool:
    return not outcome.reasons and outcome.error is None

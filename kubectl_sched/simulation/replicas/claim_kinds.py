"""Kinds of claims: all that any plugin reads of a pod's own claims and their volumes, so that names are left out.

Replicas whose claims are bound to volumes in three zones are of three kinds. Each pod that takes an existing volume
leaves one fewer to the next. Only the nodes whose pod would be bound to that volume are then judged again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.plugins.volume_binding.volume_outcome import BIND_CONFLICT, PodVolumes, StaticBinding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from kubectl_sched.api.storage import PersistentVolume
    from kubectl_sched.plugins.volume_binding.binder import Binder
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

_FEW = 8
_NOWHERE: frozenset[int] = frozenset()


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
        self._taken: set[str] = set()
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
        self._is_of_one_claim = len(binder.claims.delayed) == 1
        self._left: dict[int, Iterator[PersistentVolume]] = {}
        """The volumes that the only claim would have on each kind of node, one after the other."""

        self._next: dict[int, PersistentVolume] = {}
        """The one that it would have now, where that is not the one of the outcome."""

        self._ask(range(len(self._outcomes)))
        if points is not None:
            self._weigh(range(len(self._outcomes)), points)

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
        """The volumes that VolumeBinding binds the claims to."""
        code = self._code_of[row]
        bindings, volume = self._outcomes[code].static_bindings, self._next.get(code)
        if volume is not None:
            return {bindings[0].claim.metadata.name: volume}
        return {claim.name: bound for claim, bound in bindings}

    def _outcome_now(self, code: int) -> PodVolumes:
        outcome, volume = self._outcomes[code], self._next.get(code)
        if volume is None:
            return outcome
        return outcome._replace(static_bindings=(StaticBinding(outcome.static_bindings[0].claim, volume),))

    def follow(self, taken: Sequence[PersistentVolume]) -> None:
        """Ask again about the nodes whose pods would have had one of these volumes."""
        changed: set[int] = set()
        for volume in taken[self._seen :]:
            name = volume.metadata.name
            self._taken.add(name)
            if not self._is_of_one_claim:
                self._binder.leave_out(volume)
            changed |= self._chosen_by.pop(name, _NOWHERE)
        self._seen = len(taken)
        asked = [code for code in changed if not self._go_on(code)]
        if asked:
            self._ask(asked)
        if changed and self._points is not None:
            self._weigh(changed, self._points)

    def _go_on(self, code: int) -> bool:
        """Let the only claim have its next volume on nodes of this kind; False if none is left, or there are others."""
        for volume in self._left.get(code, ()):
            name = volume.metadata.name
            if name not in self._taken:
                self._next[code] = volume
                self._chosen_by.setdefault(name, set()).add(code)
                return True
        return False

    def _ask(self, codes: Collection[int]) -> None:
        """Ask about nodes of these kinds."""
        others = []
        for code in codes:
            kind, before = self._nodes.values[code], self._outcomes[code]
            outcome = self._outcomes[code] = self._binder.on(kind, are_volumes_left=code not in self._left)
            self._next.pop(code, None)
            for claim, volume in outcome.static_bindings:
                self._chosen_by.setdefault(volume.name, set()).add(code)
                if self._is_of_one_claim:
                    self._left[code] = self._binder.candidates(claim).free(dict(kind.labels))
            if _passes(before) != _passes(outcome):
                others.append(code)
        if others:
            self._passes_on[others] = [_passes(self._outcomes[code]) for code in others]
            self.changed += np.isin(self._nodes.codes, others).nonzero()[0].tolist()
            self.version += 1

    def _weigh(self, codes: Collection[int], points: Callable[[PodVolumes], int]) -> None:
        try:
            self._points_on[list(codes)] = [points(self._outcome_now(code)) for code in codes]
        except PluginError:
            self.is_judged = False
        self.points = self._points_on.take(self._nodes.codes)


def _passes(outcome: PodVolumes) -> bool:
    return not outcome.reasons and outcome.error is None

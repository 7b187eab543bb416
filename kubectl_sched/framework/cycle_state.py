"""State that plugins keep from one extension point to the next (pkg/scheduler/framework/cycle_state.go).

Keys are typed, and their text is upstream's: it is part of the errors that people see when a profile disables the
extension point that should have written the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from kubectl_sched.framework.cycle_budget import CycleBudget
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.framework.status import Status

S = TypeVar("S")


class PluginError(Exception):
    """A plugin failed: what upstream returns as a Status of code Error. The text is upstream's."""


class StateKey(Record, Generic[S], frozen=True, kw_only=True):
    """Under which name a state of type S is kept."""

    name: str
    absent: str = 'failed to read "{}" from cycleState: not found'
    """The text where it was never written: of most upstream plugins, unless it is given."""


class CycleState:
    """The states of one cycle. Values are immutable, so a clone is a shallow copy."""

    def __init__(self, budget: CycleBudget | None = None) -> None:
        self.budget = CycleBudget() if budget is None else budget
        """The work and memory of the cycle; clones draw on the same one."""
        self._states: dict[str, Any] = {}
        self.skip_filter_plugins: frozenset[str] = frozenset()
        self.skip_score_plugins: frozenset[str] = frozenset()
        self.unjudged: dict[str, Status] = {}
        """The plugins that a failed PreFilter keeps from judging any node, each with its Unknown."""

    def clone(self, budget: CycleBudget | None = None) -> CycleState:
        """A copy that can be written to without this one noticing; with a budget, the state of another cycle."""
        copy = CycleState(budget or self.budget)
        copy._states = dict(self._states)
        copy.skip_filter_plugins = self.skip_filter_plugins
        copy.skip_score_plugins = self.skip_score_plugins
        copy.unjudged = self.unjudged
        return copy

    def write(self, key: StateKey[S], state: S) -> None:
        """Keep the state under the key."""
        self._states[key.name] = state

    def get(self, key: StateKey[S]) -> S | None:
        """The state, or None if nothing was written."""
        return cast("S | None", self._states.get(key.name))

    def read(self, key: StateKey[S]) -> S:
        """The state. Raises PluginError with the key's text where it was never written."""
        if key.name not in self._states:
            raise PluginError(key.absent.format(key.name))
        return cast("S", self._states[key.name])

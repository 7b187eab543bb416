"""An evaluation under way, and what may end it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import no_overload
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

COST_LIMIT = 1_000_000
"""CELSelectorExpressionMaxCost."""


class Frame:
    """One evaluation: its variables, and what it has cost so far."""

    __slots__ = ("cost", "variables")

    def __init__(self, variables: dict[str, Value]) -> None:
        self.variables = variables
        self.cost = 0

    def spend(self, cost: int) -> None:
        """Raises CelError beyond the limit."""
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise CostExceeded

    def inner(self, names: Mapping[str, Value]) -> Frame:
        """A scope with more variables; what it costs has to be taken over."""
        made = Frame({**self.variables, **names})
        made.cost = self.cost
        return made


class CostExceeded(CelError):  # noqa: N818 - what happens, not a mistake
    """Nothing absorbs this, whatever the other side of an `||` says."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


Step: TypeAlias = Callable[[Frame], Any]


def operands(frame: Frame, steps: Iterable[Step]) -> Iterator[Callable[[], Value]]:
    """The steps, to be taken one after the other."""
    return (partial(step, frame) for step in steps)


def truth(value: Value) -> bool:
    """The value, if it is a bool."""
    if not isinstance(value, bool):
        raise no_overload()
    return value


def decided(stops_at: bool, operands: Iterable[Callable[[], Value]]) -> bool:
    """`||` and `&&`: any operand may decide, whatever is wrong with the others."""
    failure: CelError | None = None
    for operand in operands:
        try:
            if truth(operand()) is stops_at:
                return stops_at
        except CostExceeded:
            raise
        except CelError as wrong:
            failure = failure or wrong
    if failure is not None:
        raise failure
    return not stops_at

"""Variables of an evaluation under way, and its logical operators (cel-go interpreter/activation)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_sched.dynamic_resource_allocation.cel.cost import EvaluationEnded, Meter
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import no_overload
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Frame:
    """Variables of an expression, and the meter of the evaluation."""

    __slots__ = ("meter", "variables")

    def __init__(self, variables: dict[str, Value], meter: Meter) -> None:
        self.variables = variables
        self.meter = meter

    def spend(self, cost: int) -> None:
        """Add to the cost; raises CostExceeded beyond the limit."""
        self.meter.spend(cost)

    def inner(self, names: Mapping[str, Value]) -> Frame:
        """Return a scope with more variables."""
        return Frame({**self.variables, **names}, self.meter)


Step: TypeAlias = Callable[[Frame], Any]


def argument(frame: Frame, step: Step, call_cost: int) -> Value:
    """Evaluate the last argument of a call, and charge the call, which a failure may make free."""
    if not frame.meter.stops_at_failure:
        frame.spend(call_cost)
        return step(frame)
    value = step(frame)
    frame.spend(call_cost)
    return value


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
        except EvaluationEnded:
            raise
        except CelError as wrong:
            failure = failure or wrong
    if failure is not None:
        raise failure
    return not stops_at

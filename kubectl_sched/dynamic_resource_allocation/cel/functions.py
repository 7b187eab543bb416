"""All functions by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel import (
    amounts,
    conversions,
    formats,
    lists,
    networks,
    operators,
    strings,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.dynamic_resource_allocation.cel.arguments import Function
    from kubectl_sched.dynamic_resource_allocation.cel.values import Value

FUNCTIONS: dict[str, Function] = {
    **operators.FUNCTIONS,
    **conversions.FUNCTIONS,
    **times.FUNCTIONS,
    **strings.FUNCTIONS,
    **formats.FUNCTIONS,
    **lists.FUNCTIONS,
    **networks.FUNCTIONS,
    **amounts.FUNCTIONS,
}


def apply(name: str, args: Sequence[Value]) -> Value:
    """The function's answer; raises CelError."""
    return FUNCTIONS[name](*args)

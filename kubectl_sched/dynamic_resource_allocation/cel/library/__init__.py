"""All functions by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.library import (
    conversions,
    lists,
    networks,
    operators,
    quantities,
    string_format,
    strings,
    timestamps,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function
    from kubectl_sched.dynamic_resource_allocation.cel.values import Value

FUNCTIONS: dict[str, Function] = {
    **operators.FUNCTIONS,
    **conversions.FUNCTIONS,
    **timestamps.FUNCTIONS,
    **strings.FUNCTIONS,
    **string_format.FUNCTIONS,
    **lists.FUNCTIONS,
    **networks.FUNCTIONS,
    **quantities.FUNCTIONS,
}


def apply(name: str, args: Sequence[Value]) -> Value:
    """The function's answer; raises CelError."""
    return FUNCTIONS[name](*args)

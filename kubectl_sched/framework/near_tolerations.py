"""Hints about the toleration that was probably meant for a taint."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from kubectl_sched.framework.confusable_texts import folded, is_near, odd_character

if TYPE_CHECKING:
    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.component_helpers.taints import Tolerations
    from kubectl_sched.api.core import Taint


_COMPARED = 100
"""The most tolerations that are compared with one taint."""


def toleration_text(toleration: Toleration) -> str:
    """A toleration as short as a taint: `dedicated=gpu:NoSchedule`, `dedicated:NoSchedule`, `size>3`."""
    effect = f":{toleration.effect}" if toleration.effect else ""
    match toleration.operator:
        case "Exists":
            return f"{toleration.key or '*'}{effect}"
        case "Gt" | "Lt":
            return f"{toleration.key}{'>' if toleration.operator == 'Gt' else '<'}{toleration.value}{effect}"
        case _:
            return f"{toleration.key}={toleration.value}{effect}"


def toleration_hints(taint: Taint, tolerations: Tolerations) -> tuple[str, ...]:
    """One clause for each toleration that nearly tolerates the taint, which none of them does.

    Of many tolerations only the first are compared, and the last clause says so.
    """
    each = iter(tolerations.each)
    hints = (_hint(taint, toleration, compare=tolerations.compare) for toleration in islice(each, _COMPARED))
    found = dict.fromkeys(hint for hint in hints if hint is not None)
    rest = sum(1 for _ in each)
    stopped = (f"the other {rest:,} tolerations of the pod were not compared",) if rest else ()
    return (*found, *stopped)


def _hint(taint: Taint, toleration: Toleration, *, compare: bool) -> str | None:
    text = f"the pod tolerates {toleration_text(toleration)}"
    if toleration.key == taint.key:
        return f"{text}: {_same_key(taint, toleration, compare=compare)}"
    if not toleration.key:
        return f"{text}: the effect differs" if toleration.operator == "Exists" else None
    odd = odd_character(toleration.key)
    if odd is not None and folded(toleration.key) == folded(taint.key):
        return f"{text}: {odd}"
    if is_near(toleration.key, taint.key):
        return f"{text}: the key differs"
    whole = f"{toleration.key}={toleration.value}"
    if toleration.value and not taint.value and folded(whole).replace("=", "-") == folded(taint.key):
        return f"{text}: {taint.key} is one key without a value, not {whole}"
    return None


def _same_key(taint: Taint, toleration: Toleration, *, compare: bool) -> str:
    differences: list[str] = []
    if toleration.effect and toleration.effect != taint.effect:
        differences.append("the effect differs")
    match toleration.operator:
        case "" | "Equal":
            if toleration.value != taint.value:
                differences.append(_value_difference(taint, toleration))
        case "Gt" | "Lt":
            differences.append(
                f"{taint.value or 'no value'} is not {'above' if toleration.operator == 'Gt' else 'below'} "
                f"{toleration.value}, or not both are plain decimal numbers"
                if compare
                else f"the operator {toleration.operator} needs the feature TaintTolerationComparisonOperators"
            )
        case "Exists":
            pass
        case _:
            differences.append(f"there is no operator {toleration.operator!r}")
    return " and ".join(differences)


def _value_difference(taint: Taint, toleration: Toleration) -> str:
    odd = odd_character(toleration.value)
    if odd is not None and folded(toleration.value) == folded(taint.value):
        return odd
    if not toleration.value:
        return "it has no value, and its operator is Equal; Exists would match any value"
    if not taint.value:
        return "the taint has no value"
    return "the value differs"

"""String.format (cel-go ext/formatting)."""

from __future__ import annotations

import re

from kubectl_sched.dynamic_resource_allocation.cel.cost import METER
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, want_text
from kubectl_sched.dynamic_resource_allocation.cel.library.conversions import to_string
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, TypeValue, Value, is_number

_CLAUSE = re.compile(r"%(%|(?:\.(\d+))?([a-zA-Z]))")


def _format(text: Value, args: Value) -> str:
    want_text(text)
    rest = iter(args)

    def shown(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        try:
            return _formatted(found[3], found[2], next(rest))
        except StopIteration as missing:
            raise CelError("error during formatting: index 0 out of range") from missing

    return _CLAUSE.sub(shown, text)


def _formatted(clause: str, precision: str | None, value: Value) -> str:
    if clause == "s":
        return _shown(value)
    if clause in {"d", "b", "o", "x", "X"} and isinstance(value, int):
        return format(int(value), clause)
    if clause in {"f", "e"} and is_number(value):
        METER.get().work(int(precision or 6) if len(precision or "") < 10 else 10**9)
        return format(float(value), f".{precision or 6}{clause}")
    if clause in {"x", "X"} and isinstance(value, str | bytes):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if clause == "X" else digits
    raise CelError(f"error during formatting: unrecognized formatting clause '{clause}'")


def _shown(value: Value) -> str:
    if value is None:
        return "null"
    METER.get().work(1)
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        pairs = sorted((_shown(key[1] if isinstance(key, tuple) else key), _shown(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    return value.name if isinstance(value, TypeValue) else to_string(value)


FUNCTIONS: dict[str, Function] = {
    "format": _format,
}

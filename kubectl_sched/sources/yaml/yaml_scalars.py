"""The meaning of a plain YAML scalar in sigs.k8s.io/yaml, through which every Kubernetes program reads YAML.

Answers to go.yaml.in/yaml/v2/resolve.go, then to the way its values pass through JSON. It is YAML 1.1: yes, no, on,
off, y and n are booleans, and a leading 0 is octal. There are no sexagesimals, and timestamps stay texts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

from kubectl_sched.lazy_pattern import pattern

Scalar: TypeAlias = str | int | float | bool | None

SPECIAL = frozenset("+-0123456789.~yYnNtTfFoO")
"""Only scalars that begin with one of these, and empty ones, can be anything but a text."""

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}

_DATE = pattern(r"\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?")
_INTEGER = pattern(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_LARGEST_INTEGER = 2**64 - 1
_SMALLEST_INTEGER = -(2**63)
_JSON_WRITES_EXPONENTS_FROM = 1e21


@lru_cache(maxsize=1 << 14)
def resolve(text: str) -> Scalar:
    """The value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in SPECIAL or _DATE.fullmatch(text):
        return text
    plain = text.replace("_", "") if text[0] != "." else text
    integer = _integer(plain)
    if integer is not None:
        return integer
    number = _float(plain) if _FLOAT.fullmatch(plain) else None
    return text if number is None else number


def _integer(plain: str) -> int | None:
    match = _INTEGER.fullmatch(plain)
    if match is None or len(plain) > 80:
        return None
    sign, digits = match.groups()
    base = {"x": 16, "b": 2, "o": 8}.get(digits[1:2].lower(), 8 if digits[0] == "0" else 10)
    value = int(digits[2:] if digits[1:2].isalpha() else digits, base) * (-1 if sign == "-" else 1)
    return value if _SMALLEST_INTEGER <= value <= _LARGEST_INTEGER else None


def _float(plain: str) -> int | float | None:
    """A float without a fraction comes out of JSON as an integer; one that is too large is none."""
    value = float(plain)
    if math.isinf(value):
        return None
    return int(value) if abs(value) < _JSON_WRITES_EXPONENTS_FROM and value.is_integer() else value


def as_key(value: float) -> str:
    """A key of a mapping that is no text, as JSON spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"{value:g}"

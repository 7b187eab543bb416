"""Conversions from type to type (cel-go common/types)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kubectl_sched.api.apimachinery.int64 import parse_int64, parse_uint64
from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, int64, uint64, want
from kubectl_sched.dynamic_resource_allocation.cel.values import (
    CIDR,
    IP,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable


_DURATION, _TIMESTAMP = "google.protobuf.Duration", "google.protobuf.Timestamp"


def _not_converted(source: str, wanted: str) -> CelError:
    return CelError(f"type conversion error from '{source}' to '{wanted}'")


def _to_int(value: Value) -> int:
    if isinstance(value, str):
        number = parse_int64(value)
        if number is None:
            raise _not_converted("string", "int")
        return number
    if isinstance(value, float):
        if not MIN_INT < value < MAX_INT:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, Timestamp):
        return value.nanos // 10**9
    if isinstance(value, Duration):
        return value.nanos
    want(value, int, UInt)
    return int64(int(value))


def _to_uint(value: Value) -> UInt:
    if isinstance(value, str):
        number = parse_uint64(value)
        if number is None:
            raise _not_converted("string", "uint")
        return UInt(number)
    if isinstance(value, float):
        if not 0 <= value < MAX_UINT:
            raise CelError("unsigned integer overflow")
        return UInt(value)
    want(value, int, UInt)
    return uint64(int(value))


def _to_double(value: Value) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError as wrong:
            raise _not_converted("string", "double") from wrong
    want(value, int, UInt, float)
    return float(value)


def _to_bool(value: Value) -> bool:
    if isinstance(value, str):
        if value in {"1", "t", "T", "true", "TRUE", "True"}:
            return True
        if value in {"0", "f", "F", "false", "FALSE", "False"}:
            return False
        raise _not_converted("string", "bool")
    want(value, bool)
    return bool(value)


def double_text(number: float) -> str:
    """Return the number as Go's %g prints it."""
    if number != number or number in {math.inf, -math.inf}:  # noqa: PLR0124 - the test for NaN
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(number, "NaN")
    if number == int(number) and abs(number) < 1e21:
        return str(int(number))
    return repr(number)


def to_string(value: Value) -> str:
    """Return the text to which `string` converts the value."""
    if type(value) in _TEXTS:
        return _TEXTS[type(value)](value)
    want(value, str, int, UInt)
    return str(value)


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as wrong:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from wrong


def _stamp_text(value: Timestamp) -> str:
    whole, nanos = divmod(value.nanos, 10**9)
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S") + _fraction(nanos) + "Z"


def _duration_text(value: Duration) -> str:
    seconds, nanos = divmod(abs(value.nanos), 10**9)
    return f"{'-' if value.nanos < 0 else ''}{seconds}{_fraction(nanos)}s"


def _fraction(nanos: int) -> str:
    return f".{nanos:09d}".rstrip("0").rstrip(".")


_TEXTS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    bytes: _bytes_text,
    float: double_text,
    Timestamp: _stamp_text,
    Duration: _duration_text,
    IP: lambda value: str(value.address),
    CIDR: lambda value: f"{value.address}/{value.network.prefixlen}",
}


def _to_bytes(value: Value) -> bytes:
    want(value, str, bytes)
    return value.encode() if isinstance(value, str) else bytes(value)


def to_duration(value: Value) -> Duration:
    """Return the duration to which `duration` converts the value; raises CelError."""
    if isinstance(value, str):
        try:
            return Duration(nanos=parse_duration(value))
        except InvalidDuration as wrong:
            raise _not_converted("string", _DURATION) from wrong
    want(value, Duration, int)
    if isinstance(value, Duration):
        return value
    raise _not_converted("int", _DURATION)


_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


def to_timestamp(value: Value) -> Timestamp:
    """Return the time to which `timestamp` converts the value; raises CelError."""
    if not isinstance(value, str):
        want(value, Timestamp, int)
        return value if isinstance(value, Timestamp) else Timestamp(nanos=value * 10**9)
    found = _STAMP.fullmatch(value)
    unreadable = _not_converted("string", _TIMESTAMP)
    if found is None:
        raise unreadable
    try:
        whole = datetime.fromisoformat(found[1] + ("+00:00" if found[3] == "Z" else found[3]))
    except ValueError as wrong:
        raise unreadable from wrong
    nanos = int((found[2] or "0").ljust(9, "0")[:9])
    return Timestamp(nanos=int((whole - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)) * 10**9 + nanos)


FUNCTIONS: dict[str, Function] = {
    "int": _to_int,
    "uint": _to_uint,
    "double": _to_double,
    "bool": _to_bool,
    "string": to_string,
    "bytes": _to_bytes,
    "duration": to_duration,
    "timestamp": to_timestamp,
    "dyn": lambda value: value,
    "type": lambda value: TypeValue(name="type" if isinstance(value, TypeValue) else type_name(value)),
}

"""Parts of timestamps and durations (cel-go common/stdlib)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, want
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Duration, Timestamp, Value
from kubectl_sched.framework.golang import truncated_division

if TYPE_CHECKING:
    from collections.abc import Callable


def _of_time(read: Callable[[datetime], int], unit: int = 0) -> Function:
    def part(value: Value, zone: Value = "UTC") -> int:
        if isinstance(value, Duration) and unit:
            return truncated_division(value.nanos, unit)
        want(value, Timestamp)
        offset = re.fullmatch(r"([+-]?)(\d\d):(\d\d)", zone)
        moment = datetime.fromtimestamp(value.nanos // 10**9, UTC).replace(microsecond=value.nanos % 10**9 // 1000)
        if offset:
            sign = -1 if offset[1] == "-" else 1
            return read(moment + sign * timedelta(hours=int(offset[2]), minutes=int(offset[3])))
        try:
            return read(moment.astimezone(ZoneInfo(zone)))
        except (KeyError, ValueError) as wrong:
            raise CelError(f"unknown time zone {zone}") from wrong

    return part


FUNCTIONS: dict[str, Function] = {
    "getFullYear": _of_time(lambda time: time.year),
    "getMonth": _of_time(lambda time: time.month - 1),
    "getDayOfYear": _of_time(lambda time: time.timetuple().tm_yday - 1),
    "getDayOfMonth": _of_time(lambda time: time.day - 1),
    "getDate": _of_time(lambda time: time.day),
    "getDayOfWeek": _of_time(lambda time: time.isoweekday() % 7),
    "getHours": _of_time(lambda time: time.hour, 3600 * 10**9),
    "getMinutes": _of_time(lambda time: time.minute, 60 * 10**9),
    "getSeconds": _of_time(lambda time: time.second, 10**9),
    "getMilliseconds": _of_time(lambda time: time.microsecond // 1000, 10**6),
}

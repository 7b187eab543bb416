"""Cron schedules as Karpenter reads them (ParseStandard of github.com/robfig/cron/v3), in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WILD: Final = frozenset({"*", "?"})
_MOST_DAYS: Final = 5 * 366
"""Days after which a schedule that has not come up never will, as upstream has it."""


class InvalidSchedule(ValueError):  # noqa: N818 - read as a sentence: raise InvalidSchedule
    """A text that is no schedule of five fields, and no descriptor."""


class _Field(NamedTuple):
    values: frozenset[int]
    is_open: bool
    """Every value is meant, by `*` or `?`."""


class CronSchedule(NamedTuple):
    """The minutes at which something begins."""

    minute: _Field
    hour: _Field
    day: _Field
    month: _Field
    weekday: _Field

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first minute of the schedule after a moment; None if there is none within five years."""
        moment = moment.astimezone(UTC)
        first = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        midnight = first.replace(hour=0, minute=0)
        for days in range(_MOST_DAYS):
            day = midnight + timedelta(days=days)
            if not self._is_on(day):
                continue
            hits = (day.replace(hour=hour, minute=minute) for hour in sorted(self.hour.values)
                    for minute in sorted(self.minute.values))  # fmt: skip
            found = next((hit for hit in hits if hit >= first), None)
            if found is not None:
                return found
        return None

    def _is_on(self, day: datetime) -> bool:
        """Report whether the schedule has any minute on a day: both fields of days hold, or either if both are set."""
        if day.month not in self.month.values:
            return False
        of_month, of_week = day.day in self.day.values, day.isoweekday() % 7 in self.weekday.values
        if self.day.is_open or self.weekday.is_open:
            return of_month and of_week
        return of_month or of_week


def cron_schedule(text: str) -> CronSchedule:
    """Read a schedule of five fields or a descriptor such as `@daily`; raise InvalidSchedule for any other text."""
    fields = _DESCRIPTORS.get(text.strip(), text).split()
    if len(fields) != len(CronSchedule._fields):
        raise InvalidSchedule(f"expected exactly 5 fields, found {len(fields)}: {text}")
    minute, hour, day, month, weekday = fields
    return CronSchedule(
        _field(minute, 0, 59),
        _field(hour, 0, 23),
        _field(day, 1, 31),
        _field(month, 1, 12, _MONTHS),
        _field(weekday, 0, 6, _DAYS),
    )


def _field(text: str, least: int, most: int, names: tuple[str, ...] = ()) -> _Field:
    parts = [_part(part, least, most, names) for part in text.split(",") if part]
    return _Field(frozenset().union(*(each.values for each in parts)), any(each.is_open for each in parts))


def _part(text: str, least: int, most: int, names: tuple[str, ...]) -> _Field:
    """Read a range with its step: `*`, `5`, `1-5`, `*/15`, `10/5`."""
    bounds, slash, step_text = text.partition("/")
    low, hyphen, high = bounds.partition("-")
    step = _number(step_text) if slash else 1
    if low in _WILD:
        first, last = least, most
    else:
        first = _value(low, least, names)
        last = _value(high, least, names) if hyphen else most if slash else first
    if first < least or last > most or first > last or step == 0:
        raise InvalidSchedule(f"range {text} is not within {least}-{most}")
    return _Field(frozenset(range(first, last + 1, step)), low in _WILD and step == 1)


def _value(text: str, least: int, names: tuple[str, ...]) -> int:
    name = text.lower()
    return names.index(name) + least if name in names else _number(text)


def _number(text: str) -> int:
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise InvalidSchedule(f"failed to parse int from {text}")
    return int(digits)

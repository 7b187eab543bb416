"""Events in a text of `kubectl describe` or `kubectl get events`."""

from __future__ import annotations

import re
from typing import NamedTuple

from kubectl_sched.lazy_pattern import pattern

_EVENT = pattern(r"^[^\n]{0,100}?\b(?:Normal|Warning)\s+(?P<reason>[A-Z]\w+)\s", re.MULTILINE)


class EventLine(NamedTuple):
    """One event of a table: its reason, and the text of its line and of those that go on with it."""

    reason: str
    text: str


def event_lines(text: str) -> list[EventLine]:
    """Return the events of a table as kubectl prints them; none where the text is no table."""
    events = list(_EVENT.finditer(text))
    ends = [*(event.start() for event in events[1:]), len(text)]
    return [EventLine(event["reason"], text[event.start() : end]) for event, end in zip(events, ends, strict=False)]

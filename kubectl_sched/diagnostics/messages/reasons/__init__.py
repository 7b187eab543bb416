"""The reasons that kube-scheduler gives, from 1.22 on, in plain words: what `explain message` and docs/reasons.md say.

The texts were read from the last patch release of each minor: pkg/scheduler and the modules that it takes reasons from.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.messages.reasons.cycle import CYCLE
from kubectl_sched.diagnostics.messages.reasons.devices import DEVICES
from kubectl_sched.diagnostics.messages.reasons.nodes import NODES
from kubectl_sched.diagnostics.messages.reasons.pods import PODS
from kubectl_sched.diagnostics.messages.reasons.preemption import PREEMPTION
from kubectl_sched.diagnostics.messages.reasons.queue import QUEUE
from kubectl_sched.diagnostics.messages.reasons.reason import Meaning, Reason, pattern
from kubectl_sched.diagnostics.messages.reasons.resources import RESOURCES
from kubectl_sched.diagnostics.messages.reasons.volumes import VOLUMES

if TYPE_CHECKING:
    import re

__all__ = ["FAMILIES", "PAGE", "Meaning", "Reason", "meaning"]

PAGE: Final = "docs/reasons.md"
"""The page with an entry for each reason, under its anchor."""

_PREEMPTION = "preemption: "
"""The prefix of all messages of DefaultPreemption."""

FAMILIES: Final[dict[str, tuple[Reason, ...]]] = {
    "Room on nodes": RESOURCES,
    "What a node is": NODES,
    "Other pods": PODS,
    "Volumes": VOLUMES,
    "Devices": DEVICES,
    "Before the search": QUEUE,
    "Preemption": PREEMPTION,
    "The attempt as a whole": CYCLE,
}


@cache
def _patterns() -> list[tuple[re.Pattern[str], Reason]]:
    """Every spelling, the most exact first, so that no text is taken for something vaguer."""
    spellings = [(each, reason) for reasons in FAMILIES.values() for reason in reasons for each in reason.spellings]
    spellings.sort(key=lambda each: _vagueness(each[0]))
    return [(pattern(spelling), reason) for spelling, reason in spellings]


def _vagueness(spelling: str) -> tuple[bool, int, int]:
    """First what begins with itself, then what has no place for anything at all, then the longest."""
    return spelling.startswith("<"), spelling.count("<...>"), -len(spelling)


@cache
def meaning(text: str) -> Meaning | None:
    """Return the meaning of a reason; None if it is no text of kube-scheduler's own plugins."""
    for spelling, reason in _patterns():
        found = spelling.fullmatch(text)
        if found is not None:
            return reason.meaning(found.groupdict())
    said = text.removeprefix(_PREEMPTION)
    return meaning(said) if said != text else None


def begins_a_reason(text: str) -> bool:
    """Report whether a reason may go on where this text ends."""
    spellings = (each for reasons in FAMILIES.values() for reason in reasons for each in reason.spellings)
    return any(each.startswith(text) for each in spellings)

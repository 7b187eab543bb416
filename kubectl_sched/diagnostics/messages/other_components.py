"""Texts of components other than kube-scheduler that stand in the same `kubectl describe`, with explanations.

The table is other_components.json: the kubelet, volume controllers, autoscalers, Kueue, the API server's refusals, and
controllers of workloads. The spellings are theirs; a place `<name>` holds one word, and one of LONG_PLACES several.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from kubectl_sched.api.decoders import decoder
from kubectl_sched.diagnostics.messages.reason_catalogue import (
    CatalogueEntry,
    Meaning,
    Reason,
    all_reasons,
    filled_in,
    reason_named,
    words_of,
)
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.near_names import near_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_PLACES: Final = frozenset({"...", "conditions", "pods", "volumes", "why"})

_TABLE: Final = Path(__file__).with_name("other_components.json")
_PLACE = pattern(r"<(\.\.\.|[a-z_]+)>")
_LONGEST_WORD: Final = 400
_LONGEST_PLACE: Final = 1200


class ComponentReason(CatalogueEntry, frozen=True, kw_only=True):
    """An entry of another component's table; `events` are the reasons of its events.

    One that `repeats` only says that something failed or went on: another text says why.
    """

    component: str
    events: tuple[str, ...]
    repeats: bool = False
    plugin: ClassVar = ""
    spellings: tuple[str, ...]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Each spelling; no minor is known to differ."""
        return tuple((each, "") for each in self.spellings)

    def meaning(self, found: re.Match[str]) -> Meaning:
        """Explain a text that has one of its spellings."""
        places = places_of(found)
        return Meaning(
            plugin="",
            says=filled_in(self.says, places),
            helps=filled_in(self.helps, places),
            anchor=self.anchor,
            title=self.title,
            name=self.name,
        )


def places_of(found: re.Match[str]) -> dict[str, str]:
    """Return what a text has in each place of its spelling, without quotes around it and punctuation after it."""
    return {name: _bare(text or "") for name, text in found.groupdict().items()}


def _bare(text: str) -> str:
    """Strip quotes and punctuation, and the bracket that closes a list around the whole text."""
    text = text.strip("\\\"'.;, ")
    return text if "[" in text else text.rstrip("]")


@cache
def component_families() -> dict[str, tuple[ComponentReason, ...]]:
    """Read the table: the reasons by heading, in the order of the page."""
    return decoder(dict[str, tuple[ComponentReason, ...]]).decode(_TABLE.read_bytes())


def component_reasons() -> Iterator[ComponentReason]:
    """Yield the entries in the order of the page."""
    for family in component_families().values():
        yield from family


def component_meaning(component: str, text: str) -> Meaning | None:
    """Return the meaning of a whole text that a component says of its own; None if it is not known."""
    for reason in component_reasons():
        if reason.component == component:
            for spelling in reason.spellings:
                found = pattern_of(spelling).fullmatch(text)
                if found is not None:
                    return reason.meaning(found)
    return None


def entry_named(name: str) -> Reason | ComponentReason:
    """Return the entry of that name, title or anchor, else the only one whose event has it as its reason.

    Raises SchedError for a name that no entry has, or that is the reason of several entries' events.
    """
    own = reason_named(name)
    if own is not None:
        return own
    wanted = words_of(name)
    found = [each for each in component_reasons() if words_of(each.name) == wanted] or entries_of_event(name)
    if len(found) == 1:
        return found[0]
    if found:
        raise SchedError(f"events of the reason {name} have several texts: {', '.join(each.name for each in found)}")
    names = [each.name for each in (*all_reasons(), *component_reasons())]
    raise SchedError(f"there is no reason {name}{near_hint(name, names) or f', as there is {names[0]}'}")


def entries_of_event(reason: str) -> list[ComponentReason]:
    """Return the entries whose event has the reason, as it stands in the STATUS of a pod that was refused, too."""
    wanted = words_of(reason)
    return [each for each in component_reasons() if any(_is_event(wanted, event) for event in each.events)]


def _is_event(wanted: str, event: str) -> bool:
    """Report whether an event has the reason; `OutOf<resource>` stands for that of each resource."""
    head, place, _ = event.partition("<")
    return wanted.startswith(words_of(head)) if place else wanted == words_of(event)


@cache
def longest_literal(spelling: str) -> str:
    """Return the longest part of a spelling without a place: a text that lacks it has not this spelling."""
    return max(_PLACE.sub("\n", " ".join(spelling.split())).split("\n"), key=len)


@cache
def pattern_of(spelling: str) -> re.Pattern[str]:
    """Compile a spelling. Each place has a bound, so that a search costs no more than the text's length times it."""
    spelling = " ".join(spelling.split())
    parts: list[str] = []
    end = 0
    for place in _PLACE.finditer(spelling):
        holds = f".{{0,{_LONGEST_PLACE}}}" if place[1] in LONG_PLACES else rf"\S{{1,{_LONGEST_WORD}}}"
        holds += "" if place.end() == len(spelling) else "?"
        parts += [re.escape(spelling[end : place.start()]), holds if place[1] == "..." else f"(?P<{place[1]}>{holds})"]
        end = place.end()
    parts.append(re.escape(spelling[end:]))
    return re.compile("".join(parts))

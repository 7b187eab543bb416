"""Statements of components other than kube-scheduler in a pasted text, each with its meaning."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.diagnostics.messages.event_lines import event_lines
from kubectl_sched.diagnostics.messages.other_components import (
    LONG_PLACES,
    ComponentReason,
    component_reasons,
    longest_literal,
    pattern_of,
    places_of,
)
from kubectl_sched.diagnostics.messages.scale_up_text import CLUSTER_AUTOSCALER, scale_up_reasons
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.reason_catalogue import Meaning
    from kubectl_sched.diagnostics.messages.scale_up_text import ScaleUpReason

_KARPENTER: Final = "Karpenter"
_NODE_POOL_BEFORE = pattern(r"incompatible with (?:nodepool|provisioner) \"(?P<name>[^\"]{1,253})\"")
_NODE_POOL_AFTER = pattern(r"(?:: \"?| \(NodePool=)(?P<name>[a-z0-9][a-z0-9.-]{0,252})")
_MOST_OF_A_SPELLING: Final = 20
_MOST_OF_A_TEXT: Final = 50


class Statement(Record, frozen=True, kw_only=True):
    """One text of another component: the text itself, the component that says it, and its meaning if that is known."""

    text: str
    component: str
    meaning: Meaning | None
    groups: int | None = None
    """The number of node groups that cluster-autoscaler says it of; None for other texts."""

    node_pool: str = ""
    """The NodePool that Karpenter says it of; empty where it names none, and for other texts."""

    repeats: bool = False
    """The text says that something failed or went on, and another one says why."""

    places: tuple[tuple[str, str], ...] = ()
    """The name of each place of the spelling, and what the text has there."""

    def place(self, name: str) -> str:
        """Return what the text has in a place; empty if its spelling has none of that name."""
        return dict(self.places).get(name, "")


class _Found(NamedTuple):
    reason: ComponentReason
    found: re.Match[str]

    @property
    def order(self) -> tuple[int, int]:
        """Sort texts that hold no others first, then the innermost, then those of which most is literal."""
        is_frame = any(name in LONG_PLACES for name in self.found.groupdict())
        length = len(self.found[0])
        return length if is_frame else 0, sum(len(each or "") for each in self.found.groups()) - length

    def overlaps(self, other: _Found) -> bool:
        """Report whether both have a character in common."""
        return self.found.start() < other.found.end() and other.found.start() < self.found.end()


def statements_in(text: str) -> tuple[Statement, ...]:
    """Return what other components say in a text, in its order, each once; nothing where no text of theirs is in it.

    A text inside another is taken for itself: it says more than the one around it. Quotes may be escaped, as in a log.
    """
    text = text.replace('\\"', '"')
    texts = [event.text for event in event_lines(text)] or [text]
    found = (each for part in texts for each in _statements(" ".join(part.split())))
    return tuple(dict.fromkeys(islice(found, _MOST_OF_A_TEXT)))


def _statements(text: str) -> Iterator[Statement]:
    scale_up = scale_up_reasons(text)
    if scale_up:
        yield from map(_of_node_groups, scale_up)
        return
    kept: list[_Found] = []
    for each in sorted(_found(text), key=lambda each: each.order):
        if not any(each.overlaps(other) for other in kept):
            kept.append(each)
    for reason, found in sorted(kept, key=lambda each: each.found.start()):
        yield Statement(
            text=found[0],
            component=reason.component,
            meaning=reason.meaning(found),
            node_pool=_node_pool(text, found) if reason.component == _KARPENTER else "",
            repeats=reason.repeats,
            places=tuple(places_of(found).items()),
        )


def _node_pool(text: str, found: re.Match[str]) -> str:
    """Return the NodePool that a reason of Karpenter is about: it is named after the reason, or before several."""
    after = _NODE_POOL_AFTER.match(text, found.end())
    if after is not None:
        return after["name"]
    before = deque(_NODE_POOL_BEFORE.finditer(text, 0, found.start()), maxlen=1)
    return before[0]["name"] if before else ""


def _of_node_groups(reason: ScaleUpReason) -> Statement:
    return Statement(text=reason.reason, component=CLUSTER_AUTOSCALER, meaning=reason.meaning, groups=reason.groups)


def _found(text: str) -> Iterator[_Found]:
    for reason in component_reasons():
        for spelling in reason.spellings:
            if longest_literal(spelling) in text:
                for found in islice(pattern_of(spelling).finditer(text), _MOST_OF_A_SPELLING):
                    yield _Found(reason=reason, found=found)

"""The order of suggestions: what costs the owner least comes first."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from kubectl_sched.suggestions.change import Kind, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.suggestions.change import Suggestion


class Advice(Enum):
    """The kinds of advice, in the order in which a colleague would give them."""

    WAIT = "Wait"
    FIX = "Fix"
    """Mend a typo, a label or a toleration."""

    ADD_CAPACITY = "AddCapacity"
    FREE_CAPACITY = "FreeCapacity"
    ASK_LESS = "AskLess"
    PROFILE = "Profile"
    """Change the scheduler's profile, which concerns every pod."""


_ADVICE: Final[Mapping[Kind, Advice]] = {
    Kind.WAIT: Advice.WAIT,
    Kind.UNCORDON: Advice.ADD_CAPACITY,
    Kind.ADD_NODE: Advice.ADD_CAPACITY,
    Kind.TOLERATE_RESERVED: Advice.ADD_CAPACITY,
    Kind.UNTAINT: Advice.ADD_CAPACITY,
    Kind.EVICT: Advice.FREE_CAPACITY,
    Kind.FREE: Advice.FREE_CAPACITY,
    Kind.PRIORITIZE: Advice.FREE_CAPACITY,
    Kind.REQUEST_LESS: Advice.ASK_LESS,
    Kind.RAISE_SKEW: Advice.ASK_LESS,
    Kind.SPREAD_SOFTLY: Advice.ASK_LESS,
    Kind.DROP_PORT: Advice.ASK_LESS,
    Kind.SELECT_LESS: Advice.ASK_LESS,
    Kind.REQUIRE_SOFTLY: Advice.ASK_LESS,
    Kind.PREFER_LESS: Advice.ASK_LESS,
    Kind.TOLERATE_LESS: Advice.ASK_LESS,
    Kind.WEIGH: Advice.PROFILE,
}
"""The kinds of changes that are no mere fix."""

_ORDER: Final = list(Advice)
_DEEP_CUT: Final = 1 / 3
"""A request cut by more than this share is never the first advice."""


def advice_of(suggestion: Suggestion) -> Advice:
    """Return the costliest kind of advice among the suggestion's changes."""
    return max((_ADVICE.get(change.kind, Advice.FIX) for change in suggestion.changes), key=_ORDER.index)


def ranked(suggestions: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    """Sort by advice, and in one kind of advice what patches the pod in place before what replaces it by force.

    Nodes that are kept for other pods are opened after other capacity is added. A request that is cut deeply stands
    behind another suggestion, if there is one.
    """
    given = tuple(suggestions)
    in_place = {advice_of(each) for each in given if _is_in_place(each)}

    def key(each: Suggestion) -> tuple[int, bool, bool]:
        advice = advice_of(each)
        opens_last = advice is Advice.ADD_CAPACITY and _opens_kept_nodes(each)
        return _ORDER.index(advice), advice in in_place and _replaces_by_force(each), opens_last

    found = sorted(given, key=key)
    if len(found) > 1 and _cuts_deeply(found[0]):
        gentler = next((each for each in found if not _cuts_deeply(each)), found[0])
        found = [gentler, *(each for each in found if each is not gentler)]
    return tuple(found)


def _opens_kept_nodes(suggestion: Suggestion) -> bool:
    return any(change.kind in {Kind.TOLERATE_RESERVED, Kind.UNTAINT} for change in suggestion.changes)


def _is_in_place(suggestion: Suggestion) -> bool:
    """Report whether the pod itself is patched, and not made again."""
    return suggestion.scope is Scope.POD and bool(suggestion.patches) and not suggestion.recreates_pods


def _replaces_by_force(suggestion: Suggestion) -> bool:
    return any({"replace", "--force"} <= set(argv) for command in suggestion.commands for argv in command.argvs)


def _cuts_deeply(suggestion: Suggestion) -> bool:
    return any(change.kind is Kind.REQUEST_LESS and change.cost > (_DEEP_CUT,) for change in suggestion.changes)

"""The kinds of advice, as JSON has them in `kind`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from kubectl_sched.suggestions.change import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.suggestions.suggestion import Suggestion


class Advice(Enum):
    """The kinds of advice, from the one that costs the least."""

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
    Kind.CHANGE_POOL: Advice.ADD_CAPACITY,
    Kind.RAISE_MAX_PODS: Advice.ADD_CAPACITY,
    Kind.REPAIR: Advice.ADD_CAPACITY,
    Kind.TOLERATE_RESERVED: Advice.ADD_CAPACITY,
    Kind.UNTAINT: Advice.ADD_CAPACITY,
    Kind.FINISH: Advice.WAIT,
    Kind.MOVE: Advice.FREE_CAPACITY,
    Kind.EVICT: Advice.FREE_CAPACITY,
    Kind.RESIZE_BACK: Advice.FREE_CAPACITY,
    Kind.FREE: Advice.FREE_CAPACITY,
    Kind.PRIORITIZE: Advice.FREE_CAPACITY,
    Kind.REQUEST_LESS: Advice.ASK_LESS,
    Kind.MIN_DOMAINS: Advice.ASK_LESS,
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


def advice_of(suggestion: Suggestion) -> Advice:
    """Return the costliest kind of advice among the suggestion's changes."""
    return max((_ADVICE.get(change.kind, Advice.FIX) for change in suggestion.changes), key=_ORDER.index)

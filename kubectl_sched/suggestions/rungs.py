"""The ladder: suggestions in the order in which a good colleague would give them, least harm first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.suggestions.change import Kind, Rung
from kubectl_sched.suggestions.suggestion import Promise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.suggestions.change import Change
    from kubectl_sched.suggestions.suggestion import Suggestion


_ORDER: Final = list(Rung)
_DEEP_CUT: Final = 1 / 3
_RISKS: Final = (
    (
        Kind.WAIT,
        Kind.CORRECT,
        Kind.UNNAME,
        Kind.HONOR_TAINTS,
        Kind.USE_SCHEDULER,
        Kind.MOVE,
        Kind.ADD_NODE,
        Kind.CHANGE_POOL,
        Kind.REPAIR,
        Kind.FINISH,
        Kind.PROVIDE,
        Kind.UNCORDON,
    ),
    (
        Kind.UNGATE,
        Kind.MATCH_REVISION,
        Kind.PREFER_NODE,
        Kind.REQUEST_LESS,
        Kind.RESIZE_BACK,
        Kind.RAISE_MAX_PODS,
        Kind.LABEL,
    ),
    (Kind.MIN_DOMAINS, Kind.RAISE_SKEW, Kind.SPREAD_SOFTLY, Kind.MOVE_PORT),
    (Kind.TOLERATE, Kind.ALLOW_MORE, Kind.PRIORITIZE),
    (Kind.DROP_PORT, Kind.SELECT_LESS, Kind.REQUIRE_SOFTLY, Kind.PREFER_LESS, Kind.TOLERATE_LESS, Kind.PIN),
    (Kind.TOLERATE_RESERVED, Kind.UNTAINT, Kind.EVICT),
    (Kind.FREE, Kind.WEIGH),
)
"""The kinds that give up as much as each other, those that give up nothing first."""

_RISK: Final = {kind: risk for risk, kinds in enumerate(_RISKS) for kind in kinds}
_OF_A_DEEP_CUT: Final = _RISK[Kind.TOLERATE_RESERVED]


def as_ladder(suggestions: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    """Sort suggestions by rung, and on one rung those that change and risk less first."""

    def key(each: Suggestion) -> tuple[int, bool, int, int, int, bool]:
        return (
            _ORDER.index(Rung(each.rung)),
            each.promise is Promise.FITS and each.asked,  # another node would still win
            len(each.changes),
            max(map(_risk, each.changes)),
            len(each.ends),
            each.recreates_pods,
        )

    return tuple(sorted(suggestions, key=key))


def _risk(change: Change) -> int:
    is_deep = change.kind is Kind.REQUEST_LESS and change.cost > (_DEEP_CUT,)
    return _OF_A_DEEP_CUT if is_deep else _RISK[change.kind]

"""Merges two lists of tolerations, and checks one list against another (pkg/util/tolerations)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.affinity import Toleration


def merged_tolerations(tolerations: Sequence[Toleration]) -> tuple[Toleration, ...]:
    """Without those that another one covers; of equal ones the first stays (MergeTolerations)."""
    merged: list[Toleration] = []
    for index, each in enumerate(tolerations):
        later = (other for other in tolerations[index + 1 :] if other != each)
        if not any(_covers(other, each) for other in (*merged, *later)):
            merged.append(each)
    return tuple(merged)


def are_allowed(tolerations: Iterable[Toleration], allowed: Sequence[Toleration]) -> bool:
    """Report whether the allowed tolerations cover all of them; an empty list allows all (VerifyAgainstWhitelist)."""
    return not allowed or all(any(_covers(wide, each) for wide in allowed) for each in tolerations)


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Report whether a toleration tolerates all that another does (isSuperset)."""
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in {"", narrow.effect}:
        return False
    seconds = wide.toleration_seconds
    if wide.effect == "NoExecute" and seconds is not None:
        longer = narrow.toleration_seconds is None or narrow.toleration_seconds > seconds
        if longer:
            return False
    if wide.operator == "Exists":
        return True
    return wide.operator in {"", "Equal"} and narrow.operator == "Equal" and narrow.value == wide.value

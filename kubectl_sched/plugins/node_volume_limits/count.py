"""Counts of the volumes that a node would have of each driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Count(NamedTuple):
    """Volumes of one driver on one node: those of its pods, those attached besides, those the pod adds."""

    driver: str
    limit: int
    used: int
    attached: int
    added: tuple[str, ...]


def exceeded(
    new: Mapping[str, str], used: Mapping[str, str], attached: Mapping[str, str], limits: Iterable[tuple[str, int]]
) -> list[Count]:
    """The drivers for which there would be too many. The mappings give each volume's driver.

    A volume of the pod that is attached already, but not used by a pod there, counts twice, as it does upstream.
    """
    counts: list[Count] = []
    wanted = set(new.values())
    for driver, limit in limits:
        if driver not in wanted:
            continue
        added = tuple(name for name, its in new.items() if its == driver and name not in used)
        if not added:
            continue
        count = Count(
            driver,
            limit,
            sum(its == driver for its in used.values()),
            sum(its == driver and name not in used for name, its in attached.items()),
            added,
        )
        if count.used + count.attached + len(added) > limit:
            counts.append(count)
    return counts

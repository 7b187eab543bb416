"""The placements of a group that are tried, and their order (placementsToEvaluate, nominatedPlacement in 1.38)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.podgroup_info import Placement, PodGroupInfo
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot

_LEAST_PERCENTAGE: Final = 5


def nominated_placement(placements: Sequence[Placement], info: PodGroupInfo, nodes: Snapshot) -> Placement | None:
    """Return the placement that holds nodes which members are nominated to; None if none or several do."""
    names = {pod.status.nominated_node_name for pod in info.pods}
    rows = {nodes.row_of[name] for name in names if name in nodes.row_of}
    found = [each for each in placements if rows and not rows.isdisjoint(each.rows.tolist())]
    return found[0] if len(found) == 1 else None


def placements_to_try(
    placements: Sequence[Placement], nominated: Placement | None, framework: Framework
) -> Iterator[tuple[Placement, int]]:
    """Yield each placement, the nominated one first, and how many have to fit for the search to end after it."""
    enough = placements_to_find(placements, framework)
    if nominated is not None:
        yield nominated, 1
    yield from ((each, enough) for each in placements if each is not nominated)


def placements_to_find(placements: Sequence[Placement], framework: Framework) -> int:
    """Return after how many feasible placements the search ends."""
    if not framework.handle.release.placements_are_sampled:
        return len(placements) + 1
    if not framework.placement_score_plugins:
        return 1
    percentage = framework.profile.percentage_of_placements_to_score
    if percentage == 0:
        percentage = max(_LEAST_PERCENTAGE, 100 - sum(len(each.rows) for each in placements) * 9 // 500)
    return max(1, len(placements) * percentage // 100)

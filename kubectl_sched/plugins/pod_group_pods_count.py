"""Prefers placements that take more pods of the group (plugins/podgrouppodscount/podgroup_pods_count.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.golang import truncated_divisions
from kubectl_sched.framework.interface import PlacementScorePlugin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.framework.podgroup_info import Placement, PodGroupInfo, ProposedAssignment
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers

_MAX_SCORE = 100


class PodGroupPodsCount(PlacementScorePlugin):
    """Counts the members that have a node and those that would get one."""

    name: ClassVar[str] = "PodGroupPodsCount"

    def score_placement(
        self, info: PodGroupInfo, placement: Placement, assignments: Sequence[ProposedAssignment], nodes: Snapshot
    ) -> int:
        """Return how many members would have a node."""
        return len(info.scheduled) + len(assignments)

    def normalize_placement_scores(self, scores: Integers) -> Integers:
        """Give the placement with most pods 100 points."""
        most = scores.max()
        if most == 0:
            raise PluginError("no pods from pod group are assigned to any of the candidate placements")
        return truncated_divisions(scores * _MAX_SCORE, most)

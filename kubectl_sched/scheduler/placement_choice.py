"""The placements of a group that are tried, in their order, and the scores of those that fit.

Answers to placementsToEvaluate and nominatedPlacement in pkg/scheduler/algorithm_podgroup.go (1.38), and to
RunPlacementScorePlugins in pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from kubectl_sched.framework.podgroup_info import PlacementScores, ProposedAssignment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.interface import PlacementScorePlugin
    from kubectl_sched.framework.podgroup_info import Placement, PodGroupInfo
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import PlacementResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers

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


def score_placements(
    info: PodGroupInfo, feasible: Sequence[PlacementResult], nodes: Snapshot, framework: Framework
) -> tuple[PlacementScores, ...]:
    """Return each plugin's scores of the feasible placements; raise PluginError as kube-scheduler words it."""
    plugins = framework.placement_score_plugins
    raw = [(plugin, _raw(plugin, info, feasible, nodes)) for plugin in plugins]
    normalized = [(plugin, _normalized(plugin, scores)) for plugin, scores in raw]
    for plugin, scores in normalized:
        outside = (scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE)
        if outside.any():
            raise PluginError(
                f'applying score defaultWeights on PlacementScore plugins: plugin "{plugin.name}" returns an invalid '
                f"score {scores[outside][0]}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after "
                "normalizing"
            )
    weights = framework.placement_weights
    return tuple(
        PlacementScores(plugin=plugin.name, weight=weights[plugin.name], normalized=scores)
        for plugin, scores in normalized
    )


def _raw(
    plugin: PlacementScorePlugin, info: PodGroupInfo, feasible: Sequence[PlacementResult], nodes: Snapshot
) -> Integers:
    try:
        scores = [plugin.score_placement(info, each.placement, _assignments(each), nodes) for each in feasible]
    except PluginError as failure:
        raise PluginError(f'running PlacementScore plugins: plugin "{plugin.name}" failed with: {failure}') from failure
    return np.array(scores, dtype=np.int64)


def _normalized(plugin: PlacementScorePlugin, scores: Integers) -> Integers:
    try:
        return plugin.normalize_placement_scores(scores)
    except PluginError as failure:
        raise PluginError(
            f'running NormalizePlacementScore on PlacementScore plugins: plugin "{plugin.name}" failed with: {failure}'
        ) from failure


def _assignments(result: PlacementResult) -> list[ProposedAssignment]:
    return [ProposedAssignment(pod=each.pod, node_name=each.node_name or "") for each in result.assigned]

"""Runs the PlacementScore plugins (RunPlacementScorePlugins in pkg/scheduler/framework/runtime/framework.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE, MIN_NODE_SCORE
from kubectl_sched.framework.podgroup_info import PlacementScores, ProposedAssignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.framework.interface import PlacementScorePlugin
    from kubectl_sched.framework.podgroup_info import PodGroupInfo
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import PlacementResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers


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

"""The configurations that Kubernetes' documentation shows, and what each is there said to do."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kubectl_sched.config import RELEASES, Configuration, KubeVersion, load_configuration
from kubectl_sched.config.types import NodeAffinityArgs, NodeResourcesFitArgs, PodTopologySpreadArgs

SERVING_V1 = [version for version in RELEASES if version >= KubeVersion(1, 25)]
DEFAULT_SCORES = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


def configured(version: KubeVersion, profiles: str, head: str = "") -> Configuration:
    document = yaml.safe_load(
        f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{head}\nprofiles:\n{profiles}"
    )
    return load_configuration(document, version)


def scores(configuration: Configuration, name: str) -> dict[str, int]:
    """Without DynamicResources, which scores in some of the minors only."""
    refs = configuration.profiles[name].plugins["score"]
    return {plugin.name: plugin.weight for plugin in refs if plugin.name != "DynamicResources"}


def args(configuration: Configuration, plugin: str, name: str = "default-scheduler") -> Any:
    return configuration.profiles[name].args[plugin]


pytestmark = pytest.mark.parametrize("version", SERVING_V1, ids=str)


def test_the_minimal_one_is_the_default_profile(version: KubeVersion) -> None:
    head = "clientConnection:\n  kubeconfig: /etc/srv/kubernetes/kube-scheduler/kubeconfig"
    minimal = configured(version, " []", head)
    assert minimal.profiles == load_configuration(None, version).profiles
    assert scores(minimal, "default-scheduler") == DEFAULT_SCORES


def test_score_plugins_are_disabled_and_custom_ones_named(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- plugins:
    score:
      disabled: [{name: PodTopologySpread}]
      enabled: [{name: MyCustomPluginA, weight: 2}, {name: MyCustomPluginB, weight: 1}]
""",
    )
    profile = configuration.profiles["default-scheduler"]
    assert scores(configuration, "default-scheduler") == {
        name: weight for name, weight in DEFAULT_SCORES.items() if name != "PodTopologySpread"
    }
    assert [(plugin.name, plugin.extension_points) for plugin in profile.unknown_plugins] == [
        ("MyCustomPluginA", ("score",)),
        ("MyCustomPluginB", ("score",)),
    ]


def test_a_second_profile_runs_without_scoring(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- schedulerName: default-scheduler
- schedulerName: no-scoring-scheduler
  plugins:
    preScore: {disabled: [{name: '*'}]}
    score: {disabled: [{name: '*'}]}
""",
    )
    usual, plain = configuration.profiles.values()
    assert (plain.scheduler_name, plain.plugins["preScore"], plain.plugins["score"]) == ("no-scoring-scheduler", (), ())
    assert scores(configuration, usual.scheduler_name) == DEFAULT_SCORES
    assert plain.plugins["filter"] == usual.plugins["filter"]


@pytest.mark.parametrize(
    "points",
    ["multiPoint: {enabled: [{name: MyPlugin}]}", "preScore: {enabled: [{name: MyPlugin}]}"],
)
def test_multi_point_enables_a_plugin_everywhere(version: KubeVersion, points: str) -> None:
    configuration = configured(version, f"- schedulerName: multipoint-scheduler\n  plugins:\n    {points}\n")
    profile = configuration.profiles["multipoint-scheduler"]
    assert [plugin.name for plugin in profile.unknown_plugins] == ["MyPlugin"]
    assert profile.plugins == load_configuration(None, version).profiles["default-scheduler"].plugins


def test_naming_a_default_score_plugin_moves_it_first(version: KubeVersion) -> None:
    profiles = "- plugins:\n    score:\n      enabled: [{name: NodeResourcesFit, weight: 5}]\n"
    rows = scores(configured(version, profiles), "default-scheduler")
    assert next(iter(rows.items())) == ("NodeResourcesFit", 5)
    assert rows == {**DEFAULT_SCORES, "NodeResourcesFit": 5}


def test_extension_points_come_before_multi_point_before_defaults(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- schedulerName: multipoint-scheduler
  plugins:
    multiPoint:
      enabled: [{name: NodeResourcesFit, weight: 3}, {name: ImageLocality}]
      disabled: [{name: PodTopologySpread}]
    filter:
      disabled: [{name: NodePorts}]
    score:
      enabled: [{name: TaintToleration}]
""",
    )
    profile = configuration.profiles["multipoint-scheduler"]
    rows = scores(configuration, "multipoint-scheduler")
    assert next(iter(rows.items())) == ("TaintToleration", 1)
    assert (rows["NodeResourcesFit"], rows["ImageLocality"]) == (3, 1)
    assert "PodTopologySpread" not in rows
    assert "NodePorts" in {plugin.name for plugin in profile.plugins["preFilter"]}
    assert "NodePorts" not in {plugin.name for plugin in profile.plugins["filter"]}


def test_bin_packing_by_most_allocated(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: cpu, weight: 1}
        - {name: memory, weight: 1}
        - {name: intel.com/foo, weight: 3}
        - {name: intel.com/bar, weight: 3}
""",
    )
    fit = args(configuration, "NodeResourcesFit")
    assert isinstance(fit, NodeResourcesFitArgs)
    assert fit.scoring_strategy.type == "MostAllocated"
    assert [(resource.name, resource.weight) for resource in fit.scoring_strategy.resources] == [
        ("cpu", 1),
        ("memory", 1),
        ("intel.com/foo", 3),
        ("intel.com/bar", 3),
    ]


def test_bin_packing_by_ratio(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: intel.com/foo, weight: 3}, {name: intel.com/bar, weight: 3}]
        requestedToCapacityRatio:
          shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
""",
    )
    ratio = args(configuration, "NodeResourcesFit").scoring_strategy.requested_to_capacity_ratio
    assert [(point.utilization, point.score) for point in ratio.shape] == [(0, 0), (100, 10)]


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [("[]", 0), ("[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]", 1)],
)
def test_cluster_level_spread_constraints(version: KubeVersion, constraints: str, expected: int) -> None:
    spread = args(
        configured(
            version,
            "- pluginConfig:\n  - name: PodTopologySpread\n    args:\n"
            f"      defaultConstraints: {constraints}\n      defaultingType: List\n",
        ),
        "PodTopologySpread",
    )
    assert isinstance(spread, PodTopologySpreadArgs)
    assert (spread.defaulting_type, len(spread.default_constraints)) == ("List", expected)


def test_node_affinity_of_a_profile(version: KubeVersion) -> None:
    configuration = configured(
        version,
        """
- schedulerName: default-scheduler
- schedulerName: foo-scheduler
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: scheduler-profile, operator: In, values: [foo]}]
""",
    )
    added = args(configuration, "NodeAffinity", "foo-scheduler")
    assert isinstance(added, NodeAffinityArgs)
    assert added.added_affinity is not None
    assert added.added_affinity.required is not None
    (term,) = added.added_affinity.required.node_selector_terms
    assert term.match_expressions[0].values == ("foo",)
    assert args(configuration, "NodeAffinity").added_affinity is None


def test_percentage_of_nodes_to_score_for_all_and_for_one(version: KubeVersion) -> None:
    profiles = "- schedulerName: a\n- schedulerName: b\n  percentageOfNodesToScore: 100\n"
    configuration = configured(version, profiles, "percentageOfNodesToScore: 50")
    percentages = {name: profile.percentage_of_nodes_to_score for name, profile in configuration.profiles.items()}
    assert percentages == {"a": 50, "b": 100}

"""Refused and omitted settings are reported in plain words."""

from __future__ import annotations

import json

import pytest
import yaml

from kubectl_sched.config import Configuration, ConfigurationError, KubeVersion, load_configuration
from kubectl_sched.config.types import Duration

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
THREE = """
profiles:
- schedulerName: my-scheduler
  plugins:
    score:
      disabled: [{name: TaintToleration}]
      enabled: [{name: MyCustomPluginA, weight: 2}, {name: MyCustomPluginB, weight: 1}]
- schedulerName: my-scheduler2
  plugins:
    preScore: {disabled: [{name: '*'}]}
- schedulerName: my-scheduler3
"""


def load(body: str, version: str = "1.36") -> Configuration:
    return load_configuration(yaml.safe_load(HEAD + body), KubeVersion.parse(version))


def test_no_number_of_an_affinity_is_too_long_to_be_refused() -> None:
    expression = f"{{key: a, operator: Gt, values: ['{'9' * 5000}']}}"
    terms = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    added = f"{{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}"
    with pytest.raises(ConfigurationError, match="the value must be an integer"):
        load(f"profiles: [{{pluginConfig: [{{name: NodeAffinity, args: {{addedAffinity: {added}}}}}]}}]")


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ("parallelizm: 3", "did you mean parallelism instead of parallelizm?"),
        ("Profiles: []", "did you mean profiles instead of Profiles?"),
        ("profiles: [{schedulerName: a}, {schedulerName: a}]", "two profiles have the schedulerName 'a'"),
        ("profiles: [{}, {schedulerName: a}]", "each needs a schedulerName of its own"),
        ("profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]", "such as PrioritySort"),
        ("profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]", "such as DefaultBinder"),
        (
            "profiles: [{schedulerName: a, plugins: {queueSort: {disabled: [{name: X}]}}}, {schedulerName: b}]",
            "queueSort must be the same in every profile",
        ),
        ("profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: -5}]}}}]", "one is negative"),
        (
            (
                "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
                "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}]}]"
            ),
            "set defaultingType: List",
        ),
    ],
)
def test_a_refusal_says_what_to_do(body: str, advice: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(body)
    assert advice in refused.value.advice
    assert str(refused.value) == (
        f"kube-scheduler refuses this configuration: {refused.value.reason} ({refused.value.advice})"
    )


@pytest.mark.parametrize("qps", ["3.402823567797337e+38", "-1.0e+39", "9" * 400])
def test_a_number_beyond_32_bits_is_refused(qps: str) -> None:
    largest = "3.4028235677973362e+38"
    load(f"clientConnection: {{qps: {largest}}}")
    document = yaml.safe_load(HEAD) | {"clientConnection": {"qps": json.loads(qps)}}
    with pytest.raises(ConfigurationError, match="qps: expected a number of 32 bits"):
        load_configuration(document, KubeVersion.parse("1.36"))


@pytest.mark.parametrize("version", ["1.33", "1.34", "1.35"])
def test_a_ratio_without_a_shape_crashes_older_minors(version: str) -> None:
    strategy = "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: X}}}]}]"
    with pytest.raises(ConfigurationError, match="nil pointer dereference"):
        load(strategy.replace("X", "RequestedToCapacityRatio"), version)


@pytest.mark.parametrize("first", ["[]", "[{name: PrioritySort, args: {x: 1}}]"])
@pytest.mark.parametrize("second", ["[]", "[{name: PrioritySort, args: {x: 1}}]", "[{name: PrioritySort, args: {}}]"])
def test_the_plugin_that_sorts_the_queue_has_the_same_arguments_everywhere(first: str, second: str) -> None:
    profiles = f"profiles: [{{schedulerName: a, pluginConfig: {first}}}, {{schedulerName: b, pluginConfig: {second}}}]"
    if first == second:
        assert list(load(profiles).profiles) == ["a", "b"]
        return
    with pytest.raises(ConfigurationError) as refused:
        load(profiles)
    assert refused.value.reason == 'initializing profiles: different queue sort plugin args for profile "b"'
    assert "all profiles share one queue" in refused.value.advice


def test_plugins_that_are_not_in_tree_are_left_out_and_named() -> None:
    configuration = load(THREE)
    assert list(configuration.profiles) == ["my-scheduler", "my-scheduler2", "my-scheduler3"]
    first, second, third = configuration.profiles.values()
    assert [plugin.upstream for plugin in first.unknown_plugins] == [
        "initializing profiles: creating profile for scheduler name my-scheduler: "
        f'ScorePlugin "MyCustomPlugin{letter}" does not exist'
        for letter in "AB"
    ]
    assert "TaintToleration" not in {plugin.name for plugin in first.plugins["score"]}
    assert second.plugins["preScore"] == ()
    assert second.plugins["score"] == third.plugins["score"]
    assert len(configuration.warnings) == 2


@pytest.mark.parametrize(("point", "usual"), [("queueSort", "PrioritySort"), ("bind", "DefaultBinder")])
def test_an_unknown_plugin_may_have_replaced_what_is_required(point: str, usual: str) -> None:
    sets = f"{point}: {{disabled: [{{name: '*'}}], enabled: [{{name: Custom}}]}}"
    (profile,) = load(f"profiles: [{{plugins: {{{sets}}}}}]").profiles.values()
    assert [plugin.name for plugin in profile.plugins[point]] == [usual]
    assert [plugin.name for plugin in profile.unknown_plugins] == ["Custom"]


def test_extenders_are_asked_in_order_and_ignorable_ones_last() -> None:
    extenders = load(
        "extenders: [{urlPrefix: a, ignorable: true, httpTimeout: 100ms}, {urlPrefix: b}, {urlPrefix: c}]"
    ).extenders
    assert [(extender.url_prefix, extender.http_timeout) for extender in extenders] == [
        ("b", Duration.of(5)),
        ("c", Duration.of(5)),
        ("a", Duration(100_000_000)),
    ]

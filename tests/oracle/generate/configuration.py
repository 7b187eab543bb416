"""Configurations and feature gates."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.oracle.generate.pods import node_affinity
from tests.oracle.generate.values import HOSTNAME, ZONE, Json, JsonStrategy, some

SCORING = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)
FILTERING = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)

SCORED_RESOURCES = ("cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi", "pods", "unknown")
BOTH = tuple(name for name in FILTERING if name in SCORING)

weighted: JsonStrategy = st.fixed_dictionaries(
    {"name": st.sampled_from(SCORED_RESOURCES), "weight": st.integers(1, 100)}
)
resources = st.lists(
    weighted,
    min_size=1,
    max_size=4,
    unique_by=lambda resource: resource["name"],
)


@st.composite
def shape(draw: st.DrawFn) -> list[Json]:
    """The points of RequestedToCapacityRatio, in order of utilization."""
    at = sorted(draw(st.sets(st.sampled_from([0, 10, 40, 75, 100]), min_size=1, max_size=4)))
    return [{"utilization": utilization, "score": draw(st.integers(0, 10))} for utilization in at]


@st.composite
def fit_args(draw: st.DrawFn) -> Json:
    """NodeResourcesFitArgs."""
    kind = draw(st.sampled_from(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]))
    strategy: Json = {"type": kind, "resources": draw(resources)}
    if kind == "RequestedToCapacityRatio":
        strategy["requestedToCapacityRatio"] = {"shape": draw(shape())}
    return {
        "scoringStrategy": strategy,
        "ignoredResources": draw(st.sampled_from([[], ["example.com/foo"]])),
        "ignoredResourceGroups": draw(st.sampled_from([[], ["nvidia.com"]])),
    }


default_constraint: JsonStrategy = st.fixed_dictionaries(
    {
        "maxSkew": st.sampled_from([1, 3]),
        "topologyKey": st.sampled_from([ZONE, HOSTNAME]),
        "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    }
)


def _what_a_constraint_is_about(constraint: Json) -> tuple[str, str]:
    return constraint["topologyKey"], constraint["whenUnsatisfiable"]


default_constraints = st.lists(default_constraint, max_size=2, unique_by=_what_a_constraint_is_about)
spread_args = st.one_of(
    st.just({"defaultingType": "System"}),
    st.fixed_dictionaries(
        {
            "defaultingType": st.just("List"),
            "defaultConstraints": default_constraints,
        }
    ),
)

ARGS: dict[str, st.SearchStrategy[Any]] = {
    "NodeResourcesFit": fit_args(),
    "NodeResourcesBalancedAllocation": st.fixed_dictionaries(
        {
            "resources": st.lists(st.sampled_from(SCORED_RESOURCES), min_size=1, max_size=4, unique=True).map(
                lambda names: [{"name": name, "weight": 1} for name in names]
            )
        }
    ),
    "PodTopologySpread": spread_args,
    "InterPodAffinity": st.fixed_dictionaries(
        {"hardPodAffinityWeight": st.sampled_from([0, 1, 100]), "ignorePreferredTermsOfExistingPods": st.booleans()}
    ),
    "NodeAffinity": st.fixed_dictionaries({}, optional={"addedAffinity": node_affinity}),
    "DefaultPreemption": st.fixed_dictionaries(
        {"minCandidateNodesPercentage": st.just(10), "minCandidateNodesAbsolute": st.sampled_from([1, 100])}
    ),
}


OTHER_SCHEDULER = "another"


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A KubeSchedulerConfiguration as text (JSON, which is YAML), or nothing for the defaults."""
    if draw(st.booleans()):
        return ""
    names = ["default-scheduler", *([OTHER_SCHEDULER] if draw(st.booleans()) else [])]
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [draw(profiles(name)) for name in names],
    }
    return json.dumps(document)


@st.composite
def profiles(draw: st.DrawFn, name: str) -> Json:
    """A profile with plugins and arguments of its own."""
    profile: Json = {"schedulerName": name}
    chosen = draw(some(sorted(ARGS), up_to=2))
    if chosen:
        profile["pluginConfig"] = [{"name": name, "args": draw(ARGS[name])} for name in sorted(set(chosen))]
    plugins: Json = {}
    if draw(st.booleans()):
        weighted = draw(st.lists(st.sampled_from(SCORING), max_size=2, unique=True))
        plugins["score"] = {
            "enabled": [{"name": name, "weight": draw(st.sampled_from([1, 5, 100]))} for name in weighted],
            "disabled": [{"name": name} for name in weighted],
        }
    if draw(st.integers(0, 3)) == 0:
        without = draw(st.lists(st.sampled_from(FILTERING), max_size=2, unique=True))
        plugins["filter"] = {"disabled": [{"name": name} for name in without]}
    if draw(st.integers(0, 5)) == 0:
        point = draw(st.sampled_from(["preFilter", "preScore", "postFilter", "multiPoint"]))
        without = draw(st.lists(st.sampled_from([*FILTERING, "*"]), min_size=1, max_size=2, unique=True))
        first = draw(st.lists(st.sampled_from(BOTH), max_size=2, unique=True))
        plugins[point] = {"disabled": [{"name": name} for name in without]}
        if point == "multiPoint":
            plugins[point]["enabled"] = [{"name": name} for name in first]
    if plugins:
        profile["plugins"] = plugins
    return profile

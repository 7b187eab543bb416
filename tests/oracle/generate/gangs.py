"""Gangs: groups of pods that are scheduled together or not at all, as the versions spell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.oracle.generate.values import NAMESPACES, Json, metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

GATES = ("GenericWorkload", "GangScheduling", "CompositePodGroup", "TopologyAwareWorkloadScheduling")
"""What turns gangs on; each is asked for where the version knows it."""

ONLY_1_38 = "RequestCostAggregation"
"""A gate that 1.38 brings; where it is known, a composite group has the version of the others."""

NAMES = ("gang-a", "gang-b", "gang-c")
COMPOSITES = ("tree-a", "tree-b")

_policies = st.one_of(
    st.just({"basic": {}}),
    st.builds(lambda count: {"gang": {"minCount": count}}, st.integers(1, 4)),
)
_composite_policies = st.one_of(
    st.just({"basic": {}}),
    st.builds(lambda count: {"gang": {"minGroupCount": count}}, st.integers(1, 3)),
)


_disruptions = st.fixed_dictionaries(
    {},
    optional={
        "priority": st.sampled_from([-20, 0, 50, 500]),
        "disruptionMode": st.sampled_from([{"all": {}}, {"single": {}}]),
    },
)
"""Who may preempt the group, and whether all of its pods go at once."""


@st.composite
def groups(draw: st.DrawFn, gates: frozenset[str]) -> list[Json]:
    """Some of the groups that pods name: parts of Workloads in 1.35, PodGroups since, composite ones since 1.37."""
    if "CompositePodGroup" in gates:
        return [*(draw(_pod_groups("v1beta1", trees=True))), *draw(_composites(gates))]
    if "TopologyAwareWorkloadScheduling" in gates:
        return draw(_pod_groups("v1alpha2", trees=False))
    return draw(_workloads())


@st.composite
def member(draw: st.DrawFn, pod: Json, gates: frozenset[str]) -> Json:
    """The pod, often in a group that may not exist."""
    if draw(st.integers(0, 3)) == 0:
        return pod
    name = draw(st.sampled_from(NAMES))
    if "TopologyAwareWorkloadScheduling" in gates:
        return {**pod, "spec": {**pod["spec"], "schedulingGroup": {"podGroupName": name}}}
    replica = draw(st.sampled_from([{}, {"podGroupReplicaKey": "1"}, {"podGroupReplicaKey": "2"}]))
    reference = {"name": draw(st.sampled_from(COMPOSITES)), "podGroup": name, **replica}
    return {**pod, "spec": {**pod["spec"], "workloadRef": reference}}


@st.composite
def running_member(draw: st.DrawFn, pod: Json, gates: frozenset[str]) -> Json:
    """The running pod in a group; which of several that go together is named first, and its priority, is chance."""
    made = draw(member(pod, gates))
    if "schedulingGroup" not in made["spec"]:
        return made
    return {**made, "spec": {key: value for key, value in made["spec"].items() if key != "priority"}}


@st.composite
def _workloads(draw: st.DrawFn) -> list[Json]:
    return [
        _object("v1alpha1", "Workload", name, namespace, {"podGroups": draw(_workload_groups())})
        for namespace in NAMESPACES
        for name in draw(st.lists(st.sampled_from(COMPOSITES), unique=True))
    ]


@st.composite
def _workload_groups(draw: st.DrawFn) -> list[Json]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return [{"name": name, "policy": draw(_policies)} for name in names]


@st.composite
def _pod_groups(draw: st.DrawFn, version: str, *, trees: bool) -> list[Json]:
    found = []
    for namespace in NAMESPACES:
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
            spec: Json = {"schedulingPolicy": draw(_policies)}
            if trees:
                spec |= draw(_parents()) | draw(_disruptions)
            found.append(_object(version, "PodGroup", name, namespace, spec))
    return found


@st.composite
def _composites(draw: st.DrawFn, gates: frozenset[str]) -> list[Json]:
    """Composite groups, of which some are their own ancestors: over these the preemption of 1.38 never ends."""
    is_1_38 = ONLY_1_38 in gates
    return [
        _object(
            "v1beta1" if is_1_38 else "v1alpha3",
            "CompositePodGroup",
            name,
            namespace,
            {"schedulingPolicy": draw(_composite_policies)}
            | draw(_parents(COMPOSITES[: COMPOSITES.index(name)] if is_1_38 else COMPOSITES))
            | draw(_disruptions),
        )
        for namespace in NAMESPACES
        for name in draw(st.lists(st.sampled_from(COMPOSITES), unique=True))
    ]


def _parents(names: Sequence[str] = COMPOSITES) -> st.SearchStrategy[Json]:
    return st.sampled_from([{}, *({"parentCompositePodGroupName": name} for name in names)])


def _object(version: str, kind: str, name: str, namespace: str, spec: Json) -> Json:
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": kind,
        "metadata": metadata(name, f"uid-{kind.lower()}-{namespace}-{name}", namespace),
        "spec": spec,
    }

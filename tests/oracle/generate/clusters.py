"""Whole requests: a cluster, a configuration, and the pods to explain."""

from hypothesis import strategies as st

from tests.oracle.generate.configuration import OTHER_SCHEDULER, configurations
from tests.oracle.generate.devices import claiming, inventory
from tests.oracle.generate.gangs import GATES as GANG_GATES
from tests.oracle.generate.gangs import groups, member, running_member
from tests.oracle.generate.nodes import nodes
from tests.oracle.generate.pods import OWNERS, pending_pods, running_pods
from tests.oracle.generate.values import (
    NAMESPACES,
    Json,
    label_selectors,
    labels,
    maybe,
    metadata,
    namespaces,
    often,
    some,
    without_nothing,
)
from tests.oracle.generate.volumes import claimed, storage

TOPICS: dict[str, frozenset[str]] = {
    "resources": frozenset({"resources"}),
    "taints": frozenset({"taints"}),
    "nodes": frozenset({"nodes", "topology"}),
    "features": frozenset({"features"}),
    "ports": frozenset({"ports"}),
    "images": frozenset({"images"}),
    "spread": frozenset({"spread", "topology", "nodes", "taints", "owners"}),
    "interpod": frozenset({"interpod", "topology"}),
    "volumes": frozenset({"volumes"}),
    "devices": frozenset({"devices"}),
    "gangs": frozenset({"gangs"}),
    "gang-preemption": frozenset({"gangs", "preemption", "resources", "ports", "budgets", "interpod"}),
    "queue": frozenset({"queue", "resources", "preemption"}),
    "preemption": frozenset({"preemption", "resources", "ports", "interpod", "budgets", "queue"}),
    "device-preemption": frozenset({"devices", "preemption", "queue"}),
    "configuration": frozenset({"configuration", "resources", "taints", "nodes", "interpod", "images", "spread"}),
    "mixed": frozenset(
        {
            *("resources", "taints", "nodes", "topology", "ports", "images", "spread", "owners", "interpod", "volumes"),
            *("devices", "queue", "preemption", "budgets", "configuration", "features"),
        }
    ),
}
"""What the clusters of each kind are about; everything else in them is plain."""

GATES: dict[str, tuple[str, ...]] = {
    "features": ("NodeDeclaredFeatures",),
    "volumes": ("StorageCapacityScoring",),
    "taints": ("TaintTolerationComparisonOperators",),
    "queue": ("InPlacePodVerticalScalingSchedulerPreemption",),
}
"""Feature gates that change what a topic's plugins do, off by default."""

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "resources": (
        *("PodLevelResources", "InPlacePodVerticalScaling", "InPlacePodLevelResourcesVerticalScaling"),
        *("DRAExtendedResource", "InPlacePodVerticalScalingSchedulerPreemption"),
    ),
    "spread": ("NodeInclusionPolicyInPodTopologySpread", "MatchLabelKeysInPodTopologySpread"),
    "interpod": ("InterPodAffinityHostnameFastPath",),
    "volumes": ("VolumeAttributesClass", "VolumeLimitScaling", "CSIMigrationPortworx"),
}
"""More of them, on or off by default: now and then one is switched."""


@st.composite
def requests(draw: st.DrawFn, topic: str, gates: frozenset[str] = frozenset()) -> Json:
    """A request of the oracle for clusters of a topic; `gates` are those that the Kubernetes version knows."""
    about = TOPICS[topic]
    cluster = draw(nodes(about))
    names = [node["metadata"]["name"] for node in cluster]
    objects = [*namespace_objects(draw), *cluster]
    if "volumes" in about:
        objects += draw(storage(cluster))
    if "devices" in about:
        objects += draw(inventory(cluster))
    if "owners" in about:
        objects += draw(owners())
    if "budgets" in about:
        objects += draw(budgets())
    running = [draw(running_pods(about, names, i)) for i in range(draw(st.integers(0, 6)))]
    pending = [draw(pending_pods(about, names, i)) for i in range(draw(st.integers(1, 4)))]
    if "gangs" in about and "GenericWorkload" in gates:
        objects += draw(groups(gates))
        running = [draw(running_member(pod, gates)) for pod in running]
        pending = [draw(member(pod, gates)) for pod in pending]
    config = draw(configurations()) if "configuration" in about else ""
    if OTHER_SCHEDULER in config:
        pending = [draw(of_some_profile(pod)) for pod in pending]
    for pod in (*running, *pending):
        objects += needs(draw, pod, cluster, about)
    asked = pending + (running[:1] if draw(st.integers(0, 3)) == 0 else [])
    switchable = [gate for found in about for gate in GATES.get(found, ()) if gate in gates]
    return {
        "id": topic,
        "objects": objects,
        "config": config,
        "featureGates": {gate: True for gate in switchable if draw(st.booleans())}
        | _gang_gates(about, gates)
        | draw(_switched(about, gates)),
        "pods": [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in asked],
    }


@st.composite
def of_some_profile(draw: st.DrawFn, pod: Json) -> Json:
    """The pod with the name of a profile, now and then of one that is not there."""
    name = draw(st.sampled_from(["default-scheduler", OTHER_SCHEDULER, OTHER_SCHEDULER, OTHER_SCHEDULER, "nobody"]))
    return pod | {"spec": pod["spec"] | {"schedulerName": name}}


@st.composite
def _switched(draw: st.DrawFn, about: frozenset[str], gates: frozenset[str]) -> dict[str, bool]:
    known = [gate for topic in sorted(about) for gate in ELSEWHERE.get(topic, ()) if gate in gates]
    if not known or draw(st.integers(0, 3)):
        return {}
    return {draw(st.sampled_from(known)): draw(st.booleans())}


def _gang_gates(about: frozenset[str], gates: frozenset[str]) -> dict[str, bool]:
    return {gate: True for gate in GANG_GATES if "gangs" in about and gate in gates}


def needs(draw: st.DrawFn, pod: Json, cluster: list[Json], about: frozenset[str]) -> list[Json]:
    """The pod and what it refers to."""
    objects: list[Json] = []
    if "volumes" in about:
        pod, more = draw(claimed(pod, cluster))
        objects += more
    if "devices" in about:
        pod, more = draw(claiming(pod, cluster))
        objects += more
    return [*objects, pod]


def namespace_objects(draw: st.DrawFn) -> list[Json]:
    """The namespaces, with labels."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": metadata(
                name, f"uid-ns-{name}", labels={"kubernetes.io/metadata.name": name} | draw(namespaces)
            ),
        }
        for name in draw(st.sampled_from([NAMESPACES] * 4 + [NAMESPACES[1:]]))
    ]


@st.composite
def owners(draw: st.DrawFn) -> list[Json]:
    """Services and controllers, whose selectors the default constraints of PodTopologySpread use."""
    found = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(f"service-{i}", f"uid-service-{i}", draw(st.sampled_from(NAMESPACES))),
            "spec": without_nothing({"selector": draw(maybe(labels)) or None}),
        }
        for i in range(draw(st.integers(0, 2)))
    ]
    for name, (version, kind) in OWNERS.items():
        for namespace in sorted(draw(st.sets(st.sampled_from(NAMESPACES)))):
            selector = draw(labels if kind == "ReplicationController" else label_selectors)
            found.append(
                {
                    "apiVersion": version,
                    "kind": kind,
                    "metadata": metadata(name, f"uid-{namespace}-{name}", namespace),
                    "spec": {"selector": selector},
                }
            )
    return found


@st.composite
def budgets(draw: st.DrawFn) -> list[Json]:
    """PodDisruptionBudgets that allow little."""
    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata(f"pdb-{i}", f"uid-pdb-{i}", draw(st.sampled_from(NAMESPACES))),
            "spec": without_nothing({"selector": draw(often(label_selectors))}),
            "status": {
                "disruptionsAllowed": draw(st.integers(0, 2)),
                "disruptedPods": dict.fromkeys(draw(some(["run-0", "run-1"], up_to=1)), "2026-01-01T00:00:00Z"),
            },
        }
        for i in range(draw(st.integers(0, 3)))
    ]

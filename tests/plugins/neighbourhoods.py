"""Random small clusters whose pods care about each other: for the laws of spread and inter-pod affinity."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.core import Namespace, Service
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.interface import PreFilterPlugin
from kubectl_sched.framework.status import SUCCESS, Code
from tests.plugins.clusters import node, pod, requests, snapshot

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot

KEYS = ("kubernetes.io/hostname", "kubernetes.io/hostname", "zone", "zone", "zone", "pool", "meal")
NAMESPACES = ("default", "a", "b")


def namespace(name: str, **labels: str) -> Namespace:
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace)


def service(name: str, selector: dict[str, str], namespace: str = "default") -> Service:
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}, Service
    )


pod_labels = st.fixed_dictionaries({}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.just("front")})
requirements = st.one_of(
    st.builds(
        lambda operator, values: {"key": "app", "operator": operator, "values": values},
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(["web", "db", "cache"]), min_size=1, max_size=2),
    ),
    st.sampled_from([{"key": "tier", "operator": "Exists"}, {"key": "tier", "operator": "DoesNotExist"}]),
)
selectors: st.SearchStrategy[dict[str, Any] | None] = st.one_of(
    st.just({"matchLabels": {"app": "web"}}),
    st.builds(lambda several: {"matchExpressions": several}, st.lists(requirements, min_size=1, max_size=2)),
    st.none(),
    st.just({}),
)


@dataclass(frozen=True)
class Neighbourhood:
    """A cluster, a pod to place in it, and one more pod that runs or could run on one of its nodes."""

    seed: int
    nodes: Snapshot = field(repr=False)
    incoming: Pod = field(repr=False)
    other: Pod = field(repr=False)
    row: int = field(repr=False)


class Maker:
    """Makes clusters out of a seed: dense ones, in which most pods and nodes have to do with each other."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the point is that it can be repeated

    def selector(self, *, selects_something: bool = False) -> dict[str, Any] | None:
        choices: list[dict[str, Any] | None] = [
            *[{"matchLabels": {"app": app}} for app in ("web", "web", "db")],
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]},
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
            {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
        ]
        return self.random.choice(choices if selects_something else [*choices, {}, None])

    def term(self) -> dict[str, Any]:
        term: dict[str, Any] = {"topologyKey": self.random.choice(KEYS), "labelSelector": self.selector()}
        if self.random.random() < 0.3:
            term["namespaces"] = self.random.sample(NAMESPACES, self.random.randrange(1, 3))
        if self.random.random() < 0.2:
            keys = [{"key": "team", "operator": self.random.choice(["Exists", "DoesNotExist"])}]
            term["namespaceSelector"] = self.random.choice([{}, {"matchExpressions": keys}])
        return {key: value for key, value in term.items() if value is not None}

    def terms(self) -> dict[str, Any]:
        preferred = [
            {"weight": self.random.randrange(1, 101), "podAffinityTerm": self.term()}
            for _ in range(self.random.randrange(2))
        ]
        return {
            "requiredDuringSchedulingIgnoredDuringExecution": [self.term() for _ in range(self.random.randrange(3))],
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }

    def affinity(self) -> dict[str, Any]:
        kinds = self.random.choice([("podAntiAffinity",), ("podAffinity",), ("podAffinity", "podAntiAffinity"), ()])
        return {kind: self.terms() for kind in kinds}

    def constraint(self) -> dict[str, Any]:
        action = self.random.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
        constraint: dict[str, Any] = {
            "maxSkew": self.random.choice([1, 1, 2]),
            "topologyKey": self.random.choice(KEYS),
            "whenUnsatisfiable": action,
            "labelSelector": self.selector(selects_something=True),
            "nodeAffinityPolicy": self.random.choice([None, "Honor", "Ignore"]),
            "nodeTaintsPolicy": self.random.choice([None, "Honor", "Ignore"]),
            "minDomains": self.random.choice([None, None, 2, 4]) if action == "DoNotSchedule" else None,
            "matchLabelKeys": self.random.choice([None, None, ["tier"]]),
        }
        return {key: value for key, value in constraint.items() if value is not None}

    def node_of_district(self, name: str, *, is_complete: bool) -> Node:
        labels = {"zone": self.random.choice(["za", "zb", "zc"]), "kubernetes.io/hostname": name}
        labels |= {"pool": self.random.choice(["", "gpu"]), "meal": self.random.choice(["tea", "rice"])}
        labels = {key: value for key, value in labels.items() if is_complete or self.random.random() < 0.95}
        size = {"cpu": self.random.choice(["1", "2"]), "memory": "4Gi", "pods": self.random.choice(["2", "9"])}
        return node(name, labels=labels, allocatable=size)

    def node(self, name: str) -> Node:
        labels = {"zone": self.random.choice(["za", "zb"]), "pool": self.random.choice(["", "gpu", "cpu"])}
        labels["kubernetes.io/hostname"] = self.random.choice([name, name, name, "shared"])
        labels = {key: value for key, value in labels.items() if self.random.random() < 0.8}
        taints = self.random.choice([[], [], [{"key": "dedicated", "effect": "NoSchedule"}]])
        return node(name, labels=labels, taints=taints)

    def metadata(self) -> dict[str, Any]:
        labels = {"app": self.random.choice(["web", "web", "db"])}
        labels |= self.random.choice([{}, {"tier": "front"}])
        return {"labels": labels, "namespace": self.random.choice(["default", "default", "a", "b"])}

    def existing_pod(self, name: str, on: str = "") -> Pod:
        leaving = {"deletionTimestamp": "2026-01-02T03:04:05Z"} if on and self.random.random() < 0.2 else {}
        return pod(name, on=on, metadata=self.metadata() | leaving, affinity=self.affinity())

    def incoming_pod(self) -> Pod:
        return pod(
            "incoming",
            metadata=self.metadata(),
            affinity=self.affinity(),
            topologySpreadConstraints=[self.constraint() for _ in range(self.random.choice([0, 1, 1, 2]))],
            nodeSelector=self.random.choice([{}, {}, {}, {"pool": "gpu"}]),
        )


def neighbourhood(seed: int) -> Neighbourhood:
    """The cluster of a seed."""
    maker = Maker(seed)
    names = [f"n{index}" for index in range(maker.random.randrange(1, 7))]
    existing = [
        maker.existing_pod(f"p{index}", maker.random.choice(names)) for index in range(maker.random.randrange(9))
    ]
    nodes = snapshot(
        *(maker.node(name) for name in names),
        *existing,
        *(namespace("default"), namespace("a", team="x"), namespace("b")),
        *(service("web", {"app": "web"}), service("front", {"tier": "front"}, "a")),
    )
    return Neighbourhood(
        seed, nodes, maker.incoming_pod(), maker.existing_pod("other"), maker.random.randrange(len(names))
    )


def district(seed: int) -> Neighbourhood:
    """A neighbourhood of many nodes in few domains, where all labels are there as a rule, and pods ask for some cpu."""
    maker = Maker(seed)
    names = [f"n{index}" for index in range(maker.random.randrange(30, 70))]
    is_complete = maker.random.random() < 0.8
    existing = [
        maker.existing_pod(f"p{index}", maker.random.choice(names)) for index in range(maker.random.randrange(20))
    ]
    nodes = snapshot(
        *(maker.node_of_district(name, is_complete=is_complete) for name in names),
        *existing,
        *(namespace("default"), namespace("a", team="x"), namespace("b")),
        service("web", {"app": "web"}),
    )
    incoming = maker.incoming_pod()
    containers = pod("sized", **requests(cpu="300m", memory="100Mi")).spec.containers
    incoming = structs.replace(incoming, spec=structs.replace(incoming.spec, containers=containers))
    return Neighbourhood(seed, nodes, incoming, maker.existing_pod("other"), maker.random.randrange(len(names)))


neighbourhoods = st.integers(0, 2**32 - 1).map(neighbourhood)


def statuses(plugin: FilterPlugin, state: CycleState, incoming: Pod, nodes: Snapshot) -> list[Status]:
    """The verdicts of Filter on each node, given a state that PreFilter has written."""
    return list(plugin.filter(state, incoming, nodes))


def from_scratch(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot) -> tuple[CycleState, list[Status]]:
    """The state that PreFilter writes, and what Filter says of each node: nothing against it where PreFilter skips."""
    assert isinstance(plugin, PreFilterPlugin)
    state = CycleState()
    if plugin.pre_filter(state, incoming, nodes).status.code is Code.SKIP:
        return state, [SUCCESS] * len(nodes)
    return state, statuses(plugin, state, incoming, nodes)


def has_state(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot) -> bool:
    """Report whether PreFilter does not skip."""
    assert isinstance(plugin, PreFilterPlugin)
    return plugin.pre_filter(CycleState(), incoming, nodes).status.is_success


def shuffled(nodes: Snapshot, order: list[int]) -> Snapshot:
    """Return the cluster with its nodes listed in another order."""
    objects = [nodes.node_objects[row] for row in order]
    others = [*nodes.objects.all(Namespace), *nodes.objects.all(Service)]
    return snapshot(*objects, *nodes.existing_pods.pods, *others)


def row_alone(nodes: Snapshot, row: int) -> Snapshot:
    """One node of the cluster."""
    return nodes.take(np.array([row], dtype=np.intp))

"""The counted work of a cycle, and of a hint, grows no faster than the pod does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from kubectl_sched.api.resource import DeviceClass, ResourceClaim
from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion
from kubectl_sched.binding.second_scheduler.queueing_hints.requeue_decision import HINTS
from kubectl_sched.config import SUPPORTED, KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, snapshot
from tests.plugins.storage_objects import claim, storage_class, stored, volume
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.interface import Plugin
    from kubectl_sched.snapshot import Snapshot

    Spec = Callable[[int], dict[str, Any]]

FEW, MOST_GROWTH = 200, 2.5
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def named(count: int, name: str = "k") -> list[str]:
    return [f"{name}{number}" for number in range(count)]


def pod_term(value: str, key: str = "zone", label: str = "app") -> dict[str, Any]:
    chosen = {"matchExpressions": [{"key": label, "operator": "NotIn", "values": [value]}]}
    return {"labelSelector": chosen, "topologyKey": key}


def weighted(term: dict[str, Any], field: str) -> dict[str, Any]:
    return {"weight": 1, field: term}


def node_term(operator: str, value: str, key: str = "number") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": [value]}]}


def spread(name: str, when: str, key: str = "zone") -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": pod_term(name)["labelSelector"],
    }


def asking(names: list[str]) -> dict[str, Any]:
    return {"resources": {"requests": {f"example.com/{name}": "1" for name in names}}}


def sidecar(name: str) -> dict[str, Any]:
    return {"name": name, "restartPolicy": "Always", **asking([name])}


def affinity(kind: str, **lists: Any) -> dict[str, Any]:
    return {"affinity": {kind: lists}}


SPECS: dict[str, Spec] = {
    "resources of one container": lambda n: {"containers": [{"name": "c", **asking(named(n))}]},
    "sidecars with a resource each": lambda n: {"initContainers": list(map(sidecar, named(n)))},
    "init containers beside sidecars": lambda n: {
        "initContainers": [*map(sidecar, named(n)), *({"name": f"i{name}", **asking([name])} for name in named(n))]
    },
    "required pod affinity": lambda n: affinity("podAffinity", **{REQUIRED: list(map(pod_term, named(n)))}),
    "required pod anti-affinity": lambda n: affinity("podAntiAffinity", **{REQUIRED: list(map(pod_term, named(n)))}),
    "preferred pod affinity": lambda n: affinity(
        "podAffinity", **{PREFERRED: [weighted(pod_term(name), "podAffinityTerm") for name in named(n)]}
    ),
    "a topology key each": lambda n: affinity(
        "podAntiAffinity", **{REQUIRED: [pod_term("v", key=name) for name in named(n)]}
    ),
    "a label each": lambda n: affinity(
        "podAntiAffinity", **{REQUIRED: [pod_term("v", label=name) for name in named(n)]}
    ),
    "values of one term": lambda n: affinity(
        "podAffinity",
        **{
            REQUIRED: [
                {
                    "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": named(n)}]},
                    "topologyKey": "zone",
                }
            ]
        },
    ),
    "terms that select namespaces": lambda n: affinity(
        "podAffinity",
        **{REQUIRED: [{**pod_term(name), "namespaceSelector": {"matchLabels": {"t": name}}} for name in named(n)]},
    ),
    "required node affinity": lambda n: affinity(
        "nodeAffinity", **{REQUIRED: {"nodeSelectorTerms": [node_term("In", name) for name in named(n)]}}
    ),
    "numbers that nodes must exceed": lambda n: affinity(
        "nodeAffinity", **{REQUIRED: {"nodeSelectorTerms": [node_term("Gt", str(900 + each)) for each in range(n)]}}
    ),
    "preferred node affinity": lambda n: affinity(
        "nodeAffinity", **{PREFERRED: [weighted(node_term("Lt", str(each)), "preference") for each in range(n)]}
    ),
    "node selectors": lambda n: {"nodeSelector": dict.fromkeys(named(n), "v")},
    "hard spread constraints": lambda n: {
        "topologySpreadConstraints": [spread(name, "DoNotSchedule") for name in named(n)]
    },
    "soft spread constraints": lambda n: {
        "topologySpreadConstraints": [spread(name, "ScheduleAnyway") for name in named(n)]
    },
    "a domain for each constraint": lambda n: {
        "topologySpreadConstraints": [spread("v", "DoNotSchedule", key=name) for name in named(n)]
    },
    "tolerations": lambda n: {"tolerations": [{"key": name, "operator": "Exists"} for name in named(n)]},
    "host ports": lambda n: {
        "containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 1 + each} for each in range(n)]}]
    },
    "disks": lambda n: {
        "volumes": [{"name": name, "gcePersistentDisk": {"pdName": name}} for name in named(n)]
    },
    "claims": lambda n: {
        "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in named(n, "bound")]
    },
    "claims to be bound": lambda n: {
        "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in named(n, "open")]
    },
    "claims to be bound, each with requirements of its own": lambda n: {
        "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in named(n, "own")]
    },
    "images": lambda n: {"containers": [{"name": name, "image": f"{name}:1"} for name in named(n)]},
    "claims of devices": lambda n: {
        "resourceClaims": [{"name": name, "resourceClaimName": name} for name in named(n, "devices")]
    },
}  # fmt: skip


def cluster() -> Snapshot:
    taints = [{"key": f"t{number}", "effect": "PreferNoSchedule"} for number in range(4)]
    objects: list[KubernetesObject] = [
        node(
            f"w{number}",
            labels={"zone": f"z{number % 3}", "number": str(number)},
            taints=taints,
            allocatable={"cpu": "8", "pods": "500"},
            images=[{"names": [f"k{number}:1"], "sizeBytes": 9}],
        )
        for number in range(9)
    ]
    objects += [
        pod(f"p{number}", on=f"w{number % 9}", metadata={"labels": {"app": f"a{number}"}}) for number in range(60)
    ]
    for name in named(2 * FEW, "bound"):
        objects += [claim(name, to=f"pv-{name}"), volume(f"pv-{name}", phase="Bound")]
    for number, name in enumerate(named(2 * FEW, "open")):
        objects += [claim(name), volume(f"pv-{name}"), claim(f"own{number}", size=f"{number + 1}Mi")]
    objects.append(storage_class())
    objects.append(msgspec.convert({"metadata": {"name": "none"}}, DeviceClass))
    request = {"name": "r", "exactly": {"deviceClassName": "none", "allocationMode": "ExactCount", "count": 1}}
    for name in named(2 * FEW, "devices"):
        identity = {"name": name, "namespace": "default", "uid": name}
        stored = {"metadata": identity, "spec": {"devices": {"requests": [request]}}, "status": {}}
        objects.append(msgspec.convert(stored, ResourceClaim))
    return snapshot(*objects)


CLUSTER = cluster()
SCHEDULER = Scheduler(load_configuration(None, KubeVersion.parse("1.36")), CLUSTER, limits=UNLIMITED)


def steps(incoming: Pod) -> int:
    result = with_cycle(SCHEDULER.cycle(incoming, CLUSTER))
    assert not result.unknown
    return result.state.budget.steps


def incoming(spec: Spec, size: int) -> Pod:
    return pod(metadata={"name": f"web-{size}"}, **{"containers": [{"name": "c"}], **spec(size)})


REQUEST = {"name": "r", "exactly": {"deviceClassName": "none", "allocationMode": "ExactCount", "count": 1}}
DEVICE_CLAIM = msgspec.convert(
    {"metadata": {"name": "other", "namespace": "default", "uid": "o"}, "spec": {"devices": {"requests": [REQUEST]}}},
    ResourceClaim,
)
DEVICE_CLASS = msgspec.convert(
    {"metadata": {"name": "c"}, "spec": {"extendedResourceName": "x.example/y"}}, DeviceClass
)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_twice_as_many_terms_are_at_most_two_and_a_half_times_the_work(spec: Spec) -> None:
    base, once, twice = (steps(incoming(spec, size)) for size in (1, FEW, 2 * FEW))
    assert once - base >= FEW // 8, "the terms are not counted"
    assert twice <= MOST_GROWTH * once


HINTED: dict[tuple[str, str], tuple[Spec, KubernetesObject | None, KubernetesObject | None]] = {
    ("InterPodAffinity", "Pod"): (SPECS["required pod anti-affinity"], None, pod("other", on="w1")),
    ("InterPodAffinity", "Node"): (SPECS["a topology key each"], node("w1"), node("w1", labels={"zone": "z"})),
    ("NodeAffinity", "Node"): (SPECS["numbers that nodes must exceed"], None, node("w1", labels={"number": "1"})),
    ("TaintToleration", "Node"): (
        SPECS["tolerations"],
        None,
        node("w1", taints=[{"key": "x", "effect": "NoSchedule"}]),
    ),
    ("NodePorts", "Pod"): (SPECS["host ports"], pod("other", on="w1"), None),
    ("NodeResourcesFit", "Node"): (SPECS["resources of one container"], None, node("w1")),
    ("NodeResourcesFit", "Pod"): (SPECS["sidecars with a resource each"], pod("other", on="w1"), pod("other", on="w1")),
    ("PodTopologySpread", "Pod"): (SPECS["hard spread constraints"], None, pod("other", on="w1")),
    ("PodTopologySpread", "Node"): (SPECS["hard spread constraints"], None, node("w1")),
    ("VolumeRestrictions", "Pod"): (SPECS["disks"], pod("other", on="w1"), None),
}


OF_THE_POD: dict[tuple[str, str], tuple[Spec, KubernetesObject | None, KubernetesObject | None]] = {
    ("DynamicResources", "ResourceClaim"): (SPECS["claims of devices"], None, DEVICE_CLAIM),
    ("NodeResourcesFit", "DeviceClass"): (SPECS["resources of one container"], None, DEVICE_CLASS),
    ("NodeVolumeLimits", "PersistentVolumeClaim"): (SPECS["claims"], None, claim("other")),
    ("NodeVolumeLimits", "VolumeAttachment"): (SPECS["disks"], stored("VolumeAttachment", "a"), None),
    ("VolumeBinding", "PersistentVolumeClaim"): (SPECS["claims"], None, claim("other")),
    ("VolumeBinding", "CSIDriver"): (
        SPECS["claims"],
        stored("CSIDriver", "d", spec={"storageCapacity": True}),
        stored("CSIDriver", "d"),
    ),
    ("VolumeRestrictions", "PersistentVolumeClaim"): (SPECS["claims"], None, claim("other")),
    ("VolumeZone", "PersistentVolumeClaim"): (SPECS["claims"], None, claim("other")),
}
"""Hints about other objects, which look at a part of the pod that waits."""

ITSELF: dict[tuple[str, str], Spec] = {
    ("DynamicResources", "PendingPod"): SPECS["claims of devices"],
    ("NodeDeclaredFeatures", "PendingPod"): SPECS["resources of one container"],
    ("NodeResourcesFit", "PendingPod"): SPECS["resources of one container"],
    ("NodeUnschedulable", "PendingPod"): SPECS["tolerations"],
    ("PodTopologySpread", "PendingPod"): SPECS["hard spread constraints"],
}
"""Hints about a change of the pod that waits."""

OF_THE_OTHER: dict[tuple[str, str], Spec] = {
    ("NodeVolumeLimits", "Pod"): SPECS["claims"],
    ("NodePorts", "Pod"): SPECS["host ports"],
    ("VolumeRestrictions", "Pod"): SPECS["disks"],
    ("InterPodAffinity", "Pod"): SPECS["required pod anti-affinity"],
}
"""Hints that look at a part of another pod, which is gone."""

WITHOUT_TERMS = frozenset(
    {
        ("DefaultPreemption", "Pod"),
        ("DynamicResources", "Node"),
        ("GangScheduling", "CompositePodGroup"),
        ("GangScheduling", "Pod"),
        ("GangScheduling", "PendingPod"),
        ("GangScheduling", "PodGroup"),
        ("GangScheduling", "Workload"),
        ("InterPodAffinity", "PendingPod"),
        ("NodeDeclaredFeatures", "Node"),
        ("NodeUnschedulable", "Node"),
        ("NodeVolumeLimits", "CSINode"),
        ("VolumeBinding", "CSINode"),
        ("VolumeBinding", "CSIStorageCapacity"),
        ("VolumeBinding", "StorageClass"),
        ("VolumeZone", "PersistentVolume"),
        ("VolumeZone", "StorageClass"),
    }
)
"""Hints that look at none of a pod's lists, so that they take as long about every pod."""


def hinted(which: tuple[str, str], incoming: Pod, old: KubernetesObject | None, new: KubernetesObject | None) -> int:
    framework = SCHEDULER.framework("default-scheduler")
    assert framework is not None
    budget = CycleBudget(UNLIMITED)
    HINTS[which](HintQuestion(incoming, old, new, framework, lambda: CLUSTER, budget))
    return budget.steps


def test_every_hint_is_measured_or_looks_at_no_list() -> None:
    assert {*HINTED, *OF_THE_POD, *ITSELF, *OF_THE_OTHER, *WITHOUT_TERMS} == HINTS.keys()


@pytest.mark.parametrize("which", [*HINTED, *OF_THE_POD], ids=" ".join)
def test_a_hint_takes_at_most_two_and_a_half_times_the_work_for_twice_as_many_terms(which: tuple[str, str]) -> None:
    spec, old, new = {**HINTED, **OF_THE_POD}[which]
    once, twice = (hinted(which, incoming(spec, size), old, new) for size in (FEW, 2 * FEW))
    assert once >= FEW, "the terms are not counted"
    assert twice <= MOST_GROWTH * once


@pytest.mark.parametrize("which", ITSELF, ids=" ".join)
def test_so_does_a_hint_about_a_change_of_the_pod(which: tuple[str, str]) -> None:
    def work(size: int) -> int:
        before = incoming(ITSELF[which], size)
        after = structs.replace(before, metadata=structs.replace(before.metadata, labels={"new": "label"}))
        return hinted(which, after, before, after)

    once, twice = work(FEW), work(2 * FEW)
    assert once >= FEW, "the terms are not counted"
    assert twice <= MOST_GROWTH * once


@pytest.mark.parametrize("which", OF_THE_OTHER, ids=" ".join)
def test_so_does_a_hint_about_another_pod_that_is_gone(which: tuple[str, str]) -> None:
    def work(size: int) -> int:
        gone = incoming(lambda n: {**OF_THE_OTHER[which](n), "nodeName": "w1"}, size)
        return hinted(which, pod("waits", **OF_THE_OTHER[which](1)), gone, None)

    once, twice = work(FEW), work(2 * FEW)
    assert once >= FEW, "the terms are not counted"
    assert twice <= MOST_GROWTH * once


COUNTED: dict[tuple[str, str], Spec] = {
    ("DynamicResources", "Filter"): SPECS["claims of devices"],
    ("DynamicResources", "Score"): SPECS["claims of devices"],
    ("ImageLocality", "Score"): SPECS["images"],
    ("InterPodAffinity", "Filter"): SPECS["required pod anti-affinity"],
    ("InterPodAffinity", "Score"): SPECS["preferred pod affinity"],
    ("NodeAffinity", "Filter"): SPECS["required node affinity"],
    ("NodeAffinity", "Score"): SPECS["preferred node affinity"],
    ("NodeDeclaredFeatures", "Filter"): SPECS["images"],
    ("NodePorts", "Filter"): SPECS["host ports"],
    ("NodeResourcesBalancedAllocation", "Score"): SPECS["resources of one container"],
    ("NodeResourcesFit", "Filter"): SPECS["resources of one container"],
    ("NodeResourcesFit", "Score"): SPECS["resources of one container"],
    ("NodeUnschedulable", "Filter"): SPECS["tolerations"],
    ("NodeVolumeLimits", "Filter"): SPECS["claims"],
    ("PodTopologySpread", "Filter"): SPECS["hard spread constraints"],
    ("PodTopologySpread", "Score"): SPECS["soft spread constraints"],
    ("TaintToleration", "Filter"): SPECS["tolerations"],
    ("TaintToleration", "Score"): SPECS["tolerations"],
    ("VolumeBinding", "Filter"): SPECS["claims to be bound"],
    ("VolumeBinding", "Score"): SPECS["claims to be bound"],
    ("VolumeRestrictions", "Filter"): SPECS["disks"],
    ("VolumeZone", "Filter"): SPECS["claims"],
}
"""By plugin and half of the cycle (PreFilter belongs to Filter and PreScore to Score), lists of a pod that it reads."""

WITHOUT_LISTS = frozenset({("DeferredPodScheduling", "Filter"), ("NodeName", "Filter")})
"""Plugins that read none of a pod's lists there."""


def plugins_of(version: KubeVersion) -> Mapping[str, Plugin]:
    """Return the plugins of a minor with every feature that it has."""
    configuration = load_configuration(None, version, {"AllAlpha": True, "AllBeta": True})
    framework = Scheduler(configuration, CLUSTER, limits=UNLIMITED).framework("default-scheduler")
    assert framework is not None
    return framework.plugins


def own_steps(plugin: Plugin, half: str, incoming: Pod) -> int:
    """Return the steps that a plugin counts by itself: it is called directly, without what the runtime counts."""
    state, rows = CycleState(CycleBudget(UNLIMITED)), np.arange(len(CLUSTER), dtype=np.intp)
    before = plugin.pre_filter(state, incoming, CLUSTER).status if isinstance(plugin, PreFilterPlugin) else SUCCESS
    if before.is_success and isinstance(plugin, FilterPlugin):
        plugin.filter(state, incoming, CLUSTER)
    filtered = state.budget.steps
    if half == "Filter":
        return filtered
    ready = plugin.pre_score(state, incoming, CLUSTER, rows) if isinstance(plugin, PreScorePlugin) else SUCCESS
    if ready.is_success and isinstance(plugin, ScorePlugin):
        plugin.score(state, incoming, CLUSTER, rows)
    return state.budget.steps - filtered


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_every_plugin_of_every_minor_counts_its_work(version: KubeVersion) -> None:
    halves: dict[str, tuple[type[Any], ...]] = {
        "Filter": (PreFilterPlugin, FilterPlugin),
        "Score": (PreScorePlugin, ScorePlugin),
    }
    uncounted = []
    for name, plugin in plugins_of(version).items():
        for half, points in halves.items():
            if not isinstance(plugin, points) or (name, half) in WITHOUT_LISTS:
                continue
            assert (name, half) in COUNTED
            spec = COUNTED[name, half]
            once, many = (own_steps(plugin, half, incoming(spec, size)) for size in (1, FEW))
            if many - once < FEW // 8:
                uncounted.append((name, half, once, many))
    assert uncounted == []

"""Large clusters made in memory, for what is measured after reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.api.affinity import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from kubectl_sched.api.containers import Container, ResourceRequirements
from kubectl_sched.api.core import Node, NodeStatus
from kubectl_sched.api.meta import LabelSelector, ObjectMeta
from kubectl_sched.api.pod import Pod, PodSpec, PodStatus
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for

if TYPE_CHECKING:
    from kubectl_sched.scheduler.scheduler import Scheduler

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
VERSION = "1.36"


def scheduler(node_count: int, pod_count: int, *, cpu: str) -> Scheduler:
    """Nodes of 16 cpu in three zones, and pods of 500 apps over them, each asking for `cpu`."""
    nodes = [
        Node(
            metadata=ObjectMeta(name=f"node-{index}", labels={HOSTNAME: f"node-{index}", ZONE: f"zone-{index % 3}"}),
            status=NodeStatus(allocatable={"cpu": "16", "memory": "64Gi", "pods": "110"}),
        )
        for index in range(node_count)
    ]
    pods = [_running(index, node_count, cpu) for index in range(pod_count)]
    dump = Dump(objects=(*nodes, *pods))
    return scheduler_for(dump, configuration_for(dump, Replay(config=None, kube_version=VERSION, feature_gates=None)))[
        0
    ]


def _running(index: int, node_count: int, cpu: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name=f"pod-{index}", namespace="default", uid=str(index), labels={"app": f"app-{index % 500}"}
        ),
        spec=replace(
            plain_pod().spec, node_name=f"node-{index % node_count}", priority=index % 7, containers=(_asking(cpu),)
        ),
        status=PodStatus(phase="Running", start_time=f"2026-01-01T00:{index % 60:02d}:{index * 7 % 60:02d}Z"),
    )


def _asking(cpu: str) -> Container:
    return Container(name="main", image="app:1", resources=ResourceRequirements(requests={"cpu": cpu, "memory": "1Gi"}))


def plain_pod(cpu: str = "4", **spec: Any) -> Pod:
    """A pod of high priority that asks for cpu and memory alone."""
    return Pod(
        metadata=ObjectMeta(name="incoming", namespace="default", uid="incoming", labels={"app": "app-1"}),
        spec=PodSpec(priority=1000, scheduler_name="default-scheduler", containers=(_asking(cpu),), **spec),
    )


def choosy_pod() -> Pod:
    """One with zone and host spread constraints and preferred affinity and anti-affinity."""
    selector = LabelSelector(match_labels={"app": "app-1"})

    def spread(key: str, when: str) -> TopologySpreadConstraint:
        return TopologySpreadConstraint(
            max_skew=100, topology_key=key, when_unsatisfiable=when, label_selector=selector
        )

    def preferred(key: str) -> PodAffinity:
        term = PodAffinityTerm(label_selector=selector, topology_key=key)
        return PodAffinity(preferred=(WeightedPodAffinityTerm(weight=10, pod_affinity_term=term),))

    return plain_pod(
        "100m",
        topology_spread_constraints=(spread(ZONE, "DoNotSchedule"), spread(HOSTNAME, "ScheduleAnyway")),
        affinity=Affinity(pod_affinity=preferred(ZONE), pod_anti_affinity=preferred(HOSTNAME)),
    )

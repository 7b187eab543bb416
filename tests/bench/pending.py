"""Measures `explain --pending` and triage after reading: 1,000 pods of 50 workloads on 5,000 nodes, by default.

Triage is measured in processor time: until the first pod is judged, all are, and help is searched for all groups.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import TopologySpreadConstraint
from kubectl_sched.api.containers import Container, ResourceRequirements
from kubectl_sched.api.core import Node, NodeStatus
from kubectl_sched.api.meta import LabelSelector, ObjectMeta, OwnerReference
from kubectl_sched.api.pod import Pod, PodSpec, PodStatus
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import Triaging
from kubectl_sched.render.answers.pods import pods_table
from kubectl_sched.render.writers.table_lines import table_lines
from kubectl_sched.sources import Dump
from kubectl_sched.sources.pod_selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_GPU = "nvidia.com/gpu"


def dump(nodes: int, running: int, pending: int, workloads: int) -> Dump:
    """Nodes of 16 cpu in three zones, every sixth with a GPU in use, and pods that wait for five different things."""
    return Dump(objects=(*map(_node, range(nodes)), *_running(running, nodes), *_pending(pending, workloads)))


def _node(index: int) -> Node:
    gpus = {_GPU: "1"} if index % 6 == 0 else {}
    return Node(
        metadata=ObjectMeta(name=f"node-{index}", labels={HOSTNAME: f"node-{index}", ZONE: f"zone-{index % 3}"}),
        status=NodeStatus(allocatable={"cpu": "16", "memory": "64Gi", "pods": "110", **gpus}),
    )


def _running(count: int, nodes: int) -> Iterator[Pod]:
    for index in range(count):
        node = index % nodes
        takes = {_GPU: "1"} if index < nodes and node % 6 == 0 else {}
        yield _pod(f"app-{index % 500}", index, {"cpu": "1", "memory": "2Gi", **takes}, f"node-{node}")


def _pending(count: int, workloads: int) -> Iterator[Pod]:
    wanted = ({_GPU: "1"}, {"cpu": "20"}, {"cpu": "8"}, {"cpu": "1"}, {"memory": "100Gi"})
    for index in range(count):
        workload = index * workloads // count
        pod = _pod(f"late-{workload}", index, {"cpu": "100m", **wanted[workload % len(wanted)]}, "")
        yield pod if workload % 2 else replace(pod, spec=replace(pod.spec, topology_spread_constraints=_spread(pod)))


def _spread(pod: Pod) -> tuple[TopologySpreadConstraint, ...]:
    selector = LabelSelector(match_labels=pod.metadata.labels)
    return (TopologySpreadConstraint(1, ZONE, "ScheduleAnyway", selector),)


def _pod(app: str, index: int, requests: dict[str, str | int | float], node: str) -> Pod:
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=f"{app}-5d8f", uid=app, controller=True)
    return Pod(
        metadata=ObjectMeta(
            name=f"{app}-5d8f-{index:05d}",
            namespace="default",
            uid=f"{app}/{index}",
            labels={"app": app, "pod-template-hash": "5d8f"},
            owner_references=(owner,),
            creation_timestamp="2026-03-01T10:00:00Z",
        ),
        spec=PodSpec(
            node_name=node,
            scheduler_name="default-scheduler",
            containers=(Container(name="main", image="app:1", resources=ResourceRequirements(requests=requests)),),
        ),
        status=PodStatus(phase="Running" if node else "Pending", start_time="2026-03-01T10:00:00Z" if node else None),
    )


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    for name, default in (("nodes", 5000), ("running", 50_000), ("pending", 1000), ("workloads", 50)):
        arguments.add_argument(name, type=int, nargs="?", default=default)
    given = arguments.parse_args()
    gc.disable()  # as the program does
    read = dump(given.nodes, given.running, given.pending, given.workloads)
    started = time.perf_counter()
    answer, _ = explain(ExplainQuestion(selection=Selection(targets=(), namespace=None, pending=True)), read)
    explained = time.perf_counter()
    table_lines(pods_table(answer.explanations), 120)
    ended = time.perf_counter()
    sys.stdout.write(
        f"{given.pending:,} pods: explained in {explained - started:.2f} s, shown in {ended - explained:.2f} s\n"
    )
    times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in _triaged(read).items())
    sys.stdout.write(f"triage, processor time: {times}\n")


def _triaged(read: Dump) -> dict[str, float]:
    """The processor time from the state being read until each step is done."""
    started = time.process_time()
    triaging = Triaging(
        ExplainQuestion(selection=Selection(targets=(), namespace=None, pending=True), suggesting=False), read
    )
    judging = triaging.judge()
    next(judging)
    found = {"first group": time.process_time() - started}
    deque(judging, maxlen=0)
    found["all groups"] = time.process_time() - started
    for group in triaging.groups():
        triaging.helped(group)
    return {**found, "with what helps": time.process_time() - started}


if __name__ == "__main__":
    main()

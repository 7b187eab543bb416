"""Measures `whatif --make-room` and `capacity`: `python -m tests.bench.room`. Counted after the state is read.

5,000 nodes of 16 cpu, filled by 50,000 pods of ReplicaSets to a little room each; the pod that waits fits once one,
two, three or four of them move. Nothing here is asserted by a test.
"""

from __future__ import annotations

import platform
import random
import sys
import time

from msgspec.structs import replace

from kubectl_sched.api.containers import Container, ResourceRequirements
from kubectl_sched.api.core import Node, NodeStatus
from kubectl_sched.api.meta import ObjectMeta, OwnerReference
from kubectl_sched.api.pod import Pod, PodSchedulingGroup, PodSpec, PodStatus
from kubectl_sched.api.scheduling import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from kubectl_sched.queries import capacity, make_room
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from tests.bench.clusters import HOSTNAME, ZONE

NODES, PODS = 5000, 50_000
REPLAY = Replay(
    kube_version="1.36", feature_gates="GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
)


def fragmented(wanted: str, *, roomy: bool = True) -> Dump:
    """Each node has ten pods and one cpu left; every fiftieth two more if there are `roomy` ones."""
    chance = random.Random(1)  # noqa: S311 - the same cluster each time
    nodes = [
        Node(
            metadata=ObjectMeta(name=f"node-{index}", labels={HOSTNAME: f"node-{index}", ZONE: f"zone-{index % 3}"}),
            status=NodeStatus(
                allocatable={"cpu": "18" if roomy and index % 50 == 0 else "16", "memory": "64Gi", "pods": "110"}
            ),
        )
        for index in range(NODES)
    ]
    pods = [_pod(f"pod-{index}", "1500m", f"node-{index % NODES}", chance.randrange(500)) for index in range(PODS)]
    return Dump(objects=(*nodes, *pods, _pod("waiting", wanted, "", 500)))


def of_group(wanted: str) -> Dump:
    """Fragmented nodes on which a gang of two waits that has to share a zone."""
    *objects, _ = fragmented(wanted).objects
    gang = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=2))
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=ZONE),))
    spec = PodGroupSpec(scheduling_policy=gang, scheduling_constraints=constraints)
    objects.append(PodGroup(metadata=ObjectMeta(name="waiting", namespace="default"), spec=spec))
    for index in range(2):
        member = _pod(f"waiting-{index}", wanted, "", 500)
        named = PodSchedulingGroup(pod_group_name="waiting")
        objects.append(replace(member, spec=replace(member.spec, scheduling_group=named)))
    return Dump(objects=tuple(objects))


def _pod(name: str, cpu: str, node: str, app: int) -> Pod:
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=f"app-{app}", uid=str(app), controller=True)
    requests = ResourceRequirements(requests={"cpu": cpu, "memory": "1Gi"})
    return Pod(
        metadata=ObjectMeta(
            name=name, namespace="default", uid=name, labels={"app": f"app-{app}"}, owner_references=(owner,)
        ),
        spec=PodSpec(
            node_name=node,
            priority=0,
            scheduler_name="default-scheduler",
            containers=(Container(name="main", image="app:1", resources=requests),),
        ),
        status=PodStatus(phase="Running" if node else "Pending"),
    )


def main() -> None:
    """Measure and print the table."""
    sys.stdout.write(f"{platform.machine()}, Python {platform.python_version()}\n\n")
    sys.stdout.write("| what | evictions | seconds of processor | of wall |\n|---|---|---|---|\n")
    cases = [(f"room for a pod of {wanted}", fragmented(wanted)) for wanted in ("3900m", "5500m", "6800m", "8500m")]
    cases.append(("room for a group of two, 5500m each, in one of three zones", of_group("5500m")))
    cases.append(("no node has room by up to four moves", fragmented("15")))
    cases.append(("no pod that moves would land, 400 evictions tried", fragmented("4", roomy=False)))
    for what, dump in cases:
        busy, started = time.process_time(), time.perf_counter()
        kind = "podgroup" if "group" in what else "pod"
        answer = make_room.make_room(make_room.MakeRoomQuestion(target=f"{kind}/waiting", replay=REPLAY), dump)
        taken = time.process_time() - busy, time.perf_counter() - started
        sys.stdout.write(f"| {what} | {answer.evictions} | {taken[0]:.2f} | {taken[1]:.2f} |\n")
    dump = fragmented("4")
    busy, started = time.process_time(), time.perf_counter()
    capacity.capacity(capacity.CapacityQuestion(), dump)
    taken = time.process_time() - busy, time.perf_counter() - started
    sys.stdout.write(f"| capacity | | {taken[0]:.2f} | {taken[1]:.2f} |\n")


if __name__ == "__main__":
    main()

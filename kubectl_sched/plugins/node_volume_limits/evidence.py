"""Evidence about the limit that a node has reached, and the pods that use it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.framework.clauses import pods
from kubectl_sched.framework.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.node_volume_limits.attachable_volumes import NodeDrivers, Volumes
    from kubectl_sched.plugins.node_volume_limits.count import Count
    from kubectl_sched.snapshot.objects import Objects


def limit_evidence(count: Count, users: Sequence[tuple[Pod, Volumes]], attached: Mapping[str, str]) -> Evidence:
    """State the number of the driver's volumes, and the pods that they belong to."""
    by_pod = {
        pod.key: number for pod, volumes in users if (number := sum(its == count.driver for its in volumes.values()))
    }
    present = count.used + count.attached
    told: list[str] = []
    if by_pod:
        largest = min(by_pod, key=lambda key: (-by_pod[key], key))
        told.append(f"{count.used} used by {pods(len(by_pod))}, largest: {largest} {by_pod[largest]}")
    if count.attached:
        told.append(f"{count.attached} attached that no pod there uses")
    by_whom = f" ({'; '.join(told)})" if told else ""
    added = len(count.added)
    twice = [name for name in count.added if name in attached]
    hints = ["the limit is allocatable.count of the driver in the node's CSINode"]
    if twice:
        hints.append(f"{len(twice)} of the pod's own volumes are attached to the node already; they are counted twice")
    return Evidence(
        text=f"takes {count.limit} volumes of {count.driver} and has {present}{by_whom}; the pod adds {added}",
        facts={
            "driver": count.driver,
            "limit": count.limit,
            "used": count.used,
            "attached": count.attached,
            "wanted": added,
            "usedBy": [*by_pod],
        },
        hints=tuple(hints),
        distance=min(1.0, (present + added - count.limit) / max(count.limit, 1)),
    )


def missing_driver(driver: str, drivers: NodeDrivers) -> Evidence:
    """A driver that the node lacks, and those that it has."""
    installed = sorted(drivers.installed)
    there = ", ".join(installed) if installed else "none"
    return Evidence(
        text=f"has no CSI driver {driver}; its CSINode lists {there}",
        facts={"driver": driver, "installed": [*installed]},
    )


def missing_claims(pod: Pod, objects: Objects) -> tuple[Evidence, ...]:
    """The pod's claims that do not exist."""
    return tuple(
        Evidence(
            text=f"volume {use.volume} is claim {pod.namespace}/{use.claim_name}, which "
            f"{objects.absence(PersistentVolumeClaim)}",
            facts={"volume": use.volume, "claim": use.claim_name, "namespace": pod.namespace},
        )
        for use in claim_uses(pod)
        if objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace) is None
    )

"""Bound volumes that no node of the cluster reaches: their node was removed, or no node is in their zone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import (
    PodVolume,
    lacks_driver,
    place_of,
    pod_volumes,
    wanted_labels,
)
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached
from kubectl_sched.shell_commands import delete_claim, delete_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "UnreachableVolume"


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each bound volume whose only node is gone, or in whose zone no node is."""
    if result.fits or not len(result.nodes):
        return
    for each in pod_volumes(result):
        if each.volume is None or each.in_tree or _misses_driver(result, each):
            continue
        if _is_reached(result, each.volume):
            continue
        yield from _of_gone_node(result, each, each.volume)


def _is_reached(result: ScheduleResult, volume: PersistentVolume) -> bool:
    affinity = affinity_of(volume)
    return bool(result.nodes.whole.labels.where(lambda of_node: can_be_reached(affinity, of_node)).any())


def _misses_driver(result: ScheduleResult, each: PodVolume) -> bool:
    """Report whether the label of the volume may come with a driver that is on no node."""
    driver = each.driver
    return driver is not None and all(lacks_driver(result.nodes.objects, name, driver) for name in result.nodes.names)


def _of_gone_node(result: ScheduleResult, each: PodVolume, volume: PersistentVolume) -> Iterator[Finding]:
    """Yield the finding about a volume on nodes that are gone, or in a zone without nodes."""
    wanted, where = wanted_labels(volume), place_of(volume)
    start = f"Volume {volume.name} of claim {each.claim.name} is {where}"
    hosts = wanted.get(HOSTNAME, [])
    if hosts:
        if any(name in result.nodes.whole.row_of for name in hosts):
            return
        gone = "which no longer exists" if len(set(hosts)) == 1 else "which no longer exist"
        again, commands = _made_again(result, each.claim)
        yield Finding(
            kind=KIND,
            sentence=f"{start}, {gone}: bring the node back under that name, or give up the data: {again}",
            clauses=(f"its volume {volume.name} is {where}, {gone}", "its volume is on a node that no longer exists"),
            commands=commands,
        )
        return
    keys = [key for key, values in wanted.items() if key.endswith("/zone") and any(values)]
    if len(keys) != 1 or not any(keys[0] in node.metadata.labels for node in result.nodes.whole.node_objects):
        return
    yield Finding(
        kind=KIND,
        sentence=f"{start}, and no node is there: add one in that zone, or restore the data from a snapshot into a "
        "new claim",
        clauses=(f"its volume {volume.name} is {where}, where no node is", "a volume is in a zone without nodes"),
    )


def _made_again(result: ScheduleResult, claim: PersistentVolumeClaim) -> tuple[str, tuple[ShellCommand, ...]]:
    """Return how claim and pod come again without the data, and the commands where their owner makes them again."""
    pod, owner = result.pod, result.pod.metadata.controller
    if owner is None:
        return f"delete pod {pod.name} and claim {claim.name}, and create both again, as nothing else does", ()
    if owner.kind == "StatefulSet" and claim.name.endswith(f"-{pod.name}"):
        commands = (delete_claim(claim.namespace, claim.name), delete_pods(pod.namespace, (pod.name,)))
        told = f"delete claim {claim.name} and then the pod: StatefulSet {owner.name} makes both again"
        return told, tuple(filter(None, commands)) if all(commands) else ()
    return (
        f"delete claim {claim.name}, create it again, and then delete the pod: {owner.kind} {owner.name} makes the pod "
        "again, not the claim"
    ), ()

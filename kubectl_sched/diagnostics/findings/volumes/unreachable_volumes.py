"""Bound volumes that no node of the cluster reaches: their node was removed, or no node is in their zone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import PodVolume, lacks_driver, pod_volumes
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.storage import PersistentVolume
    from kubectl_sched.scheduler.result import ScheduleResult
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
        sentence = _sentence(result, each, each.volume)
        if sentence:
            yield Finding(kind=KIND, sentence=sentence)


def _is_reached(result: ScheduleResult, volume: PersistentVolume) -> bool:
    affinity = affinity_of(volume)
    return bool(result.nodes.whole.labels.where(lambda of_node: can_be_reached(affinity, of_node)).any())


def _misses_driver(result: ScheduleResult, each: PodVolume) -> bool:
    """Report whether the label of the volume may come with a driver that is on no node."""
    driver = each.driver
    return driver is not None and all(lacks_driver(result.nodes.objects, name, driver) for name in result.nodes.names)


def _sentence(result: ScheduleResult, each: PodVolume, volume: PersistentVolume) -> str:
    required = volume.spec.node_affinity.required if volume.spec.node_affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    wanted: dict[str, list[str]] = {}
    for term in terms:
        for found in term.match_expressions:
            if found.operator == "In":
                wanted.setdefault(found.key, []).extend(found.values)
    hosts = wanted.get(HOSTNAME, [])
    gone = [name for name in hosts if name not in result.nodes.whole.row_of]
    if hosts and len(gone) == len(hosts):
        return (
            f"Volume {volume.name} of claim {each.claim.name} is on node {first_few(gone)}, which is not there any "
            "more: bring the node back under that name, or give up the data: delete the claim and then the pod, so "
            "that its owner makes both again"
        )
    zones = {key: values for key, values in wanted.items() if key.endswith("/zone") and any(values)}
    if len(zones) != 1:
        return ""
    ((key, values),) = zones.items()
    seen = any(key in node.metadata.labels for node in result.nodes.whole.node_objects)
    where = first_few(sorted(set(values)))
    return (
        f"Volume {volume.name} of claim {each.claim.name} is in zone {where}, and no node is there: add one in that "
        "zone, or restore the data from a snapshot into a new claim"
        if seen
        else ""
    )

"""Volumes that no node reaches because their CSI driver is not there, or that could not be mounted where the pod lands.

A driver's node plugin registers with the kubelet, which then lists the driver in the node's CSINode and gives the node
the driver's topology labels (pkg/volume/csi/nodeinfomanager).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.storage import CSIDriver
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.landing import landing_node
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import lacks_driver, pod_volumes
from kubectl_sched.framework.clauses import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import PodVolume
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "VolumeDriver"

_PLUGINS: Final = ("VolumeBinding", "VolumeZone")


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each volume whose driver is missing, on the node where the pod lands or on those that it cannot use."""
    yield from _inline(result)
    volumes = [(each, each.driver) for each in pod_volumes(result) if each.driver is not None]
    if not volumes:
        return
    node = landing_node(result)
    for volume, driver in volumes:
        if node is not None:
            yield from _where_it_lands(result, volume, driver, node)
        elif not result.fits:
            yield from _where_it_is_kept_out(result, volume, driver)


def _inline(result: ScheduleResult) -> Iterator[Finding]:
    """Yield the volumes in the pod itself whose driver is on none of the nodes where the pod may land."""
    landing = landing_node(result)
    nodes = [landing] if landing is not None else [] if result.current_node else list(result.best)
    for volume in result.pod.spec.volumes if nodes else ():
        driver = volume.csi.driver if volume.csi is not None else ""
        if driver and all(lacks_driver(result.nodes.objects, node, driver) for node in nodes):
            where = first_few(nodes)
            lists = f"the CSINode of {where} does not list it" if len(nodes) == 1 else "their CSINodes do not list it"
            yield Finding(
                kind=KIND,
                sentence=f"CSI driver {driver} is not on {where} ({lists}), so inline volume {volume.name} cannot be "
                "mounted there; kube-scheduler does not look at inline volumes: start the driver's pod there",
                clauses=(
                    f"volume {volume.name} needs CSI driver {driver}, which is not there",
                    f"CSI driver {driver} is not there",
                    "the CSI driver of its volume is not there",
                ),
                spoils_start=True,
            )


def _where_it_lands(result: ScheduleResult, volume: PodVolume, driver: str, node: str) -> Iterator[Finding]:
    if lacks_driver(result.nodes.objects, node, driver):
        is_made = volume.volume is not None
        whose = f"volume {volume.volume.name}" if volume.volume is not None else f"claim {volume.claim.name}"
        cannot = "be mounted" if is_made else "be made or mounted"
        yield Finding(
            kind=KIND,
            sentence=f"CSI driver {driver} is not on {node} (the CSINode of {node} does not list it), so "
            f"{volume.subject} cannot {cannot} there; start the driver's pod on {node}",
            clauses=(
                f"CSI driver {driver}, which serves {whose}, is not there",
                f"CSI driver {driver} is not there",
                f"the CSI driver of {whose} is not there",
            ),
            spoils_start=True,
        )


def _where_it_is_kept_out(result: ScheduleResult, volume: PodVolume, driver: str) -> Iterator[Finding]:
    """Yield the nodes that do not reach the volume and lack its driver, whose labels come with the driver."""
    objects, lacking, missing = result.nodes.objects, [], ""
    rejected = [mask for plugin in _PLUGINS if (mask := result.rejection_masks.get(plugin)) is not None]
    for row in np.flatnonzero(np.logical_or.reduce(rejected)).tolist() if rejected else ():
        name = result.nodes.names[row]
        label = _missing_label(result, volume, row)
        if label is not None and lacks_driver(objects, name, driver):
            lacking.append(name)
            missing = label
    if not lacking:
        return
    where = lacking[0] if len(lacking) == 1 else f"{lacking[0]} and {len(lacking) - 1} other nodes"
    is_installed = objects.get(CSIDriver, driver) is not None or not objects.all(CSIDriver)
    installed = "" if is_installed else " (nor is there a CSIDriver of that name)"
    subject = f"{volume.subject[:1].upper()}{volume.subject[1:]}"
    clauses = (
        f"CSI driver {driver}, which serves claim {volume.claim.name}, is on no node",
        f"CSI driver {driver} is on no node",
    )
    yield Finding(
        kind=KIND,
        clauses=clauses if len(lacking) == len(result.nodes) else (),
        sentence=f"{subject} {volume.served}, which is not on {where}{installed}; label {missing} comes with the "
        "driver: install it, or start its pod there",
    )


def _missing_label(result: ScheduleResult, volume: PodVolume, row: int) -> str | None:
    """Return a label that the volume wants and that the node lacks altogether."""
    for each in result.filter_evidence("VolumeBinding", row):
        labels, unmet = each.facts.get("labels"), each.facts.get("unmet")
        if each.facts.get("claim") == volume.claim.name and isinstance(labels, dict) and isinstance(unmet, list):
            return next((str(key) for key in unmet if labels.get(str(key)) is None), None)
    return None

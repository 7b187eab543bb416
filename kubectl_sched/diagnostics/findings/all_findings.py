"""All findings about one pod, those that spoil its start first. Rules that cannot concern the pod are not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.own_error import note_error
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

    Rule = Callable[[CycleResult, Surroundings], Iterator[Finding]]


def findings_of(
    result: ScheduleResult, around: Surroundings, rules: Callable[[ScheduleResult], Iterator[Rule]] | None = None
) -> tuple[Finding, ...]:
    """Return the facts that explain the cycle's verdict or spoil the start that it promises; often there are none."""
    if not isinstance(result, CycleResult) or result.pod.has_ended or result.failure is not None:
        return ()
    found: list[Finding] = []
    for rule in (rules or _rules)(result):
        try:
            found += rule(result, around)
        except (InvalidQuantity, PluginError):
            continue  # an object that cannot be read explains nothing
        except Exception as failure:  # noqa: BLE001 - a bug of ours must not lose the answers of a whole list
            note_error(failure)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: not each.spoils_start))


def clauses_of(result: ScheduleResult, around: Surroundings) -> tuple[str, ...]:
    """Return the clauses of the first fact that belongs into the verdict; only rules that have such are asked."""
    found = findings_of(result, around, _rules_with_clauses)
    return next((each.clauses for each in found if each.clauses), ())


def _rules_with_clauses(result: ScheduleResult) -> Iterator[Rule]:
    if result.pod.spec.volumes:
        yield from _about_volumes(result)
    if result.fits or result.current_node:
        from kubectl_sched.diagnostics.findings import component_events, platforms

        yield from (platforms.findings, component_events.findings)


def _rules(result: ScheduleResult) -> Iterator[Rule]:
    """Yield the rules, without those that find nothing about such a pod."""
    if not result.fits:
        from kubectl_sched.diagnostics.findings import mended_bugs

        yield mended_bugs.findings
    yield from _about_room(result)
    if result.nodes.nominated and not result.fits:
        from kubectl_sched.diagnostics.findings.resources import nominated_pods

        yield nominated_pods.findings
    if "DynamicResources" in result.rejection_masks and not result.fits:
        from kubectl_sched.diagnostics.findings.resources import device_plugins, unused_claims

        yield from (device_plugins.devices_elsewhere, unused_claims.findings)
    if result.pod.spec.volumes:
        yield from _about_volumes(result)
    if "VolumeBinding" in result.rejection_masks:
        from kubectl_sched.diagnostics.findings.volumes import class_topologies

        yield class_topologies.findings
    if not result.fits:
        from kubectl_sched.diagnostics.findings import blocked_rollouts, forbidden_preemption

        yield from (blocked_rollouts.findings, forbidden_preemption.findings)
    if not any(each.resources.requests.keys() & {"cpu", "memory"} for each in result.pod.spec.containers):
        from kubectl_sched.diagnostics.findings.resources import unrequested_resources

        yield unrequested_resources.findings
    from kubectl_sched.diagnostics.findings import component_events, namespace_defaults, platforms

    yield from (namespace_defaults.findings, platforms.findings, component_events.findings)


def _about_room(result: ScheduleResult) -> Iterator[Rule]:
    if "NodeResourcesFit" not in result.rejection_masks:
        return
    from kubectl_sched.diagnostics.findings.resources import device_plugins, huge_pages

    yield from (device_plugins.findings, huge_pages.findings)
    if not result.fits:
        from kubectl_sched.diagnostics.findings.resources import (
            partial_requests,
            pending_resizes,
            reserved_resources,
            room_held_in_vain,
        )

        yield from (reserved_resources.findings, pending_resizes.findings)
        yield from (partial_requests.findings, room_held_in_vain.findings)
    if any((result.nodes.allocatable(name) <= 0).any() for name in ("cpu", "memory")):
        from kubectl_sched.diagnostics.findings.resources import overflowing_amounts

        yield overflowing_amounts.findings


def _about_volumes(result: ScheduleResult) -> Iterator[Rule]:
    from kubectl_sched.diagnostics.findings.volumes import (
        unbound_claims,
        volume_attachments,
        volume_drivers,
        volumes_apart,
    )

    yield from (unbound_claims.findings, volume_attachments.findings)
    yield from (volume_drivers.findings, volumes_apart.findings)
    if "VolumeBinding" in result.rejection_masks:
        from kubectl_sched.diagnostics.findings.volumes import unreachable_volumes

        yield unreachable_volumes.findings

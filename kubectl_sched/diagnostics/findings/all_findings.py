"""All findings about one pod, those that spoil its start first."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.findings import (
    blocked_rollouts,
    component_events,
    device_plugins,
    forbidden_preemption,
    huge_pages,
    mended_bugs,
    namespace_defaults,
    partial_requests,
    pending_resizes,
    platforms,
    reserved_resources,
    unbound_claims,
    unrequested_resources,
    volume_attachments,
    volume_drivers,
    volumes_apart,
)
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

_RULES: Final[tuple[Callable[[ScheduleResult, Surroundings], Iterator[Finding]], ...]] = (
    mended_bugs.findings,
    device_plugins.findings,
    huge_pages.findings,
    reserved_resources.findings,
    pending_resizes.findings,
    partial_requests.findings,
    unbound_claims.findings,
    volume_attachments.findings,
    volume_drivers.findings,
    volumes_apart.findings,
    blocked_rollouts.findings,
    forbidden_preemption.findings,
    namespace_defaults.findings,
    platforms.findings,
    unrequested_resources.findings,
    component_events.findings,
)


def findings_of(result: ScheduleResult, around: Surroundings) -> tuple[Finding, ...]:
    """Return the facts that explain the cycle's verdict or spoil the start that it promises; often there are none."""
    if result.framework is None or result.pod.has_ended or result.failure is not None:
        return ()
    found: list[Finding] = []
    for rule in _RULES:
        with suppress(InvalidQuantity, PluginError):  # an object that cannot be read explains nothing
            found += rule(result, around)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: not each.spoils_start))

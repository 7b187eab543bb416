"""All findings about one pod, those that spoil its start first. Rules that cannot concern the pod are not imported."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

    Rule = Callable[[ScheduleResult, Surroundings], Iterator[Finding]]


def _always(_: ScheduleResult) -> bool:
    return True


def _fits_nowhere(result: ScheduleResult) -> bool:
    return not result.fits


def _lacks_room_somewhere(result: ScheduleResult) -> bool:
    return "NodeResourcesFit" in result.rejection_masks


def _has_volumes(result: ScheduleResult) -> bool:
    return bool(result.pod.spec.volumes)


_RULES: Final[tuple[tuple[str, Callable[[ScheduleResult], bool]], ...]] = (
    ("mended_bugs", _fits_nowhere),
    ("device_plugins", _lacks_room_somewhere),
    ("huge_pages", _lacks_room_somewhere),
    ("reserved_resources", _lacks_room_somewhere),
    ("pending_resizes", _lacks_room_somewhere),
    ("partial_requests", _lacks_room_somewhere),
    ("unbound_claims", _has_volumes),
    ("volume_attachments", _has_volumes),
    ("volume_drivers", _has_volumes),
    ("volumes_apart", _has_volumes),
    ("blocked_rollouts", _fits_nowhere),
    ("forbidden_preemption", _fits_nowhere),
    ("namespace_defaults", _always),
    ("platforms", _always),
    ("unrequested_resources", _always),
    ("component_events", _always),
)
"""The module of each rule, and a condition without which it finds nothing."""


def findings_of(result: ScheduleResult, around: Surroundings) -> tuple[Finding, ...]:
    """Return the facts that explain the cycle's verdict or spoil the start that it promises; often there are none."""
    if result.framework is None or result.pod.has_ended or result.failure is not None:
        return ()
    found: list[Finding] = []
    for name, may_concern in _RULES:
        with suppress(InvalidQuantity, PluginError):  # an object that cannot be read explains nothing
            if may_concern(result):
                found += _rule(name)(result, around)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: not each.spoils_start))


def _rule(name: str) -> Rule:
    rule: Rule = import_module(f"{__package__}.{name}").findings
    return rule

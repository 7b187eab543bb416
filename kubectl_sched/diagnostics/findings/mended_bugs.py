"""Bugs of the scheduler's patch release that a later one mends, found by replaying the pod as of the later ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.config.versions import RELEASES, changing_patches
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.framework.runtime import Framework
from kubectl_sched.plugins import make_plugins
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.config.versions import KubeVersion
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "SchedulerBug"

_MENDED: Final = frozenset({"DynamicResources", "InterPodAffinity"})
"""The plugins of which a patch release changed verdicts; pods that they do not judge need no further replay."""

_NODES_NAMED: Final = 3


def findings(result: CycleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the first later patch release with which the pod fits, or with which its cycle does not fail."""
    patch = result.framework.handle.release.patch
    if patch is None or result.unknown or result.outcome not in {Outcome.UNSCHEDULABLE, Outcome.ERROR}:
        return
    later = [each for each in changing_patches(patch.of_minor) if each > patch]
    if (
        not later
        or not (result.error or _MENDED & set(result.verdicts))
        or not _mends(result, _as_of(result, later[-1]))
    ):
        return
    mending, newer = next((each, newer) for each in later if _mends(result, newer := _as_of(result, each)))
    with_it = f"with {mending} the pod fits on {_nodes(newer)}" if newer.fits else f"{mending} rejects the pod instead"
    yield Finding(kind=KIND, sentence=f"kube-scheduler {patch} has a bug here that {mending} mends: {with_it}")


def _as_of(result: CycleResult, patch: KubeVersion) -> CycleResult:
    """Run the cycle again as of another patch release; configurations are read alike by all patches of a minor."""
    release = RELEASES[patch]
    handle = replace(result.framework.handle, release=release)
    profile = result.framework.profile
    nodes = replace(result.nodes, sidecar_ports_count=release.sidecar_ports_count)
    return cycle(result.pod, nodes, Framework(profile, make_plugins(profile, handle), handle))


def _mends(result: CycleResult, newer: CycleResult) -> bool:
    return newer.fits or (result.outcome is Outcome.ERROR and newer.outcome is Outcome.UNSCHEDULABLE)


def _nodes(result: CycleResult) -> str:
    best = list(result.best)
    more = f" and {len(best) - _NODES_NAMED} more" if len(best) > _NODES_NAMED else ""
    return ", ".join(best[:_NODES_NAMED]) + more

"""The kinds that a second scheduler follows: those that the plugins of its profiles look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.scheduler.group_membership import has_group_cycles
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.needed_kinds import SELECTORS, STORAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.config import Configuration, ResolvedProfile
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.sources.kinds import Kind

ALWAYS: Final = ("Node", "Pod", "Namespace")
_CLAIMS: Final = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")
_OF_PLUGIN: Final[dict[str, tuple[str, ...]]] = {
    "DefaultPreemption": ("PodDisruptionBudget",),
    "DynamicResources": ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule"),
    "NodeVolumeLimits": STORAGE,
    "PodTopologySpread": SELECTORS,
    "VolumeBinding": STORAGE,
    "VolumeRestrictions": _CLAIMS,
    "VolumeZone": _CLAIMS,
}

NOT_ENDED: Final = "status.phase!=Succeeded,status.phase!=Failed"
"""The field selector of pods; kube-scheduler's informer has the same."""


def watched_kinds(profiles: Iterable[ResolvedProfile], of: Configuration | Handle) -> tuple[Kind, ...]:
    """The kinds, each once, nodes and pods first; of groups those that gangs are of in this version."""
    plugins = {ref.name for profile in profiles for refs in profile.plugins.values() for ref in refs}
    names = [*ALWAYS, *(kind for plugin, kinds in _OF_PLUGIN.items() if plugin in plugins for kind in kinds)]
    if of.release.gangs_are_of_workloads and "GangScheduling" in plugins:
        names.append("Workload")
    if has_group_cycles(of):
        names.append("PodGroup")
        if of.features.enabled("CompositePodGroup"):
            names.append("CompositePodGroup")
    return tuple(BY_NAME[name] for name in dict.fromkeys(names))

"""Runs preemption for a group as a whole (runWorkloadAwarePreemption, since 1.37 RunPodGroupPostFilterPlugins)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.interface import PodGroupPostFilterPlugin
from kubectl_sched.framework.podgroup_info import PodGroupPostFilterResult
from kubectl_sched.framework.status import Code, error, unschedulable

if TYPE_CHECKING:
    from kubectl_sched.framework.podgroup_info import GroupCycle, PodGroupInfo
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot

_NOT_REGISTERED = unschedulable("default preemption plugin is not registered, workload aware preemption is disabled")
_CONSTRAINED = unschedulable("workload aware preemption is not supported for pod groups with scheduling constraints")


def run_pod_group_post_filter(
    info: PodGroupInfo, nodes: Snapshot, framework: Framework, cycle: GroupCycle
) -> PodGroupPostFilterResult | None:
    """Return what preemption for the group says, None if the version or its gates have none."""
    if framework.handle.release.groups_have_placement_feasible:
        return _run_plugins(info, nodes, framework, cycle)
    if not framework.handle.features.enabled("WorkloadAwarePreemption"):
        return None
    plugin = framework.plugins.get("DefaultPreemption")
    if not isinstance(plugin, PodGroupPostFilterPlugin):
        return PodGroupPostFilterResult(status=_NOT_REGISTERED)
    if info.topology_key is not None:
        return PodGroupPostFilterResult(status=_CONSTRAINED)
    return plugin.pod_group_post_filter(info, nodes, framework, cycle)


def _run_plugins(
    info: PodGroupInfo, nodes: Snapshot, framework: Framework, cycle: GroupCycle
) -> PodGroupPostFilterResult:
    reasons: tuple[str, ...] = ()
    for plugin in framework.pod_group_post_filter_plugins:
        result = plugin.pod_group_post_filter(info, nodes, framework, cycle)
        code = result.status.code
        if code in {Code.SUCCESS, Code.UNSCHEDULABLE_AND_UNRESOLVABLE}:
            return result
        if code is not Code.UNSCHEDULABLE:
            why = f'error in "{plugin.name}" PodGroupPostFilter plugins: {result.status.message}'
            return PodGroupPostFilterResult(status=error(why))
        reasons += result.status.reasons
    return PodGroupPostFilterResult(status=unschedulable(*reasons))

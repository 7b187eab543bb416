"""Pods that no plugin can tell apart, and cycles that such pods may share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from msgspec.structs import replace

from kubectl_sched.api.pod import PodStatus
from kubectl_sched.api.pod_volumes import Volume
from kubectl_sched.framework.interface import PreFilterExtensions
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import ContainerStatus, Pod, PodSpec
    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.scheduler.result import ScheduleResult

Likeness: TypeAlias = "tuple[object, ...]"


def likeness(pod: Pod, unasked: frozenset[str] = frozenset(), *, with_volumes: bool = True) -> Likeness:
    """Return all of a pod that a plugin may look at; pods of equal likeness have the same verdicts and scores.

    Names, ages and the present node are left out, and the values of labels that no selector asks for. A pod whose
    claims are called after it is like no other. Without volumes, the caller compares these by itself.
    """
    metadata, spec = pod.metadata, pod.spec
    named = with_volumes and spec.volumes and [each for each in spec.volumes if each.ephemeral is not None]
    return (
        metadata.namespace,
        _without(unasked, metadata.labels) if unasked else metadata.labels,
        metadata.owner_references,
        metadata.deletion_timestamp,
        _decisive_spec(spec, with_volumes=with_volumes),
        _DECISIVE_WHEN_FRESH if pod.status == _FRESH else _decisive_status(pod.status),
        metadata.name if named or spec.resource_claims else "",
    )


def _without(unasked: frozenset[str], labels: Labels) -> Labels:
    return {key: "" if key in unasked else value for key, value in labels.items()}


def _decisive_spec(spec: PodSpec, *, with_volumes: bool) -> PodSpec:
    """The spec without its node and without the names of volumes, some of which the API server makes up."""
    if not spec.node_name and not spec.volumes:
        return spec
    volumes = [replace(each, name="") for each in spec.volumes] if with_volumes else ()
    return replace(spec, node_name="", volumes=tuple(volumes))


def _decisive_status(status: PodStatus) -> Likeness:
    return (
        status.nominated_node_name,
        status.qos_class,
        status.resize,
        [each for each in status.conditions if each.type.startswith("PodResize")],
        [_resources_of(each) for each in status.init_container_statuses],
        [_resources_of(each) for each in status.container_statuses],
        status.resource_claim_statuses,
        status.extended_resource_claim_status,
        status.node_allocatable_resource_claim_statuses,
        status.allocated_resources,
        status.resources,
    )


def _resources_of(status: ContainerStatus) -> Likeness:
    return status.name, status.allocated_resources, status.resources


_FRESH = PodStatus()
_DECISIVE_WHEN_FRESH = _decisive_status(_FRESH)


def is_plain(pod: Pod) -> bool:
    """Report whether the pod has no devices, and no volumes but those that are the node's own."""
    return not pod.spec.resource_claims and all(map(is_of_node, pod.spec.volumes))


def is_of_node(volume: Volume) -> bool:
    """Report whether the volume is the node's own, as files that the kubelet makes are."""
    return volume == Volume(
        name=volume.name,
        empty_dir=volume.empty_dir,
        host_path=volume.host_path,
        config_map=volume.config_map,
        projected=volume.projected,
        image=volume.image,
    )


def is_by_itself(pod: Pod) -> bool:
    """Report whether the pod's cycle is about this pod alone, without a nomination and without a group."""
    return not pod.status.nominated_node_name and pod.spec.scheduling_group is None and pod.spec.workload_ref is None


def may_share(result: ScheduleResult) -> TypeGuard[CycleResult]:
    """Report whether pods like that of the cycle may share its verdicts and scores, brought up to date.

    They may not where another pod is nominated, where PreFilter or an extender chose nodes, where scoring failed, or
    where a plugin does not say what its verdicts depend on.
    """
    return (
        isinstance(result, CycleResult)
        and result.framework.handle.extender_client is None
        and result.verdict is not None
        and result.pre_filter.is_success
        and result.pre_filter_nodes is None
        and result.score_error is None
        and not result.nodes.nominated
        and is_by_itself(result.pod)
        and not _counts_nobody(result.pod)
        and all(_says_what_it_depends_on(each) for each in filters_of(result))
    )


def filters_of(result: CycleResult) -> Sequence[FilterPlugin]:
    """Return the Filter plugins that judged nodes in the cycle."""
    return [each for each in result.framework.filter_plugins if each.name in result.verdicts]


def _says_what_it_depends_on(plugin: FilterPlugin) -> bool:
    return plugin.depends_on is not DependsOn.CLUSTER or isinstance(plugin, PreFilterExtensions)


def _counts_nobody(pod: Pod) -> bool:
    """Report whether a spread constraint has an empty selector: AddPod counts pods for it that PreFilter does not."""
    return any(
        each.label_selector is not None
        and not each.label_selector.match_labels
        and not each.label_selector.match_expressions
        for each in pod.spec.topology_spread_constraints
    )

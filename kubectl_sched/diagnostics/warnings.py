"""Warnings beside the verdict: nodes that the real scheduler would not have looked at, and what it never checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import milli_value
from kubectl_sched.api.component_helpers.pod_qos import pod_qos
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.diagnostics.not_replayed import not_replayed
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.result import ScheduleResult


NOT_SCORED = "with one feasible node kube-scheduler does not score; the points here are what it would have given"
_OS = "kubernetes.io/os"
_ARCH = "kubernetes.io/arch"


def warnings(result: ScheduleResult, configuration: Configuration) -> tuple[str, ...]:
    """Return the warnings that concern this pod."""
    return tuple(_all(result, configuration))


def _all(result: ScheduleResult, configuration: Configuration) -> Iterator[str]:
    if not isinstance(result, CycleResult):
        profiles = sorted(configuration.profiles)
        yield f"the configuration has the {'profile' if len(profiles) == 1 else 'profiles'} {', '.join(profiles)}"
        return
    for plugin in result.framework.profile.unknown_plugins:
        yield (
            f"plugin {plugin.name} is not in-tree, so what it does at {', '.join(plugin.extension_points)} is not "
            f"replayed; a kube-scheduler without it says: {plugin.upstream}"
        )
    if configuration.extenders and result.framework.handle.extender_client is None:
        names = ", ".join(extender.address for extender in configuration.extenders)
        yield f"extenders are not asked in a replay, so what they would filter and score is not shown: {names}"
    yield from not_replayed(result)
    if isinstance(result, MemberResult):
        from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings

        yield from podgroup_warnings(result.podgroup)
    yield from _beyond_the_search(result)
    if result.post_filter is not None:
        yield from result.post_filter.notes
    yield from without_topology_key(result)
    yield from _kubelet(result)


def _beyond_the_search(result: CycleResult) -> Iterator[str]:
    nominated = result.nominated_first
    if result.score_error is not None and result.error is None:
        which = "a single feasible node" if nominated is None else f"when the nominated node {nominated} passes"
        yield f"scoring would fail, but kube-scheduler does not score {which}: {result.score_error}"
    if not len(result.feasible):
        return
    if nominated is not None and len(result.feasible) > 1:
        yield (
            f"kube-scheduler asks the nominated node {nominated} first, and as it passes, looks at no other node; "
            "the points here are what scoring would give"
        )
        return
    if not result.framework.score_plugins:
        yield "the profile has no score plugin, so kube-scheduler stops at the first feasible node that it meets"
    elif result.is_sampled:
        percentage = result.framework.profile.percentage_of_nodes_to_score
        most = num_feasible_nodes_to_find(len(result.nodes), percentage)
        yield (
            f"{len(result.feasible):,} nodes are feasible, but kube-scheduler stops looking after {most:,}, from a "
            "start that rotates and cannot be read; all of them are scored here"
        )
    elif len(result.feasible) == 1 and result.score_error is None and result.error is None:
        yield NOT_SCORED


def _kubelet(result: ScheduleResult) -> Iterator[str]:
    """Warn about checks that the kubelet or the image makes and the scheduler does not."""
    if not len(result.feasible):
        return
    pod, nodes = result.pod, result.nodes
    what = _asks_for_exclusively(pod)
    if what is not None:
        yield (
            f"the pod is Guaranteed and asks for {what}: where the kubelet's topology manager is restricted or "
            "single-numa-node, it may still refuse the pod"
        )
    operating_system = nodes.label(_OS)
    for name in result.best if pod.spec.os is not None and pod.spec.os.name else ():
        has = operating_system[nodes.row_of[name]]
        if pod.spec.os is not None and has not in {None, pod.spec.os.name}:
            yield (
                f"spec.os.name is {pod.spec.os.name}, but {name} has {_OS}={has}; the scheduler does not compare them, "
                "the kubelet refuses the pod"
            )
            break
    distinct = nodes.label(_ARCH).take(result.feasible).counts()
    architectures = sorted({str(each) for each, _ in distinct if each is not None})
    if len(architectures) > 1:
        yield (
            f"the feasible nodes are of {' and '.join(architectures)}; the scheduler never checks for which "
            "architecture an image is built"
        )


def _asks_for_exclusively(pod: Pod) -> str | None:
    """Whole CPUs or devices of a Guaranteed pod, which the topology manager aligns."""
    if pod_qos(pod) != "Guaranteed":
        return None
    requests = [each.resources.requests for each in (*pod.spec.init_containers, *pod.spec.containers)]
    devices = sorted({name for each in requests for name in each if is_extended_resource_name(name)})
    if devices:
        return devices[0]
    cpus = [milli_value(each["cpu"]) for each in requests if "cpu" in each]
    return "whole CPUs" if any(cpu and cpu % 1000 == 0 for cpu in cpus) else None


def without_topology_key(result: ScheduleResult) -> Iterator[str]:
    """Best nodes on which required anti-affinity means nothing."""
    affinity = result.pod.spec.affinity
    terms = affinity.pod_anti_affinity.required if affinity and affinity.pod_anti_affinity else ()
    for key in dict.fromkeys(term.topology_key for term in terms):
        labelled = result.nodes.table.has_label(key)
        lacking = next((name for name in result.best if not labelled[result.nodes.row_of[name]]), None)
        if lacking is not None:
            yield f"{lacking} has no label {key}, and a node without the topology key can never violate anti-affinity"

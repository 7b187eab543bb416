"""Extended resources that no node, or not the node that has the device, offers: the part of the device plugin.

A kubelet reports in `status.capacity` every device that a plugin has registered, and in `status.allocatable` those that
the plugin calls healthy; after the plugin is gone it reports 0 of them (pkg/kubelet/cm/devicemanager/manager.go).
Devices of DRA drivers are claimed instead, and may be free where the pod is kept out by something else.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.api.resource import DeviceClass
from kubectl_sched.controllers.daemon_set import runs_on, with_daemon_tolerations
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import capacity_of, requests_of, too_small_for
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.shell_commands import describe, logs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod, PodSpec
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "DevicePlugin"
ELSEWHERE_KIND: Final = "DevicesElsewhere"

_PLUGIN = pattern("device-?plugin")
"""Device plugins are named so, in the image if nowhere else."""

_PRESENT: Final = ("nvidia.com/gpu.present", "nvidia.com/gpu.deploy.device-plugin", "amd.com/gpu.device-id")
_PCI_VENDORS: Final = {"nvidia": "pci-10de", "amd": "pci-1002", "intel": "pci-8086"}
_NODE_FEATURE: Final = "feature.node.kubernetes.io/"
_NODES_NAMED: Final = 2
_RESOURCES_EXAMINED: Final = 8
"""A pod may ask for any number of resources, and each is looked for on all nodes."""

_CLAIMS: Final = "DynamicResources"


class _Seen(NamedTuple):
    """The state of a device plugin: a clause, and the command that shows more."""

    clause: str
    command: ShellCommand | None = None


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield what keeps extended resources from being offered, on the nodes that the pod could use otherwise."""
    backed = {each.spec.extended_resource_name for each in result.nodes.objects.all(DeviceClass)}
    extended = (each for each in requests_of(result).items() if is_extended_resource_name(each[0]))
    for resource, wanted in islice(extended, _RESOURCES_EXAMINED):
        if resource in backed:
            continue
        rows = too_small_for(result, resource, wanted)
        if rows:
            yield from _of_resource(result, around, resource, wanted, rows)


def _of_resource(
    result: ScheduleResult, around: Surroundings, resource: str, wanted: int, rows: Sequence[int]
) -> Iterator[Finding]:
    nodes = result.nodes
    failed = [row for row in rows if capacity_of(result, row, resource) >= wanted]
    if failed:
        yield from (_failed_on(result, around, resource, row) for row in failed[:_NODES_NAMED])
    elif nodes.whole.allocatable(resource).any():
        yield from _with_hardware(result, around, resource, rows)
    elif nearest(resource, frozenset(nodes.whole.table.allocatable) - {resource}) is None:
        other = _other_name(result, resource)
        if other:
            said = f"{other}: the devices are shared or offered in parts under that name; ask for it, or change the"
            yield Finding(kind=KIND, sentence=f"No node reports {resource}, but {said} device plugin's configuration")
            return
        seen = _in_cluster(result, around, resource)
        yield _finding(f"No node reports {resource}: {seen.clause}", seen)


def _other_name(result: ScheduleResult, resource: str) -> str:
    """Return the node that offers most of another resource of the same vendor, as a clause; empty if none does."""
    nodes, vendor = result.nodes.whole, resource.partition("/")[0]
    for other, amounts in sorted(nodes.table.allocatable.items()):
        if other != resource and other.startswith(f"{vendor}/") and amounts.any():
            row = int(amounts.argmax())
            return f"{nodes.names[row]} has {int(amounts[row])} {other}"
    return ""


def _failed_on(result: ScheduleResult, around: Surroundings, resource: str, row: int) -> Finding:
    """Say that the node has the devices and does not offer them."""
    has, offered = capacity_of(result, row, resource), int(result.nodes.allocatable(resource)[row])
    state = f"{offered or 'none'} of them allocatable"
    why = "its device plugin calls the others unhealthy" if offered else "its device plugin failed or is gone"
    seen = _on_node(around, resource, row, result)
    start = f"{result.nodes.names[row]} has {has} {resource} in its capacity, {state}: {why}"
    return _finding(f"{start}; {seen.clause}", seen)


def _with_hardware(
    result: ScheduleResult, around: Surroundings, resource: str, rows: Sequence[int]
) -> Iterator[Finding]:
    """Yield a node whose labels show the device, and that reports none of the resource."""
    for row in rows:
        label = _hardware_label(result, resource, row)
        if label is not None and not result.nodes.allocatable(resource)[row]:
            seen = _on_node(around, resource, row, result)
            start = f"{result.nodes.names[row]} has label {label}, but no device plugin reports {resource} there"
            yield _finding(f"{start}; {seen.clause}", seen)
            return


def _finding(sentence: str, seen: _Seen) -> Finding:
    return Finding(kind=KIND, sentence=sentence, commands=(seen.command,) if seen.command is not None else ())


def _on_node(around: Surroundings, resource: str, row: int, result: ScheduleResult) -> _Seen:
    """Return the state of the device plugin's pod on the node, or that none is seen there."""
    node = result.nodes.node_objects[row]
    there = [pod for pod in result.nodes.node(row).pods if _serves(pod.spec, pod.name, resource)]
    if there:
        seen = _state(there[0])
        return seen._replace(clause=f"pod {there[0].key} there {seen.clause}")
    for item in _plugin_sets(around, resource):
        if runs_on(with_daemon_tolerations(item.spec.template.spec), node):
            return _Seen(f"DaemonSet {item.key} has no pod there", describe("daemonset", item.namespace, item.name))
        return _Seen(f"DaemonSet {item.key} leaves the node out by its selector, affinity or tolerations")
    return _Seen("no pod of a device plugin for it is seen there")


def _in_cluster(result: ScheduleResult, around: Surroundings, resource: str) -> _Seen:
    """Return what is known of the resource's device plugin where no node reports the resource."""
    pods = [pod for pod in _plugin_pods(around) if _serves(pod.spec, pod.name, resource)]
    if pods:
        seen = _state(pods[0])
        return seen._replace(clause=f"pod {pods[0].key} of its device plugin {seen.clause}")
    for item in _plugin_sets(around, resource):
        spec = with_daemon_tolerations(item.spec.template.spec)
        if any(runs_on(spec, node) for node in result.nodes.whole.node_objects):
            return _Seen(
                f"DaemonSet {item.key}, its device plugin, has no pods",
                describe("daemonset", item.namespace, item.name),
            )
        return _Seen(
            f"DaemonSet {item.key}, its device plugin, runs on no node, as its selector, affinity and tolerations "
            "leave out all of them"
        )
    vendor = resource.partition("/")[0]
    for row in range(len(result.nodes)):
        label = _hardware_label(result, resource, row)
        if label is not None:
            name = result.nodes.names[row]
            return _Seen(f"no device plugin is seen, though {name} has label {label}; install the one of {vendor}")
    return _Seen(f"no device plugin is seen; install the one of {vendor}, or add nodes that have such devices")


def _hardware_label(result: ScheduleResult, resource: str, row: int) -> str | None:
    """Return a label of the node by which the device is there, None without one."""
    vendor = _vendor(resource)
    labels = result.nodes.node_objects[row].metadata.labels
    for key, value in labels.items():
        is_of_vendor = key in _PRESENT and vendor in key
        is_on_bus = key.startswith(_NODE_FEATURE) and _PCI_VENDORS.get(vendor, vendor) in key
        if (is_of_vendor or (is_on_bus and key.endswith(".present"))) and value not in {"false", "0"}:
            return f"{key}={value}"
    return None


def _vendor(resource: str) -> str:
    """Return `nvidia` for nvidia.com/gpu and for resources of its subdomains."""
    parts = resource.partition("/")[0].split(".")
    return parts[-2] if len(parts) > 1 else parts[0]


def _plugin_sets(around: Surroundings, resource: str) -> list[DaemonSet]:
    return [item for item in _all_plugin_sets(around) if _serves(item.spec.template.spec, item.name, resource)]


@lru_cache(maxsize=1)
def _all_plugin_sets(around: Surroundings) -> tuple[DaemonSet, ...]:
    sets = (item for item in around.dump.others if isinstance(item, DaemonSet))
    return tuple(item for item in sets if _is_plugin(item.spec.template.spec, item.name))


@lru_cache(maxsize=1)
def _plugin_pods(around: Surroundings) -> tuple[Pod, ...]:
    """Return the pods of device plugins of any vendor, which are few, once for all pods that are explained."""
    return tuple(pod for pod in around.dump.pods if not pod.has_ended and _is_plugin(pod.spec, pod.name))


def _serves(spec: PodSpec, name: str, resource: str) -> bool:
    """Report whether the containers are a device plugin's, by name or image, and of the resource's vendor."""
    kind = resource.partition("/")[2].lower()
    return _is_plugin(spec, name) and any(each in _words(spec, name) for each in (_vendor(resource).lower(), kind))


def _is_plugin(spec: PodSpec, name: str) -> bool:
    return _PLUGIN.search(_words(spec, name)) is not None


def _words(spec: PodSpec, name: str) -> str:
    return " ".join((name, *(part for each in spec.containers for part in (each.name, each.image)))).lower()


def _state(pod: Pod) -> _Seen:
    """Return what the pod does, as a verb's clause: `is in CrashLoopBackOff`."""
    for each in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = each.state.waiting
        if waiting is not None and waiting.reason:
            return _Seen(f"is in {waiting.reason}", logs(pod.namespace, pod.name, each.name))
    if not pod.spec.node_name:
        return _Seen("is pending itself", describe("pod", pod.namespace, pod.name))
    if pod.status.container_statuses and not all(each.ready for each in pod.status.container_statuses):
        return _Seen("is not ready", logs(pod.namespace, pod.name))
    return _Seen("runs, and its log says which devices it finds", logs(pod.namespace, pod.name))


def devices_elsewhere(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the nodes that could serve the pod's claims and that something else rejects, if the others could not."""
    by_devices = result.rejection_masks.get(_CLAIMS)
    others = [mask for plugin, mask in result.rejection_masks.items() if plugin != _CLAIMS]
    if by_devices is None or not others or result.unjudged_masks or result.pre_filter_nodes is not None:
        return
    kept_out = np.logical_or.reduce(others)
    serving = np.flatnonzero(kept_out & ~by_devices).tolist()
    if not serving or not (by_devices & ~kept_out).any():
        return
    names = [result.nodes.names[row] for row in serving]
    plugins = [plugin for plugin, mask in result.rejection_masks.items() if plugin != _CLAIMS and mask[serving].any()]
    keeps = "keeps" if len(plugins) == 1 else "keep"
    yield Finding(
        kind=ELSEWHERE_KIND,
        sentence=f"The devices that its claims want are free on {first_few(names)}, where {first_few(plugins)} {keeps} "
        "it out; the nodes that it may use otherwise lack them: let it onto the nodes with the devices, rather than "
        "ask for fewer",
    )

"""The pod's node as it is right before and right after the binding.

The binding endpoint checks no capacity, so that two schedulers may each fill the same room. Only reading the node again
shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.api_requests import object_path
from kubectl_sched.binding.object_reader import read_pods_on
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import scheduler_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.writer import Writer
    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump


class NodeNow(Record, frozen=True, kw_only=True):
    """A node, None if it is gone, and the pods on it that have not ended."""

    node: Node | None
    pods: tuple[Pod, ...]


def read_node(writer: Writer, name: str) -> NodeNow:
    """The node as the server has it now."""
    node = writer.read(object_path("Node", name), Node)
    return NodeNow(node=node, pods=read_pods_on(writer, name))


def is_as_judged(now: NodeNow, result: ScheduleResult, name: str) -> bool:
    """Report whether the verdict on the node still holds: the node offers the same, and the same pods are on it."""
    row = result.nodes.row_of.get(name)
    if row is None or now.node is None:
        return False
    judged = result.nodes.node_objects[row]
    before = {_identity(pod) for pod in result.nodes.node(row).pods}
    after = {_identity(pod) for pod in now.pods if pod.metadata.uid != result.pod.metadata.uid}
    return (
        judged.metadata.uid == now.node.metadata.uid
        and judged.metadata.labels == now.node.metadata.labels
        and judged.spec == now.node.spec
        and judged.status.allocatable == now.node.status.allocatable
        and before == after
    )


def gone_or_replaced(now: NodeNow, result: ScheduleResult, name: str) -> tuple[str, ...]:
    """Tell that the pod was bound to a node that is not there any more: the binding endpoint asks for no node."""
    row = result.nodes.row_of.get(name)
    if now.node is None:
        return (f"node {name} is gone: pod {result.pod.key} will be deleted by the pod garbage collector",)
    if row is not None and result.nodes.node_objects[row].metadata.uid != now.node.metadata.uid:
        return (f"node {name} was replaced by another one of its name: pod {result.pod.key} was not judged for it",)
    return ()


def _identity(pod: Pod) -> tuple[str, bool]:
    return pod.metadata.uid, pod.metadata.deletion_timestamp is not None


def overcommitted(
    now: NodeNow, result: ScheduleResult, dump: Dump, configuration: Configuration, name: str
) -> str | None:
    """Return what no longer holds for the bound pod on its node, and the pods that came at the same time; else None.

    Only what those pods have caused counts.
    """
    row = result.nodes.row_of.get(name)
    if row is None or now.node is None or not isinstance(result, CycleResult) or result.outcome is Outcome.ERROR:
        return None
    known = {pod.metadata.uid for pod in result.nodes.node(row).pods}
    came = [pod for pod in now.pods if pod.metadata.uid not in known and pod.metadata.uid != result.pod.metadata.uid]
    if not came:
        return None
    scheduler, _ = scheduler_for(
        replace(dump, objects=tuple(_with_node(dump, now.node, now.pods, result.pod))), configuration
    )
    again = scheduler.cycle(result.pod, scheduler.nodes, result.framework.profile.scheduler_name)
    now_row = again.nodes.row_of.get(name)
    if now_row is None or again.verdict is None:
        return None
    before = {status.reasons for status in result.rejections(row)}
    against = [each for each in again.rejections(now_row) if each.reasons not in before]
    if not against:
        return None
    reasons = ", ".join(reason for each in against for reason in each.reasons)
    others = ", ".join(pod.key for pod in came)
    return f"node {name} is overcommitted ({reasons}): {others} came to it at the same time as pod {result.pod.key}"


def _with_node(dump: Dump, node: Node, pods: Sequence[Pod], pod: Pod) -> tuple[KubernetesObject, ...]:
    """Return the dump's objects with the node and its pods as they are now, without the pod itself."""
    fresh = {each.metadata.uid for each in pods} | {pod.metadata.uid}
    kept = [
        item
        for item in dump.objects
        if not (isinstance(item, Pod) and (item.spec.node_name == node.name or item.metadata.uid in fresh))
        and not (isinstance(item, Node) and item.name == node.name)
    ]
    return (*kept, node, *(each for each in pods if each.metadata.uid != pod.metadata.uid))

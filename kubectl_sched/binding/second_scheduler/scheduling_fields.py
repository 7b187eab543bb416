"""Fields of pods and nodes that can affect scheduling. A change of any other field makes no new snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import request_key

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod


def is_shown(shown: Pod | None, pod: Pod | None) -> bool:
    """Report whether the snapshot has the pod already, as far as any plugin can tell."""
    if shown is None or pod is None:
        return shown is pod
    return shown is pod or _facts(shown) == _facts(pod)


def _facts(pod: Pod) -> tuple[object, ...]:
    """The fields that plugins and preemption read of a pod that has a node."""
    status = pod.status
    return (
        pod.metadata.uid,
        pod.spec,
        pod.metadata.labels,
        pod.metadata.owner_references,
        pod.metadata.deletion_timestamp,
        request_key(pod),
        status.start_time,
        pod.is_resize_deferred,
        tuple((each.status, each.reason) for each in status.conditions if each.type == "DisruptionTarget"),
        status.resource_claim_statuses,
        status.extended_resource_claim_status,
        status.node_allocatable_resource_claim_statuses,
    )


def with_labels(pod: Pod, labels: Labels) -> Pod:
    """The pod with these labels."""
    return structs.replace(pod, metadata=structs.replace(pod.metadata, labels=labels))


def for_scheduling(node: Node) -> Node:
    """The node without what changes all the time and concerns no plugin: the times of its conditions."""
    return structs.replace(
        node,
        metadata=structs.replace(node.metadata, resource_version=""),
        status=structs.replace(node.status, conditions=()),
    )

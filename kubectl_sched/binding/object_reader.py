"""Objects as the server has them now, pods in the form in which the readers of a cluster keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.api_requests import collection_path, pod_path
from kubectl_sched.sources.discovery.scheduler_flags import keep_scheduler_flags
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.list_paths import list_paths

if TYPE_CHECKING:
    from kubectl_sched.binding.writer import JSON, Writer


class Found(NamedTuple):
    """An object, and where it was found: a kind may be served in an older version of its group alone."""

    path: str
    item: JSON


def find(writer: Writer, kind: str, name: str, namespace: str = "") -> Found | None:
    """The object in the newest version that the server has of it; None if there is none."""
    for collection in list_paths(BY_NAME[kind], namespace):
        item = writer.get(f"{collection}/{name}")
        if item is not None:
            return Found(f"{collection}/{name}", item)
    return None


class _Pods(msgspec.Struct, frozen=True):
    items: tuple[Pod, ...] = ()


def read_pod(writer: Writer, pod: Pod) -> Pod | None:
    """Return the pod of this name, even if it is another one by now; None if there is none."""
    found = writer.read(pod_path(pod), Pod)
    if found is not None:
        keep_scheduler_flags(found)
    return found


def read_pods_on(writer: Writer, node: str) -> tuple[Pod, ...]:
    """The pods on the node that have not ended."""
    listed = writer.read(collection_path("Pod"), _Pods, {"fieldSelector": f"spec.nodeName={node}"})
    pods = tuple(pod for pod in (listed.items if listed is not None else ()) if not pod.has_ended)
    for pod in pods:
        keep_scheduler_flags(pod)
    return pods

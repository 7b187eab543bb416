"""Every request that binding a pod may make, made from values alone. docs/bind.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.binding.writer import JSON, MERGE_PATCH, STRATEGIC_MERGE_PATCH, Request
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.list_paths import list_paths

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.reserved_object import Write


def collection_path(kind: str, namespace: str = "") -> str:
    """Return the path of a kind's objects."""
    return list_paths(BY_NAME[kind], namespace)[0]


def object_path(kind: str, name: str, namespace: str = "") -> str:
    """Return the path of one object."""
    return f"{collection_path(kind, namespace)}/{name}"


def pod_path(pod: Pod) -> str:
    """Return the path of a pod."""
    return object_path("Pod", pod.name, pod.namespace)


def bind_pod(pod: Pod, node: str) -> Request:
    """The Binding (plugins/defaultbinder/default_binder.go).

    With the pod's resourceVersion, which kube-scheduler leaves out: the pod is bound as it was judged, or not at all.
    """
    metadata = {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.metadata.uid,
        "resourceVersion": pod.metadata.resource_version,
    }
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"kind": "Node", "name": node},
    }
    return Request(method="POST", path=f"{pod_path(pod)}/binding", body=body)


def patch_pod_status(pod: Pod, status: JSON) -> Request:
    """A change of the pod's status, of this very pod and none of its name (util.PatchPodStatus)."""
    body = {"metadata": {"uid": pod.metadata.uid}, "status": status}
    return Request(method="PATCH", path=f"{pod_path(pod)}/status", body=body, content=STRATEGIC_MERGE_PATCH)


def create_event(event: JSON) -> Request:
    """An event of events.k8s.io/v1."""
    return Request(
        method="POST", path=f"/apis/events.k8s.io/v1/namespaces/{event['metadata']['namespace']}/events", body=event
    )


def patch_event(event: JSON, series: JSON) -> Request:
    """The event has happened again."""
    metadata = event["metadata"]
    path = f"/apis/events.k8s.io/v1/namespaces/{metadata['namespace']}/events/{metadata['name']}"
    return Request(method="PATCH", path=path, body={"series": series}, content=MERGE_PATCH)


def pre_bind(write: Write, path: str = "", uid: str = "", resource_version: str = "") -> Request:
    """A write that Reserve has prepared, to be carried out only on the object as it was at that resourceVersion.

    `path` is where the object was found, if it has been looked for.
    """
    if write.verb == "create":
        collection = collection_path(write.kind, write.namespace)
        return Request(method="POST", path=collection, body=write.body, repeatable=False)
    path = path or object_path(write.kind, write.name, write.namespace)
    known = {"uid": uid, "resourceVersion": resource_version}
    metadata = {key: value for key, value in known.items() if value}
    pinned = {"metadata": {**write.body.get("metadata", {}), **metadata}} if metadata else {}
    target = f"{path}/{write.subresource}" if write.subresource else path
    return Request(method="PATCH", path=target, body={**write.body, **pinned}, content=MERGE_PATCH)


def delete(kind: str, name: str, namespace: str, uid: str) -> Request:
    """The end of an object of ours."""
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
    return Request(method="DELETE", path=object_path(kind, name, namespace), body=body)

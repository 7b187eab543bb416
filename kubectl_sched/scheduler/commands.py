"""Commands that can be pasted into a shell: whatever a cluster calls its objects, they stay one word each."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

_PATCHED_IN_PLACE = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"})

_LEAVES_PENDING_PODS = frozenset({"StatefulSet", "ReplicaSet", "ReplicationController"})
"""These do not replace a pod that never became ready, whatever becomes of their template."""


def change_spec(pod: Pod, spec: dict[str, Any]) -> str:
    """Changes the pod's spec by a strategic merge patch, in whatever made the pod.

    A bare pod is replaced by a changed copy, since hardly any field of a pod can be changed in place.
    """
    kind, name = _owner(pod)
    namespace = shlex.quote(pod.metadata.namespace)
    if kind is None:
        patch = _json({"spec": spec})
        return (
            f"kubectl get pod {shlex.quote(name)} -n {namespace} -o json"
            f" | kubectl patch --local -f - -p {patch} -o json | kubectl replace --force -f -"
        )
    if kind not in _PATCHED_IN_PLACE:
        return f"# in what {kind} {name} makes its pods of: {json.dumps({'spec': spec}, separators=(',', ':'))}"
    patch = _json({"spec": {"template": {"spec": spec}}})
    command = f"kubectl patch {kind.lower()} {shlex.quote(name)} -n {namespace} -p {patch}"
    if kind in _LEAVES_PENDING_PODS:
        command += f" && kubectl delete pod {shlex.quote(pod.metadata.name)} -n {namespace}"
    return command


def _owner(pod: Pod) -> tuple[str | None, str]:
    """Kind and name of what made the pod; a ReplicaSet's Deployment where the pod's labels tell it."""
    owner = pod.metadata.controller
    if owner is None:
        return None, pod.metadata.name
    template = pod.metadata.labels.get("pod-template-hash")
    if owner.kind == "ReplicaSet" and template and owner.name.endswith(f"-{template}"):
        return "Deployment", owner.name.removesuffix(f"-{template}")
    return owner.kind, owner.name


def _json(value: dict[str, Any]) -> str:
    return shlex.quote(json.dumps(value, separators=(",", ":")))


def uncordon(node_name: str) -> str:
    """Lets pods on the node again."""
    return f"kubectl uncordon {shlex.quote(node_name)}"


def label(node_name: str, key: str, value: str) -> str:
    """Gives the node a label that it does not have yet."""
    return f"kubectl label node {shlex.quote(node_name)} {shlex.quote(f'{key}={value}')}"

"""The workload that made a pod, as its owner knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.validation import subdomain_errors
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

_KIND = pattern("[A-Z][A-Za-z0-9]{0,62}")


def workload_of(pod: Pod) -> tuple[str | None, str]:
    """Return kind and name of what made the pod; a ReplicaSet's Deployment where the pod's labels tell it."""
    owner = pod.metadata.controller
    if owner is None:
        return None, pod.metadata.name
    template = pod.metadata.labels.get("pod-template-hash")
    if owner.kind == "ReplicaSet" and template and owner.name.endswith(f"-{template}"):
        return "Deployment", owner.name.removesuffix(f"-{template}")
    return owner.kind, owner.name


def is_of_the_same_workload(pod: Pod, other: Pod) -> bool:
    """Report whether one workload made both; bare pods are of one where all their labels are the same."""
    if pod.namespace != other.namespace:
        return False
    if pod.metadata.controller is None:
        labels = pod.metadata.labels
        return bool(labels) and other.metadata.controller is None and labels == other.metadata.labels
    return workload_of(pod) == workload_of(other)


def maker_in_words(pod: Pod) -> str:
    """Return `Deployment web`; `bare pod` for a pod that nothing makes again."""
    kind, name = workload_of(pod)
    if kind is None:
        return "bare pod"
    return f"{kind} {name}" if _KIND.fullmatch(kind) and not subdomain_errors(name) else "the pod's owner"

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
    """Report whether one workload made both."""
    if pod.namespace != other.namespace or pod.metadata.controller is None:
        return False
    return workload_of(pod) == workload_of(other)


def is_equal_of(pod: Pod, other: Pod) -> bool:
    """Report whether both serve as one: they are of one workload, or bare pods with the same labels."""
    is_bare = pod.metadata.controller is None and other.metadata.controller is None
    is_alike = bool(pod.metadata.labels) and pod.metadata.labels == other.metadata.labels
    return (is_bare and is_alike and pod.namespace == other.namespace) or is_of_the_same_workload(pod, other)


def maker_in_words(pod: Pod) -> str:
    """Return `Deployment web`; `bare pod` for a pod that nothing makes again."""
    kind, name = workload_of(pod)
    if kind is None:
        return "bare pod"
    return f"{kind} {name}" if _KIND.fullmatch(kind) and not subdomain_errors(name) else "the pod's owner"

"""Admission by namespace: its existence, and the annotations that PodNodeSelector and PodTolerationRestriction read.

Answers to plugin/pkg/admission/podnodeselector and podtolerationrestriction, and to the server's own namespace
lifecycle. The two plugins are off by default; that they are on
is known from the command line of a kube-apiserver that runs as a pod. What their configuration files say is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.sources.discovery.scheduler_flags import admission_plugins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump

POD_NODE_SELECTOR = "PodNodeSelector"
POD_TOLERATION_RESTRICTION = "PodTolerationRestriction"
_ALWAYS_THERE = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
_UNDER_PRESSURE = Toleration(key="node.kubernetes.io/memory-pressure", operator="Exists", effect="NoSchedule")


def plugins_on(objects: Iterable[KubernetesObject]) -> frozenset[str] | None:
    """The admission plugins that the kube-apiservers turn on beyond the default; None if none of them is seen."""
    found = [
        plugins
        for item in objects
        if isinstance(item, Pod)
        for container in item.spec.containers
        if (plugins := admission_plugins(container)) is not None
    ]
    return frozenset.union(*found) if found else None


def unknown_notes(objects: Sequence[KubernetesObject], namespaces: Iterable[str]) -> Iterator[str]:
    """Sentences for annotations of these namespaces that count only where it is not known whether they do."""
    asked = set(namespaces)
    for item in objects:
        if isinstance(item, Namespace) and item.name in asked:
            told = item.metadata.annotations
            if told.namespace_node_selector or told.default_tolerations or told.tolerations_whitelist:
                yield (
                    f"namespace {item.name} has annotations for the node selector or tolerations of its pods: they are "
                    "not applied, as no kube-apiserver is seen that has these admission plugins on"
                )


def check_namespaces(items: Iterable[KubernetesObject], objects: Iterable[KubernetesObject], dump: Dump) -> None:
    """Raises RefusedError for an item whose namespace is in neither the cluster nor the manifests, both in `objects`.

    A dump without Namespaces says nothing of them; one that holds only some has others by what is in them.
    """
    if "Namespace" not in dump.present:
        return
    asked = [item for item in items if item.namespace not in _ALWAYS_THERE]
    known = {item.name for item in objects if isinstance(item, Namespace)} if asked else set()
    for item in asked:
        if item.namespace not in known and all(each.namespace != item.namespace for each in dump.objects):
            raise RefusedError(item, "", f'namespaces "{item.namespace}" not found')


def with_namespace_selector(pod: Pod, namespace: Namespace) -> Pod:
    """With the namespace's node selector. Raises RefusedError where the pod's own wants another value."""
    wanted = _labels(namespace.metadata.annotations.namespace_node_selector or "")
    own = pod.spec.node_selector or {}
    if any(own.get(key, value) != value for key, value in wanted.items()):
        reason = "pod node label selector conflicts with its namespace node label selector"
        raise RefusedError(pod, "", f"pods is forbidden: {reason}")
    return with_spec(pod, node_selector={**wanted, **own}) if wanted else pod


def with_namespace_tolerations(pod: Pod, namespace: Namespace) -> Pod:
    """With the namespace's default tolerations. Raises RefusedError for one that the namespace does not allow."""
    from kubectl_sched.api.component_helpers.pod_qos import pod_qos
    from kubectl_sched.apiserver.tolerations import merged_tolerations

    more = list(_tolerations(pod, namespace.metadata.annotations.default_tolerations))
    if pod_qos(pod) != "BestEffort":
        more.append(_UNDER_PRESSURE)
    if more:
        pod = with_spec(pod, tolerations=merged_tolerations((*pod.spec.tolerations, *more)))
    check_tolerations(pod, namespace)
    return pod


def check_tolerations(pod: Pod, namespace: Namespace) -> None:
    """Raises RefusedError for a toleration that the namespace does not allow (in Admit, and again in Validate)."""
    from kubectl_sched.apiserver.tolerations import are_allowed

    if not are_allowed(pod.spec.tolerations, _tolerations(pod, namespace.metadata.annotations.tolerations_whitelist)):
        reason = (
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
        )
        raise RefusedError(pod, "", reason)


def _labels(text: str) -> dict[str, str]:
    """`a=b, c=d` (ConvertSelectorToLabelsMap)."""
    pairs = (pair.partition("=") for pair in text.split(",") if pair.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _tolerations(pod: Pod, text: str | None) -> tuple[Toleration, ...]:
    if not text:
        return ()
    try:
        return msgspec.json.decode(text, type=tuple[Toleration, ...])
    except UNDECODABLE:
        raise RefusedError(pod, "", f"namespace {pod.namespace}'s tolerations are no JSON that can be read") from None

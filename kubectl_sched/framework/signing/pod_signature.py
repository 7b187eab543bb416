"""Signatures of pods: pods with equal ones have the same feasibility and scores on the same nodes.

Answers to SignPlugin and signers.go of k8s.io/kube-scheduler/framework, and to SignPod in
pkg/scheduler/framework/runtime/framework.go. Volume sources that nothing here reads are taken as equal.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.interface import Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.affinity import NodeSelectorTerm
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot

    Fragments = Mapping[str, Any]
    """Values by their key; plugins that look at the same fields of a pod write the same key."""

SIGNING_POINTS = ("preFilter", "filter", "preScore", "score")


class SignPlugin(Plugin):
    """Says what of a pod decides its verdicts and scores."""

    @abstractmethod
    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return what decides, comparable by ==; None for a pod that cannot be compared with others."""


class VolumesSigner(SignPlugin):
    """A plugin that looks at the pod's volumes alone."""

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:  # noqa: ARG002 - other plugins look at them
        """Return the sources of all volumes but ConfigMaps and Secrets, sorted."""
        sources = [
            msgspec.json.encode(msgspec.structs.replace(volume, name=""))
            for volume in pod.spec.volumes
            if volume.config_map is None
        ]
        return {"volumes": sorted(source for source in sources if source != _NO_SOURCE)}


_NO_SOURCE = b"{}"


class TolerationsSigner(SignPlugin):
    """A plugin that looks at the pod's tolerations alone."""

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:  # noqa: ARG002 - other plugins look at them
        """Return the tolerations by key and value."""
        return {"tolerations": sorted(pod.spec.tolerations, key=lambda each: (each.key, each.value))}


def host_ports_signature(pod: Pod) -> Fragments:
    """Return the numbers of the host ports, without protocols and addresses."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return {"hostPorts": sorted({port.host_port for each in containers for port in each.ports if port.host_port})}


def node_affinity_signature(pod: Pod) -> Fragments:
    """Return the nodeSelector and the terms of the node affinity, in an order of their own."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    signed = None
    if affinity is not None:
        required = affinity.required.node_selector_terms if affinity.required is not None else ()
        preferred = [(each.weight, *_term(each.preference)) for each in affinity.preferred or ()]
        signed = sorted(map(_term, required)), sorted(preferred)
    return {"nodeAffinity": signed, "nodeSelector": pod.spec.node_selector}


def _term(term: NodeSelectorTerm) -> tuple[Any, Any]:
    return tuple(
        sorted((each.key, each.operator, sorted(each.values)) for each in requirements)
        for requirements in (term.match_expressions, term.match_fields)
    )  # type: ignore[return-value]


class PodSigner:
    """Signs pods for one profile; no pod where opportunistic batching is off, or a plugin cannot sign."""

    def __init__(self, framework: Framework) -> None:
        self._plugins = tuple(_sign_plugins(framework)) if _signs(framework) else ()

    def sign(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return the pod's signature; None if it has none."""
        if not self._plugins:
            return None
        signature: dict[str, Any] = {"schedulerName": scheduler_name_of(pod)}
        for plugin in self._plugins:
            fragments = plugin.sign_pod(pod, nodes)
            if fragments is None:
                return None
            signature.update(fragments)
        return signature


def _signs(framework: Framework) -> bool:
    """Report whether all plugins of the profile can sign; a plugin that is not in-tree is taken as one that cannot."""
    if framework.handle.extenders or not framework.handle.features.enabled("OpportunisticBatching"):
        return False
    if any(point in plugin.possible for plugin in framework.profile.unknown_plugins for point in SIGNING_POINTS):
        return False
    return all(isinstance(plugin, SignPlugin) for plugin in _running(framework))


def _sign_plugins(framework: Framework) -> Iterable[SignPlugin]:
    return [plugin for plugin in dict.fromkeys(_running(framework)) if isinstance(plugin, SignPlugin)]


def _running(framework: Framework) -> Iterable[Plugin]:
    return (
        *framework.pre_filter_plugins,
        *framework.filter_plugins,
        *framework.pre_score_plugins,
        *framework.score_plugins,
    )

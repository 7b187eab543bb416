"""The Kubernetes version of a cluster's scheduler, as the cluster's objects show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.core import Node
from kubectl_sched.config import KubeVersion
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.sources.dump.dump import Dump

_SCHEDULER_IMAGE = pattern(r"(?:^|/)kube-scheduler(?:-\w+)?:(v?\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)(?!\d)")
_VERSION = pattern(r"v?\d{1,9}\.\d{1,9}(?:$|[.+\-\s])")


def detect_version(dump: Dump) -> KubeVersion | None:
    """Return kube-scheduler's version where a pod shows its image, else the server's, else the newest kubelet's minor.

    A kubelet's patch release says nothing about the control plane's.
    """
    schedulers = {version for pod in dump.pods if "kube-scheduler" in pod.metadata.name for version in _versions(pod)}
    if schedulers:
        return max(schedulers)
    server = dump.server_version
    if server is not None and _VERSION.match(server):
        return KubeVersion.parse(server)
    kubelets = {item.status.node_info.kubelet_version for item in dump.others if isinstance(item, Node)}
    return max((KubeVersion.parse(text).of_minor for text in kubelets if _VERSION.match(text)), default=None)


def _versions(pod: Pod) -> list[KubeVersion]:
    images = (_SCHEDULER_IMAGE.search(container.image) for container in pod.spec.containers)
    return [KubeVersion.parse(found[1]) for found in images if found]

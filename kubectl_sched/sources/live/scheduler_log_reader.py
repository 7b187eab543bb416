"""The beginnings of kube-schedulers' logs, where nothing else says how they are configured and logs may be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.sources.discovery.kube_schedulers import find_schedulers, scheduler_container
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.schedulers import SchedulerLog
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.client import Server

_SECONDS = 5.0
"""For one log: the API server asks the node's kubelet for it, which may be away."""

_REPLICAS = 2


def scheduler_logs(dump: Dump, server: Server) -> list[SchedulerLog]:
    """Return what schedulers whose `--config` cannot be read have logged of it."""
    unknown = [found for found in find_schedulers(dump) if "config" in found.flags and not found.configuration.is_known]
    return [log for found in unknown if (log := _of_a_replica(found.pods, server)) is not None]


def _of_a_replica(pods: tuple[Pod, ...], server: Server) -> SchedulerLog | None:
    running = [pod for pod in pods if pod.spec.node_name]
    return next((log for pod in running[:_REPLICAS] if (log := _log(pod, server)) is not None), None)


def _log(pod: Pod, server: Server) -> SchedulerLog | None:
    from kubectl_sched.sources.discovery.scheduler_logs import LOG_BYTES, scheduler_log

    container = scheduler_container(pod)
    name = container.name if container is not None else ""
    query = {"container": name, "limitBytes": str(LOG_BYTES)}
    path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}/log"
    try:
        return scheduler_log(pod.metadata.namespace, pod.metadata.name, server.get(path, query, only_seconds=_SECONDS))
    except ClusterError:
        return None

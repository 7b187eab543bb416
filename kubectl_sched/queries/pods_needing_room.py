"""The pods that `whatif --make-room` makes room for: a pod, a workload's missing ones, a group's waiting ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.namespace_admission import plugins_on
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.controllers.pod_creation import Making
from kubectl_sched.errors import SchedError
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.simulation.existing_workloads import existing_item
from kubectl_sched.simulation.workloads_to_place import PlacedWorkloads, Sizing
from kubectl_sched.snapshot import Objects
from kubectl_sched.sources.pod_selection import POD_WORDS, WORKLOAD_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.config import Configuration
    from kubectl_sched.sources.dump.dump import Dump

_GROUP_WORDS = frozenset({"podgroup", "podgroups", "pg"})


def is_group(target: str) -> bool:
    """Report whether the target is named as a group of pods."""
    return _kind(target) in _GROUP_WORDS


def _kind(target: str) -> str:
    word, slash, _ = target.partition("/")
    return word.lower().split(".")[0] if slash else ""


def targets(
    target: str, namespace: str, replicas: int | None, dump: Dump, configuration: Configuration
) -> tuple[list[Pod], list[KubernetesObject], list[str]]:
    """Return the pods that want room, what comes into being along with them, and notes.

    The target is `pod/NAME`, a workload as `deployment/web`, or `podgroup/NAME`.
    """
    word, name = _kind(target), target.partition("/")[2]
    pods = [item for item in dump.objects if isinstance(item, Pod) and item.namespace == namespace]
    if not word or word in POD_WORDS:
        pod = _one_pod(name or target, pods, namespace)
        group = _group_of(pod)
        alone = [] if group is None else [f"{pod.key} is of a group: --make-room podgroup/{group} asks for all of it"]
        return [_alone(pod)], [], alone
    if word in _GROUP_WORDS:
        members = [
            pod for pod in pods if name in {_group_of(pod), pod.spec.workload_ref and pod.spec.workload_ref.name}
        ]
        waiting = [pod for pod in members if pod.is_pending]
        if not members:
            raise SchedError(f"there is no pod of a group {name} in namespace {namespace}")
        return list(map(_alone, waiting)), [], []
    if word not in WORKLOAD_WORDS:
        raise SchedError(f"--make-room {target}: name pod/NAME, a workload such as deployment/web, or podgroup/NAME")
    plugins = plugins_on(dump.objects) or frozenset()
    admission = Admission(
        objects=Objects(dump.objects),
        enabled=configuration.features.enabled,
        present=dump.present,
        plugins=plugins,
    )
    cluster = Cluster.of(dump.objects, admission.admitted)
    making = Making(admission, cluster.others, charges=True)
    placed = PlacedWorkloads(Sizing(replicas=replicas), admission, cluster, making, now=dump.at, server_checks=False)
    workload = placed.workload(existing_item(target, dump.objects, namespace), from_manifest=False)
    return workload.pods, making.made, [*workload.notes, *making.notes]


def _one_pod(name: str, pods: Sequence[Pod], namespace: str) -> Pod:
    found = next((pod for pod in pods if pod.name == name), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [pod.name for pod in pods], n=3)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise SchedError(f"there is no pod {name} in namespace {namespace}{hint}")
    if found.has_ended:
        raise SchedError(f"pod {found.key} has ended, so it needs no room")
    return found


def _group_of(pod: Pod) -> str | None:
    if pod.spec.scheduling_group is not None:
        return pod.spec.scheduling_group.pod_group_name
    return pod.spec.workload_ref.pod_group if pod.spec.workload_ref is not None else None


def _alone(pod: Pod) -> Pod:
    return with_spec(pod, scheduling_group=None, workload_ref=None)

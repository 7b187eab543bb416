"""Limits a dump to the pods of one namespace or label, with what the cluster itself needs for a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apps import CronJob
from kubectl_sched.api.core import ConfigMap, Event
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.schedulers import Lease, SchedulerLog
from kubectl_sched.api.storage import CSIStorageCapacity
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.discovery.known_schedulers import PRODUCTS
from kubectl_sched.sources.discovery.scheduler_flags import API_SERVER, is_autoscaler, is_karpenter, is_scheduler
from kubectl_sched.sources.pod_selection import WORKLOAD_WORDS, Selection, select

if TYPE_CHECKING:
    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump

_OF_THE_CLUSTER = (ConfigMap, CSIStorageCapacity, Lease, SchedulerLog)
"""The namespaced kinds that show schedulers, autoscalers and storage, which serve all namespaces."""

_TAKES_ROOM = frozenset({"Pod", "ResourceClaim"})
"""The kinds without which nodes seem to have more room, or more devices, than they have."""

_WORKLOADS = frozenset(WORKLOAD_WORDS.values())
_IMAGE_WORDS = tuple(product.image_word for product in PRODUCTS.values() if product.image_word)


def with_chosen_pods(dump: Dump, namespace: str | None, label_selector: str | None) -> Dump:
    """Return the dump with the pods of one namespace (None: of all) whose labels match, and what concerns them.

    Objects without a namespace stay, and so do the pods of schedulers, autoscalers and API servers. Workloads stay if
    their template's labels match, as a workload without its pods would seem to lack them. `pods_of` says so of the
    dump if a pod is left out, or a claim, which may hold devices.

    Raises SchedError if no pod is chosen.
    """
    if namespace is None and label_selector is None:
        return dump
    chosen = {pod.key for pod in select(dump.objects, Selection(namespace=namespace, label_selector=label_selector))}
    words = " with ".join(
        each
        for each in (
            f"namespace {namespace}" if namespace is not None else "all namespaces",
            f"labels {label_selector}" if label_selector is not None else "",
        )
        if each
    )
    if not chosen:
        raise SchedError(f"no pods to save: there are none of {words}")
    left_out = {
        (type(item).__name__, item.key) for item in dump.objects if not _stays(item, namespace, label_selector, chosen)
    }
    kept = [
        item
        for item in dump.objects
        if (type(item).__name__, item.key) not in left_out
        and not (isinstance(item, Event) and (item.about.kind, _subject(item)) in left_out)
    ]
    pods_of = (
        dict.fromkeys((*dump.pods_of, words)) if any(kind in _TAKES_ROOM for kind, _ in left_out) else dump.pods_of
    )
    return replace(dump, objects=tuple(kept), pods_of=tuple(pods_of))


def _stays(item: KubernetesObject, namespace: str | None, label_selector: str | None, chosen: set[str]) -> bool:
    if isinstance(item, Pod):
        return item.key in chosen or any(map(_serves_the_cluster, item.spec.containers))
    if not item.namespace or isinstance(item, _OF_THE_CLUSTER):
        return True
    if namespace is not None and item.namespace != namespace:
        return False
    return label_selector is None or type(item).__name__ not in _WORKLOADS or _matches(item, label_selector)


def _matches(workload: KubernetesObject, label_selector: str) -> bool:
    """Report whether the labels of the pods that the workload makes match."""
    from kubectl_sched.api.apimachinery.selector_text import parse_selector

    job = workload.spec.job_template if isinstance(workload, CronJob) else workload
    template = getattr(getattr(job, "spec", None), "template", None)
    return template is not None and parse_selector(label_selector).matches(template.metadata.labels)


def _subject(event: Event) -> str:
    """Return the key of what the event is about."""
    about = event.about
    return f"{about.namespace or event.namespace}/{about.name}"


def _serves_the_cluster(container: Container) -> bool:
    """Report whether it is a scheduler, an autoscaler or an API server, whose flags and version decide answers."""
    return (
        is_scheduler(container)
        or is_autoscaler(container)
        or is_karpenter(container)
        or container.command[:1] == (API_SERVER,)
        or any(word in container.image for word in _IMAGE_WORDS)
    )

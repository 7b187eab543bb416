"""Pods that a workload should have and the API server never let come into being, as its events tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.pod_lifecycle import Stage
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.sources.pod_selection import workloads_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Event
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection
    from kubectl_sched.sources.pod_surroundings import Surroundings

_SCALED = (ReplicaSet, StatefulSet, ReplicationController)
_QUOTA = pattern(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<asked>.+), used: (?P<used>.+), limited: (?P<limit>.+)"
)
_WEBHOOK = pattern(r'admission webhook "(?P<name>[^"]+)" denied the request:?(?P<why>.*)', re.DOTALL)
_SILENT_WEBHOOK = pattern(
    r'failed calling webhook "(?P<name>[^"]+)": (?:failed to call webhook: )?(?P<why>.*)', re.DOTALL
)


def not_created(selection: Selection, around: Surroundings, nodes: Snapshot) -> Iterator[tuple[ScheduleResult, Stage]]:
    """Yield a result and a stage for each workload named whose newest event says that pods could not be created."""
    for kind, name in workloads_named(selection):
        for owner_kind, namespace, owner in _owners(around.dump.objects, kind, name, selection.namespace):
            events = around.events_of(owner_kind, namespace, owner)
            failed = next((event for event in events if event.reason == "FailedCreate"), None)
            missing = _missing(around.dump, owner_kind, namespace, owner)
            if failed is not None and missing != 0:
                yield _result(failed, (owner_kind, namespace, owner), missing, nodes)


def never_created(namespace: str | None, around: Surroundings) -> Iterator[str]:
    """A sentence for each workload of the namespace (None: of any) that lacks pods, as its newest event says."""
    for item in around.dump.others:
        if not _replicas(item) or namespace not in {None, item.namespace}:
            continue
        kind = type(item).__name__
        events = around.events_of(kind, item.namespace, item.name)
        failed = next((event for event in events if event.reason == "FailedCreate"), None)
        missing = _missing(around.dump, kind, item.namespace, item.name) if failed is not None else None
        if failed is not None and missing:
            yield "; ".join(_evidence(failed, (kind, item.namespace, item.name), missing))


def _owners(
    objects: Sequence[KubernetesObject], kind: str, name: str, namespace: str | None
) -> Iterator[tuple[str, str, str]]:
    """Yield the owners of a workload's pods: a Deployment's ReplicaSets, else the workload itself."""
    if kind != "Deployment":
        namespaces = {item.namespace for item in objects if item.namespace and namespace in {None, item.namespace}}
        yield from ((kind, each, name) for each in sorted(namespaces))
        return
    for item in objects:
        if isinstance(item, ReplicaSet) and namespace in {None, item.namespace}:
            owner = item.metadata.controller
            if owner is not None and (owner.kind, owner.name) == (kind, name):
                yield "ReplicaSet", item.namespace, item.name


def _missing(dump: Dump, kind: str, namespace: str, name: str) -> int | None:
    """Return the number of pods that are missing; None if it is not known."""
    wanted = next((_replicas(item) for item in dump.others if _is(item, kind, namespace, name)), None)
    if wanted is None:
        return None
    there = sum(
        pod.namespace == namespace
        and not pod.has_ended
        and (owner := pod.metadata.controller) is not None
        and (owner.kind, owner.name) == (kind, name)
        for pod in dump.pods
    )
    return max(wanted - there, 0)


def _is(item: KubernetesObject, kind: str, namespace: str, name: str) -> bool:
    return type(item).__name__ == kind and (item.namespace, item.name) == (namespace, name)


def _replicas(item: KubernetesObject) -> int | None:
    """Return the number of wanted pods, None for a kind without one."""
    if not isinstance(item, _SCALED):
        return None
    return 1 if item.spec.replicas is None else item.spec.replicas


def _result(
    event: Event, owner: tuple[str, str, str], missing: int | None, nodes: Snapshot
) -> tuple[ScheduleResult, Stage]:
    _, namespace, name = owner
    evidence = _evidence(event, owner, missing)
    pod = Pod(api_version="v1", metadata=ObjectMeta(name=f"{name}-?", namespace=namespace))
    stage = Stage(name="NotCreated", since=event.first_seen or event.last_seen, evidence=evidence)
    return ScheduleResult(pod=pod, nodes=nodes, outcome=Outcome.ERROR, error=event.text), stage


def _evidence(event: Event, owner: tuple[str, str, str], missing: int | None) -> tuple[str, ...]:
    kind, namespace, name = owner
    how_many = "pods" if missing is None else "1 pod" if missing == 1 else f"{missing} pods"
    return (f"{kind} {namespace}/{name} lacks {how_many}", *_reasons(event.text))


def _reasons(text: str) -> Iterator[str]:
    """The event in plain words where it is about a quota or a webhook, else as it is."""
    quota, webhook, silent = _QUOTA.search(text), _WEBHOOK.search(text), _SILENT_WEBHOOK.search(text)
    if quota is not None:
        used = f"{quota['used']} of {quota['limit']} are used"
        yield f"the ResourceQuota {quota['name']} does not allow it: a pod asks for {quota['asked']}, and {used}"
    elif webhook is not None:
        why = " ".join(webhook["why"].split())
        yield f"the webhook {webhook['name']} refuses it{f': {why}' if why else ''}"
    elif silent is not None:
        yield f"the webhook {silent['name']} cannot be asked: {' '.join(silent['why'].split())}"
    else:
        yield text

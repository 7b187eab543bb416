"""Pods that share a claim whose volume is still to be bound to it wait for that volume, each in its own cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.metrics import Metrics
from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from tests.binding.second_scheduler.test_scheduling_loop import FRAMEWORK, MINE, OPTIONS
from tests.plugins.clusters import node, pod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.framework.reserved_object import Reservation

HOSTNAME = "kubernetes.io/hostname"
SPEC = {"storageClassName": "local", "accessModes": ["ReadWriteOnce"]}


class Recorder:
    """Stands where binding cycles would begin: the node and what is reserved, by pod."""

    may_preempt = False

    def __init__(self) -> None:
        self.begun: dict[str, tuple[str, list[tuple[str, str]]]] = {}

    def bind(self, queued: Any, _: Any, node: str, reservations: Sequence[Reservation], __: float) -> None:
        reserved = [(type(each.item).__name__, each.item.name) for each in reservations]
        self.begun[queued.pod.name] = (node, reserved)


def volume(name: str) -> PersistentVolume:
    here = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [name]}]}
    spec = {**SPEC, "capacity": {"storage": "1Gi"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [here]}}}
    document = {"metadata": {"name": f"on-{name}"}, "spec": spec, "status": {"phase": "Available"}}
    return msgspec.convert(document, PersistentVolume)


def cluster() -> list[KubernetesObject]:
    about = {"name": "c", "namespace": "default", "uid": "uid-c"}
    claim = {"metadata": about, "spec": {**SPEC, "resources": {"requests": {"storage": "1Gi"}}}}
    local = {"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner"}
    return [
        *(node(name, labels={HOSTNAME: name}) for name in ("w1", "w2")),
        *(volume(name) for name in ("w1", "w2")),
        msgspec.convert({**local, "volumeBindingMode": "WaitForFirstConsumer"}, StorageClass),
        msgspec.convert(claim, PersistentVolumeClaim),
    ]


def test_a_second_pod_of_an_unbound_claim_waits_for_the_same_volume() -> None:
    recorder, cache = Recorder(), Cache(OPTIONS)
    for each in cluster():
        cache.change(each, gone=False)
    hints = PluginHints({MINE: FRAMEWORK}, cache.objects)
    queue = SchedulingQueue(FRAMEWORK.queue_sort_plugins[0].queue_key, lambda _: None, hints, Backoff())
    binder: Binder = recorder  # type: ignore[assignment] # the part of it that is called
    attempts = PodAttempts({MINE: FRAMEWORK}, cache, queue, binder, Metrics((MINE,)), DecisionLog(), lambda: 0.0)
    for name in ("a", "b"):
        one = pod(name, schedulerName=MINE, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
        cache.change(one, gone=False)
        queue.add(one, 0.0)
        popped = queue.pop()
        assert popped is not None
        attempts.schedule(popped)  # type: ignore[arg-type] # it is no group
    where, reserved = recorder.begun["a"]
    assert reserved == [("PersistentVolume", f"on-{where}"), ("PersistentVolumeClaim", "c")]
    assert recorder.begun["b"] == recorder.begun["a"]

"""The schedulers that serve a cluster's pods, as far as a dump shows it: by their own pods and by Leases."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import seconds_between
from kubectl_sched.api.schedulers import Lease
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.sources.discovery.known_schedulers import lease_name
from kubectl_sched.sources.discovery.kube_schedulers import FoundScheduler, find_schedulers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.sources.dump.dump import Dump

_UNTOUCHED_SECONDS = 120
_DEFAULT_LEASE = "kube-system/kube-scheduler"


class SeenSchedulers:
    """The schedulers that have pods in a dump, and the signs of those that have none there."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump

    @cached_property
    def found(self) -> tuple[FoundScheduler, ...]:
        """The kube-schedulers whose pods are visible."""
        return find_schedulers(self._dump)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All pods of the dump."""
        return self._dump.pods

    def owner(self, scheduler_name: str) -> FoundScheduler | None:
        """The scheduler that has a profile of the name: one that serves it, else one that would.

        One whose configuration was not read is taken only where no other has the name.
        """
        having = [scheduler for scheduler in self.found if scheduler_name in scheduler.profiles]
        having.sort(key=lambda scheduler: not scheduler.is_known)
        return next((scheduler for scheduler in having if scheduler.serves), having[0] if having else None)

    def may_serve(self, scheduler_name: str) -> list[FoundScheduler]:
        """The schedulers that may have a profile of the name, as their configurations were not read."""
        if self.owner(scheduler_name) is not None:
            return []
        return [scheduler for scheduler in self.found if scheduler.serves and not scheduler.is_known]

    @cached_property
    def lacks_default(self) -> bool:
        """Report whether there is no default scheduler: a visible control plane lacks one, or no pod is looked at."""
        if self._dump.scheduler_configuration is not None:
            return False
        if any(DEFAULT_SCHEDULER_NAME in each.profiles for each in self.found) or self.renewed_lease is not None:
            return False
        return self._sees_control_plane or self._leaves_pods_alone

    @cached_property
    def renewed_lease(self) -> Lease | None:
        """The default scheduler's Lease, if a scheduler whose pods are not seen has renewed it lately."""
        if any(each.lease_key == _DEFAULT_LEASE for each in self.found):
            return None
        return self._renewed(lambda lease: lease.key == _DEFAULT_LEASE)

    def lease_of_unseen(self, scheduler_name: str) -> Lease | None:
        """The Lease that a scheduler whose pods are not seen renews for the name, such as `bind --watch` outside."""
        if scheduler_name == DEFAULT_SCHEDULER_NAME or self._dump.scheduler_configuration is not None:
            return None
        names = {scheduler_name, lease_name(scheduler_name)}
        return self._renewed(lambda lease: lease.name in names)

    def _renewed(self, is_meant: Callable[[Lease], bool]) -> Lease | None:
        """The first of these that somebody has renewed lately."""
        for item in self._dump.others:
            if isinstance(item, Lease) and is_meant(item) and item.spec.holder_identity:
                age = seconds_between(item.spec.renew_time, self._dump.taken_at)
                if age is not None and age < _UNTOUCHED_SECONDS:
                    return item
        return None

    @property
    def _sees_control_plane(self) -> bool:
        return any(
            container.image.rpartition("/")[2].startswith(("kube-apiserver", "kube-controller-manager"))
            for pod in self.pods
            if pod.metadata.namespace == "kube-system"
            for container in pod.spec.containers
        )

    @property
    def _leaves_pods_alone(self) -> bool:
        waiting = [
            pod
            for pod in self.pods
            if not pod.spec.node_name
            and not pod.has_ended
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name in {"", DEFAULT_SCHEDULER_NAME}
        ]
        return bool(waiting) and all(_never_looked_at(pod, self._dump.taken_at) for pod in waiting)

    @cached_property
    def asked_for(self) -> dict[str, tuple[int, int]]:
        """Return `asked_for` of all pods."""
        return asked_for(self.pods)


def asked_for(pods: Iterable[Pod]) -> dict[str, tuple[int, int]]:
    """Count for each schedulerName the pods that have not ended, and those of them that have no node."""
    alive = [pod for pod in pods if not pod.has_ended]
    names = Counter(scheduler_name_of(pod) for pod in alive)
    waiting = (pod for pod in alive if not pod.spec.node_name)
    pending = Counter(scheduler_name_of(pod) for pod in waiting)
    return {name: (names[name], pending[name]) for name in sorted(names)}


def _never_looked_at(pod: Pod, taken_at: str | None) -> bool:
    """Report whether the pod has waited for minutes without the condition that a scheduler's first attempt leaves."""
    if any(condition.type == "PodScheduled" for condition in pod.status.conditions) or not pod.status.qos_class:
        return False  # without the class that the API server gives every pod, it never was in a cluster
    age = seconds_between(pod.metadata.creation_timestamp, taken_at)
    return age is not None and age >= _UNTOUCHED_SECONDS

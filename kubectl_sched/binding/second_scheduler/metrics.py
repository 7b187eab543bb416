"""A handful of metrics under kube-scheduler's names (pkg/scheduler/metrics/metrics.go), as its dashboards know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from kubectl_sched.binding.second_scheduler.queued_pod import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ATTEMPT_SECONDS: Final = tuple(0.001 * 2**exponent for exponent in range(15))
_SLI_SECONDS: Final = tuple(0.01 * 2**exponent for exponent in range(20))
_ATTEMPTS: Final = (1, 2, 4, 8, 16)

SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"


class Metrics:
    """Counts what the scheduling loop tells it. Any thread may read `text`."""

    def __init__(self, profiles: Iterable[str], lease: str = "") -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self._registry = CollectorRegistry()
        self._lease = lease
        labels = ("result", "profile")
        self._pending = Gauge(
            "scheduler_pending_pods", "Pending pods, by the queue that they are in.", ("queue",), registry=registry
        )
        self._attempts = Counter(
            "scheduler_schedule_attempts", "Attempts to schedule pods, by their result.", labels, registry=registry
        )
        self._seconds = Histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "How long an attempt took: the scheduling cycle and the binding.",
            labels,
            registry=registry,
            buckets=_ATTEMPT_SECONDS,
        )
        self._algorithm = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "How long the scheduling cycle took.",
            registry=registry,
            buckets=_ATTEMPT_SECONDS,
        )
        self._sli = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "How long a pod took from the queue to its node, by the number of attempts.",
            ("attempts",),
            registry=registry,
            buckets=_SLI_SECONDS,
        )
        self._needed = Histogram(
            "scheduler_pod_scheduling_attempts",
            "How many attempts a pod needed.",
            registry=registry,
            buckets=_ATTEMPTS,
        )
        self._incoming = Counter(
            "scheduler_queue_incoming_pods", "Pods that came to a queue.", ("queue", "event"), registry=registry
        )
        self._preemptions = Counter("scheduler_preemption_attempts", "Attempts to preempt.", registry=registry)
        self._cache = Gauge("scheduler_cache_size", "What the scheduler's cache holds.", ("type",), registry=registry)
        self._watches = Counter(
            "kubectl_sched_watch_disturbances", "Lists and watches that failed.", ("resource",), registry=registry
        )
        self._leads = Gauge(
            "leader_election_master_status", "Whether this replica leads.", ("name",), registry=registry
        )
        for profile in profiles:
            for result in (SCHEDULED, UNSCHEDULABLE, ERROR):
                self._attempts.labels(result, profile)
        if lease:
            self._leads.labels(lease).set(0)

    def text(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self._registry)

    def attempted(self, result: str, profile: str, seconds: float) -> None:
        """One attempt has come to its end."""
        self._attempts.labels(result, profile).inc()
        self._seconds.labels(result, profile).observe(seconds)

    def decided(self, seconds: float) -> None:
        """One scheduling cycle is over."""
        self._algorithm.observe(seconds)

    def scheduled(self, attempts: int, waited_seconds: float) -> None:
        """A pod has its node."""
        self._sli.labels(str(min(attempts, 15))).observe(waited_seconds)
        self._needed.observe(attempts)

    def preempted(self) -> None:
        """Victims were asked to go."""
        self._preemptions.inc()

    def disturbed(self, resource: str) -> None:
        """A list or a watch failed."""
        self._watches.labels(resource).inc()

    def leads(self, *, leads: bool) -> None:
        """Leadership has come or gone."""
        if self._lease:
            self._leads.labels(self._lease).set(int(leads))

    def show(
        self, pending: Mapping[Place, int], incoming: Mapping[tuple[Place, str], int], cache: Mapping[str, int]
    ) -> None:
        """The present state of the queue and the cache; `incoming` are those since the last time."""
        for place in (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED):
            self._pending.labels(place.value).set(pending[place])
        for (place, event), count in incoming.items():
            self._incoming.labels(place.value, event).inc(count)
        for kind, size in cache.items():
            self._cache.labels(kind).set(size)

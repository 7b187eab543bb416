"""Nodes whose kubelet refuses pods: the scheduler binds them there, and the kubelet refuses one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.core import Event
from kubectl_sched.diagnostics.pod_lifecycle import is_refusal, was_refused
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump

_KUBELET = "kubelet"


class Refusals(Record, frozen=True, kw_only=True):
    """The number of pods that one node's kubelet refused for one reason, and when the first and the last (RFC 3339)."""

    node: str
    reason: str
    pods: int
    since: str | None
    last: str | None

    @property
    def text(self) -> str:
        """The sentence: how many, since when, and for which reason."""
        pods = "1 pod" if self.pods == 1 else f"{self.pods:,} pods"
        since = f" since {self.since}" if self.since and self.pods > 1 else f" at {self.since}" if self.since else ""
        last = f", the last at {self.last}" if self.pods > 1 and self.last and self.last != self.since else ""
        return f"the kubelet of {self.node} refused {pods} after binding{since}{last}: {self.reason}"

    @property
    def clauses(self) -> tuple[str, ...]:
        """The fact in short clauses, the fullest first."""
        pods = "1 pod" if self.pods == 1 else f"{self.pods:,} pods"
        start = f"the kubelet of {self.node} refused {pods}"
        return (f"{start} ({self.reason})", start, f"its kubelet refused {pods}")


def kubelet_refusals(dump: Dump) -> tuple[Refusals, ...]:
    """Return what pods and events tell of, the node that refused most first; each pod counts once."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for node, reason, pod, times in _seen(dump):
        found.setdefault((node, reason), {}).setdefault(pod, []).extend(filter(None, times))
    refusals = (
        Refusals(
            node=node,
            reason=reason,
            pods=len(pods),
            since=min((time for times in pods.values() for time in times), default=None),
            last=max((time for times in pods.values() for time in times), default=None),
        )
        for (node, reason), pods in found.items()
    )
    return tuple(sorted(refusals, key=lambda each: (-each.pods, each.node, each.reason)))


def refused_where_it_lands(refusals: Sequence[Refusals], result: ScheduleResult) -> tuple[Refusals, ...]:
    """Return the refusals by the nodes that the pod may land on."""
    nodes = (result.nominated_first,) if result.nominated_first is not None else result.best
    return tuple(each for each in refusals if each.node in nodes)


def _seen(dump: Dump) -> Iterator[tuple[str, str, str, tuple[str | None, ...]]]:
    """Yield node, reason, pod and times, of a pod that was refused and of each event that says so."""
    for pod in dump.pods:
        if was_refused(pod) and pod.spec.node_name:
            yield pod.spec.node_name, pod.status.reason, pod.key, (pod.status.start_time,)
    for item in dump.others:
        if isinstance(item, Event) and item.component == _KUBELET and is_refusal(item.reason):
            host = item.source.host or item.deprecated_source.host
            about = item.about
            if host and about.kind == "Pod":
                yield host, item.reason, f"{about.namespace}/{about.name}", (item.first_seen, item.last_seen)

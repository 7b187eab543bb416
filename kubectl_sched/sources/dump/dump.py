"""The objects that were read, and what could not be."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import field

from kubectl_sched.api.core import Event, Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.schedulers import Lease
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.meta import KubernetesObject

ESSENTIAL = frozenset({"Node", "Pod"})
"""Kinds without which nothing is replayed."""


class Forbidden(NamedTuple):
    """A kind that the user may not list: in one namespace, or (empty) in all; `message` is the server's own."""

    kind: str
    group: str
    plural: str
    namespace: str = ""
    message: str = ""

    @property
    def rule(self) -> str:
        """The RBAC rule that is missing, as YAML."""
        group = self.group or '""'
        verb = "get" if "/" in self.plural else "list"
        return f"{{apiGroups: [{group}], resources: [{self.plural}], verbs: [{verb}]}}"


class Dump(Record, frozen=True, kw_only=True, dict=True):
    """The objects of a cluster at one moment, each once, in the order in which they were read.

    Namespaced objects without a namespace are in `default`, cluster-scoped ones have none. `warnings` are sentences
    about what was skipped or doubtful; `skipped` has those about one object, by its kind and key. `present` are the
    kinds that were listed, be it with no objects. `scheduler_configuration` is a KubeSchedulerConfiguration that was
    among the objects.

    Of a live cluster: `resource_versions` is the state that each kind was listed in, `server_version` what the API
    server says it is (`v1.36.2`), and `forbidden` what may not be read.
    """

    objects: tuple[KubernetesObject, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: Mapping[tuple[str, str], str] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    scheduler_configuration: Mapping[str, Any] | None = None
    resource_versions: Mapping[str, str] = field(default_factory=dict)
    server_version: str | None = None
    forbidden: tuple[Forbidden, ...] = ()
    is_live: bool = False
    tells_absence: bool = False
    """A kind without a list is known to be missing: a directory, an archive or a snapshot was read."""
    pods_of: tuple[str, ...] = ()
    """The namespaces and labels to which snapshots were limited, in words: pods of others are missing."""

    @property
    def can_replay(self) -> bool:
        """Report whether nodes and pods may be read; else only what was said of the pods can be told."""
        return not ESSENTIAL & {forbidden.kind for forbidden in self.forbidden}

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """The pods among the objects."""
        return tuple([item for item in self.objects if isinstance(item, Pod)])

    @cached_property
    def others(self) -> tuple[KubernetesObject, ...]:
        """The objects that are no pods: mostly few, so that those of a rare kind are found among these."""
        return tuple([item for item in self.objects if not isinstance(item, Pod)])

    @cached_property
    def taken_at(self) -> str | None:
        """The newest time (RFC 3339) at which the cluster wrote anything that was read: the dump is no older."""
        made = [item.metadata.creation_timestamp or "" for item in self.objects]
        of_pods = [
            condition.last_heartbeat_time or condition.last_transition_time or ""
            for pod in self.pods
            for condition in pod.status.conditions
        ]
        written = [time for item in self.others for time in _written(item)]
        return max([max(times, default="") for times in (made, of_pods, written)]) or None

    @property
    def limits(self) -> tuple[str, ...]:
        """The warnings that pods are left out, which change answers."""
        return tuple(map(about_limit, self.pods_of))

    @property
    def at(self) -> str | None:
        """The moment that the state is of (RFC 3339), from which ages are counted; None if nothing tells it."""
        return datetime.now(UTC).isoformat(timespec="seconds") if self.is_live else self.taken_at


def about_limit(pods: str) -> str:
    """Say that a snapshot was limited to these pods."""
    return (
        f"the snapshot has pods of {pods} only, so nodes may be fuller than they seem (all: `kubectl sched snapshot` "
        "without -n and -l)"
    )


def _written(item: KubernetesObject) -> Iterator[str]:
    """Yield the times of an object's last changes, empty where it does not say."""
    if isinstance(item, Node):
        for condition in item.status.conditions:
            yield condition.last_heartbeat_time or condition.last_transition_time or ""
    elif isinstance(item, Event):
        yield item.last_seen
    elif isinstance(item, Lease):
        yield item.spec.renew_time or ""

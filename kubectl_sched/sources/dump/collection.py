"""Gathers the objects of a dump: each once, in its namespace, with a warning for everything that is left out."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.core import ConfigMap, Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.schedulers import Lease
from kubectl_sched.sources.budget import Budget
from kubectl_sched.sources.discovery.scheduler_flags import keep_scheduler_flags
from kubectl_sched.sources.dump.dump import Dump, about_limit
from kubectl_sched.sources.kinds import BY_TYPE, serves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.json_lists import SnapshotMetadata
    from kubectl_sched.sources.kinds import Kind


_CONFLICTS_IN_FULL = 3

_CHOSEN = {ConfigMap, Lease}
"""The kinds of which not all objects are kept."""


class _Conflict(NamedTuple):
    name: str
    source: str
    resource_version: str
    strangers: bool


class Collection:
    """Grows while files are read; `dump` is what has come together.

    `passed_over` are the kinds that are not read, `refusals` what servers said where objects were asked for, and
    `budget` is charged for all that is read into it.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._objects: dict[tuple[type[KubernetesObject], str, str], KubernetesObject] = {}
        self._warnings: dict[str, None] = {}
        self._skipped: dict[tuple[str, str], str] = {}
        self._present: set[str] = set()
        self._conflicts: dict[str, _Conflict] = {}
        self._server_version: str | None = None
        self._tells_absence = False
        self._pods_of: dict[str, None] = {}
        self.passed_over: set[str] = set()
        self.refusals: dict[str, None] = {}
        self.scheduler_configuration: dict[str, Any] | None = None

    def warn(self, sentence: str) -> None:
        """Remembers a warning, once."""
        self._warnings.setdefault(sentence)

    def skip(self, kind: str, key: str, problem: str, source: str | None = None) -> None:
        """Remembers an object that cannot be read."""
        sentence = f"{f'{source}: ' if source else ''}{kind} {key} was skipped: {problem}"
        self._skipped[kind, key] = sentence
        self.warn(sentence)

    def listed(self, kind: str) -> None:
        """Remembers that a list of the kind was seen, however short."""
        self._present.add(kind)

    def take_snapshot(self, said: SnapshotMetadata) -> None:
        """Remembers what was known when a snapshot was taken, which is not in its objects."""
        self._present.update(said.present)
        self._warnings.update(dict.fromkeys(said.warnings))
        self._server_version = said.server_version or self._server_version
        self._tells_absence = self._tells_absence or not said.of_mixed_list
        self._pods_of.update(dict.fromkeys(said.pods_of))

    def tell_absence(self) -> None:
        """Remembers that the dump has a file or a list for each kind that was there: it is no list of mixed kinds."""
        self._tells_absence = True

    def add(self, objects: Iterable[KubernetesObject], source: str) -> None:
        """Takes the objects in; those of foreign API groups are passed over."""
        kind: Kind | None = None
        api_version, is_served, is_chosen = "", False, False
        for item in objects:
            keep_scheduler_flags(item)
            if kind is None or type(item) is not kind.type or item.api_version != api_version:
                kind, api_version = BY_TYPE[type(item)], item.api_version
                is_served = serves(kind, api_version)
                is_chosen = kind.type in _CHOSEN
            if not is_served or (is_chosen and not _is_wanted(item)):
                continue
            metadata = item.metadata
            if not metadata.name:
                self.warn(f"{source}: a {kind.name} without a name was skipped")
                continue
            if kind.namespaced and not metadata.namespace:
                metadata = replace(metadata, namespace="default")
            elif metadata.namespace and not kind.namespaced:
                metadata = replace(metadata, namespace="")
            its = item if metadata is item.metadata else replace(item, metadata=metadata)
            earlier = self._objects.setdefault((kind.type, metadata.namespace, metadata.name), its)
            if earlier is not its:
                self._take_newer(earlier, its, source)

    def _take_newer(self, earlier: KubernetesObject, later: KubernetesObject, source: str) -> None:
        """Take an object that is read again once; of two that differ the one with the newer resourceVersion."""
        if earlier == later or _same_revision(earlier, later):
            return
        newest = later if _revision(later) > _revision(earlier) else earlier
        self._objects[type(later), later.namespace, later.name] = newest
        name = f"{type(later).__name__} {later.key}"
        strangers = bool(earlier.metadata.uid and later.metadata.uid and earlier.metadata.uid != later.metadata.uid)
        strangers = strangers or (name in self._conflicts and self._conflicts[name].strangers)
        self._conflicts[name] = _Conflict(name, source, newest.metadata.resource_version, strangers)

    def _about_conflicts(self) -> Iterator[str]:
        conflicts = list(self._conflicts.values())
        for conflict in conflicts[:_CONFLICTS_IN_FULL]:
            yield (
                f"{conflict.source}: {conflict.name} is there more than once and differs; "
                f"the one of resourceVersion {conflict.resource_version or 'unset'} was taken"
            )
        rest = len(conflicts) - _CONFLICTS_IN_FULL
        if rest > 0:
            yield f"{rest} more objects are there more than once and differ; the newest resourceVersions were taken"
        if any(conflict.strangers and conflict.name == "Namespace kube-system" for conflict in conflicts):
            yield "these are dumps of different clusters, as the uids of kube-system say; read one cluster at a time"

    def _about_absent_nodes(self) -> Iterator[str]:
        """Like kube-scheduler's cache, the replay passes over pods whose node is not there."""
        nodes = {name for kind, _, name in self._objects if kind is Node}
        lost = [
            item
            for item in self._objects.values()
            if type(item) is Pod and item.spec.node_name not in nodes and item.spec.node_name and not item.has_ended
        ]
        if nodes and lost:
            example = f"Pod {lost[0].key} to {lost[0].spec.node_name}"
            if len(lost) == 1:
                yield f"1 pod is bound to a node that is not in the dump and does not count: {example}"
                return
            yield f"{len(lost):,} pods are bound to nodes that are not in the dump and do not count, such as {example}"

    @property
    def objects(self) -> Iterable[KubernetesObject]:
        """The objects so far, in the order in which they came."""
        return self._objects.values()

    @property
    def dump(self) -> Dump:
        """All that was read so far."""
        present = self._present | {kind.__name__ for kind in set(map(itemgetter(0), self._objects))}
        limits = map(about_limit, self._pods_of)
        warnings = (*limits, *self._warnings, *self._about_conflicts(), *self._about_absent_nodes())
        return Dump(
            objects=tuple(self._objects.values()),
            warnings=tuple(dict.fromkeys(warnings)),
            skipped=self._skipped,
            present=frozenset(present),
            scheduler_configuration=self.scheduler_configuration,
            server_version=self._server_version,
            tells_absence=self._tells_absence,
            pods_of=tuple(self._pods_of),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences so far."""
        return tuple(self._warnings)

    def __contains__(self, item: KubernetesObject) -> bool:
        """Report whether an object of its kind, namespace and name was taken in."""
        return (type(item), item.namespace, item.name) in self._objects

    def __bool__(self) -> bool:
        """Report whether there is anything of a cluster in it."""
        return bool(self._objects or self._present)


def _is_wanted(item: KubernetesObject) -> bool:
    """Of the ConfigMaps only schedulers' configurations and cluster-autoscaler's status are kept.

    Others may hold what is nobody's business. Of the Leases all but those by which nodes say that they are alive.
    """
    if isinstance(item, Lease):
        return item.metadata.namespace != "kube-node-lease"
    if not isinstance(item, ConfigMap):
        return True
    return bool(item.autoscaler_status) or any("kubescheduler.config.k8s.io" in text for text in item.data.values())


def _same_revision(one: KubernetesObject, other: KubernetesObject) -> bool:
    """Report whether both are one version of one object, and differ only in what their layouts leave out."""
    return (
        bool(one.metadata.resource_version)
        and one.metadata.resource_version == other.metadata.resource_version
        and one.metadata.uid == other.metadata.uid
    )


def _revision(item: KubernetesObject) -> int:
    version = item.metadata.resource_version
    return int(version) if version.isascii() and version.isdecimal() and len(version) < 20 else -1

"""The cluster as the watches show it, with what our own decisions have changed (pkg/scheduler/backend/cache).

The scheduling loop is its only caller. A pod that got its node is assumed there until the watch shows it there, it is
deleted, or its binding fails. No assumption ends by time alone, since a watch may be late by any time.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.core import Node
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.second_scheduler.reservations import Reservations
from kubectl_sched.binding.second_scheduler.scheduling_fields import for_scheduling, is_shown, with_labels
from kubectl_sched.snapshot import build

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.pre_bind import Written
    from kubectl_sched.snapshot import Snapshot

_REMOVED_ONE_BY_ONE: Final = 8


class Delta(NamedTuple):
    """One object before and after; None if it was not there yet, or is no more."""

    old: KubernetesObject | None
    new: KubernetesObject | None


class Drift:
    """The changes of the snapshot since somebody last asked for them."""

    def __init__(self) -> None:
        self.added: list[tuple[Pod, int]] = []
        """Pods that have come to a node, each with its row."""
        self.relabelled: set[str] = set()
        """Keys of the labels that have changed on pods that were on nodes before."""
        self.is_more = False
        """Report whether anything else has changed, but for the annotations of pods on nodes."""


class Cache:
    """Objects by kind and key, the assumptions over them, and a snapshot of both that is brought up to date."""

    def __init__(self, options: PodResourcesOptions, *, sidecar_ports_count: bool = True) -> None:
        self._build = partial(build, options=options, sidecar_ports_count=sidecar_ports_count)
        self._stored: dict[type[KubernetesObject], dict[str, KubernetesObject]] = defaultdict(dict)
        self._assumed: dict[str, Pod] = {}
        """Pods as they will be on their nodes."""
        self._reservations = Reservations(self._stored)
        self._snapshot, _ = self._build(())
        self._empty = self._snapshot
        self._pending: dict[str, Pod] = {}
        self._pending_members: dict[str, Pod] = {}
        """The pending pods that name a group."""
        self._shown_pending: tuple[Pod, ...] | None = ()
        """Pending pods as the latest snapshot has them; None if they have changed since."""
        self._grouped: dict[str, dict[str, dict[str, None]]] = defaultdict(dict)
        """Keys of the pods that name a group, by namespace and group."""
        self._groups_alone: dict[tuple[str, str | None], Snapshot] = {}
        self._placed: set[str] = set()
        """Keys of the pods that have a node or are assumed to."""
        self._shown: dict[str, Pod] = {}
        """The pods on nodes as they are in the snapshot."""
        self._stale_pods: set[str] = set()
        self._stale_kinds: set[type[KubernetesObject]] = set()
        """Kinds of which the watch has shown something new; see `_reservations.changed` for the other kinds."""
        self._nodes_changed = True
        self._drift = Drift()
        self.left_out: tuple[str, ...] = ()
        """A sentence for each object that cannot be counted."""

    # What the watches tell

    def replace(self, kind: type[KubernetesObject], objects: Iterable[KubernetesObject]) -> list[Delta]:
        """Replace all known objects of the kind; return what has changed."""
        present = {item.key: item for item in objects}
        gone = [item for key, item in self._stored[kind].items() if key not in present]
        deltas = [delta for item in gone if (delta := self.change(item, gone=True))]
        return deltas + [delta for item in present.values() if (delta := self.change(item, gone=False))]

    def change(self, item: KubernetesObject, *, gone: bool) -> Delta | None:
        """Take in one object that was added, changed or deleted; None if that is nothing new."""
        stored = self._stored[type(item)]
        old = stored.get(item.key)
        if gone and old is None:
            return None
        if gone:
            del stored[item.key]
        elif old is not None and old.metadata.resource_version == item.metadata.resource_version != "":
            return None
        else:
            stored[item.key] = item
        self._outdate(old, None if gone else item)
        return Delta(old, None if gone else item)

    def _outdate(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        item = new if new is not None else old
        assert item is not None  # noqa: S101 - one of them is there
        if isinstance(item, Pod):
            self._pod_changed(item.key, old, new)
        elif isinstance(item, Node):
            self._node_changed(old, new)
        else:
            self._stale_kinds.add(type(item))
            self._reservations.shown(item)

    def _pod_changed(self, key: str, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        self._stale_pods.add(key)
        self._group(old, new)
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._reservations.settle(old.metadata.uid)
        assumed = self._assumed.get(key)
        if assumed is not None:
            same = isinstance(new, Pod) and new.metadata.uid == assumed.metadata.uid
            if not same or (isinstance(new, Pod) and new.spec.node_name):
                del self._assumed[key]
        self._sort_out(key)

    def _group(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        for pod in (old, new):
            name = _group_name(pod) if isinstance(pod, Pod) else None
            if pod is None or name is None:
                continue
            groups = self._grouped[pod.metadata.namespace]
            if pod is new:
                groups.setdefault(name, {})[pod.key] = None
            elif name in groups:
                groups[name].pop(pod.key, None)
                if not groups[name]:
                    del groups[name]

    def _sort_out(self, key: str) -> None:
        """Among the pending pods are those that neither have a node nor are assumed to."""
        self._groups_alone.clear()
        if self._effective(key) is not None:
            self._placed.add(key)
        else:
            self._placed.discard(key)
        stored = self._stored[Pod].get(key)
        waits = isinstance(stored, Pod) and not stored.spec.node_name and key not in self._assumed
        pending = stored if isinstance(stored, Pod) and waits else None
        _put(self._pending, key, pending)
        member = pending if pending is not None and _group_name(pending) is not None else None
        if self._pending_members.get(key) is not member:
            _put(self._pending_members, key, member)
            self._shown_pending = None

    def _node_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        """Another allocatable may be one that cannot be read, so only `build` may take it in."""
        row = self._snapshot.row_of.get(new.name) if new is not None else None
        if (
            isinstance(old, Node)
            and isinstance(new, Node)
            and row is not None
            and not self._nodes_changed
            and old.status.allocatable == new.status.allocatable
        ):
            if for_scheduling(old) != for_scheduling(new):
                self._snapshot = self._snapshot.with_node(row, new)
                self._drift.is_more = True
            return
        self._nodes_changed = True

    # What we have decided

    def assume(self, pod: Pod, node: str, objects: Sequence[KubernetesObject] = ()) -> None:
        """Take the pod for bound to the node, and the objects for what its Reserve makes of them."""
        self._assumed[pod.key] = with_spec(pod, node_name=node)
        self._stale_pods.add(pod.key)
        self._sort_out(pod.key)
        self._reservations.reserve(pod.metadata.uid, objects)

    def bound(self, pod: Pod, versions: Mapping[Written, str]) -> None:
        """The binding has been written, with other objects, to these versions, which the watch may have shown."""
        self._reservations.written(pod.metadata.uid, versions)

    def forget(self, pod: Pod) -> None:
        """The binding came to nothing, and so did what was reserved; another pod of the same name is left alone."""
        assumed = self._assumed.get(pod.key)
        if assumed is not None and assumed.metadata.uid == pod.metadata.uid:
            del self._assumed[pod.key]
            self._stale_pods.add(pod.key)
            self._sort_out(pod.key)
        self._reservations.end(pod.metadata.uid)

    # What is asked

    def is_assumed(self, key: str) -> bool:
        """Report whether we hold the pod for bound although the watch does not show it so yet."""
        return key in self._assumed

    def pods(self) -> Iterable[Pod]:
        """All pods that the watch has shown."""
        return (item for item in self._stored[Pod].values() if isinstance(item, Pod))

    def waiting_members(self, pod: Pod) -> list[Pod]:
        """The pods of the pod's group that have no node, nor are assumed to have one."""
        return [self._pending[key] for key in self._keys_of_group(pod) if key in self._pending]

    def members(self, pod: Pod) -> int:
        """Count the pods of the pod's group."""
        return len(self._keys_of_group(pod))

    def placed_members(self, pod: Pod) -> int:
        """Count those of them that have a node or are assumed to have one."""
        return sum(key in self._placed for key in self._keys_of_group(pod))

    def groups_alone(self, pod: Pod, *, all_groups: bool) -> Snapshot:
        """The latest objects, and the pods of the pod's group or of all groups in its namespace, without any node."""
        objects = self.objects().objects
        of = pod.namespace, None if all_groups else _group_name(pod)
        known = self._groups_alone.get(of)
        if known is not None and known.objects is objects:
            return known
        keys = self._keys_of_group(pod)
        if all_groups:
            keys = [key for group in self._grouped[pod.namespace].values() for key in group]
        found = [(key, self._effective(key)) for key in keys]
        self._groups_alone[of] = replace(
            self._empty,
            objects=objects,
            pending=tuple(self._pending[key] for key, on_node in found if on_node is None and key in self._pending),
            stranded=tuple(on_node for _, on_node in found if on_node is not None),
        )
        return self._groups_alone[of]

    def _keys_of_group(self, pod: Pod) -> Collection[str]:
        name = _group_name(pod)
        return self._grouped[pod.namespace].get(name, ()) if name is not None else ()

    @property
    def sizes(self) -> Mapping[str, int]:
        """scheduler_cache_size by its label: nodes, pods on them, and those of them that are only assumed."""
        return {"nodes": len(self._stored[Node]), "pods": len(self._placed), "assumed_pods": len(self._assumed)}

    def snapshot(self, nominated: Mapping[str, tuple[Pod, ...]]) -> Snapshot:
        """Return the cluster with every change delivered so far, and with these nominations.

        Its pending pods are those that name a group: plugins ask for no others, and there may be thousands.
        """
        if self._nodes_changed:
            self._rebuild()
        else:
            self._update_pods()
            self._update_objects()
        if self._shown_pending is None:
            self._shown_pending = tuple(self._pending_members.values())
        return replace(self._snapshot, pending=self._shown_pending, nominated=nominated)

    def drift(self) -> Drift:
        """The changes of the snapshot since this was last asked."""
        drift, self._drift = self._drift, Drift()
        return drift

    def objects(self) -> Snapshot:
        """The latest snapshot, in which objects besides nodes and pods are brought up to date."""
        self._update_objects()
        return self._snapshot

    def _effective(self, key: str) -> Pod | None:
        """The pod as it is on a node, None if it is on none."""
        stored = self._stored[Pod].get(key)
        if isinstance(stored, Pod) and stored.spec.node_name:
            return stored
        return self._assumed.get(key)

    def _rebuild(self) -> None:
        kinds = {**self._stored, **dict.fromkeys(self._reservations.kinds)}.keys() - {Pod, Node}
        pods = [pod for key in {**self._stored[Pod], **self._assumed} if (pod := self._effective(key)) is not None]
        others = [
            item for kind in sorted(kinds, key=lambda kind: kind.__name__) for item in self._reservations.over(kind)
        ]
        self._snapshot, self.left_out = self._build([*self._stored[Node].values(), *pods, *others])
        self._shown = {pod.key: pod for pod in self._snapshot.existing_pods.pods}
        self._stale_pods.clear()
        self._stale_kinds.clear()
        self._reservations.changed.clear()
        self._nodes_changed = False
        self._drift.is_more = True

    def _update_objects(self) -> None:
        for kind in self._stale_kinds | self._reservations.changed:
            objects = self._snapshot.objects.replacing(kind, self._reservations.over(kind))
            self._snapshot = replace(self._snapshot, objects=objects)
            self._drift.is_more = True
        self._stale_kinds.clear()
        self._reservations.changed.clear()

    def _update_pods(self) -> None:
        wanted = {key: self._effective(key) for key in self._stale_pods}
        self._stale_pods.clear()
        changed = [
            key
            for key, pod in wanted.items()
            if not is_shown(self._shown.get(key), pod) and not self._is_relabelled(key, pod)
        ]
        self._take_off([key for key in changed if key in self._shown])
        for key in changed:
            pod = wanted[key]
            row = self._snapshot.row_of.get(pod.spec.node_name) if pod is not None else None
            if pod is None or row is None:
                continue  # a pod on a node that is not there yet is counted once the node comes, which rebuilds
            try:
                self._snapshot = self._snapshot.assume(pod, row)
            except InvalidQuantity as error:
                self.left_out = (*self.left_out, f"pod {key} is left out: {error}")
            else:
                self._shown[key] = pod
                self._drift.added.append((pod, row))

    def _is_relabelled(self, key: str, pod: Pod | None) -> bool:
        """Show a pod of which only labels have changed: each pod gets its node's topology once it is bound."""
        shown = self._shown.get(key)
        if shown is None or pod is None or not is_shown(with_labels(shown, pod.metadata.labels), pod):
            return False
        self._snapshot = self._snapshot.with_pod(pod)
        self._drift.relabelled.update(key for key, _ in shown.metadata.labels.items() ^ pod.metadata.labels.items())
        self._shown[key] = pod
        return True

    def _take_off(self, keys: Sequence[str]) -> None:
        """Remove pods from the snapshot."""
        if not keys:
            return
        self._drift.is_more = True
        existing = self._snapshot.existing_pods
        found = (existing.find(*key.split("/", 1)) for key in keys)
        indices = [index for index in found if index is not None]
        if len(indices) <= _REMOVED_ONE_BY_ONE:
            self._snapshot = self._snapshot.remove(*indices)
        else:
            gone = np.zeros(len(existing), dtype=np.bool_)
            gone[indices] = True
            self._snapshot = self._snapshot.without(gone)
        for key in keys:
            del self._shown[key]


def _group_name(pod: Pod) -> str | None:
    """Name the pod's group in its namespace: a PodGroup, or in 1.35 a part of a Workload, whose name has slashes."""
    named, part = pod.spec.scheduling_group, pod.spec.workload_ref
    if named is not None:
        return named.pod_group_name or ""
    return f"{part.name}/{part.pod_group}/{part.pod_group_replica_key}" if part is not None else None


def _put(pods: dict[str, Pod], key: str, pod: Pod | None) -> None:
    """Set the pod under the key, or remove what is there."""
    if pod is None:
        pods.pop(key, None)
    else:
        pods[key] = pod

"""Volumes and devices that are set aside for pods whose binding the watch does not show yet.

Answers to pkg/scheduler/util/assumecache and to the in-flight allocations of the DynamicResources plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.pre_bind import Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.meta import KubernetesObject


class Reservations:
    """Objects as pods have reserved them, over those that the watch shows (`stored`, by kind and key).

    While the binding cycle of its pod is under way a reservation stands, whatever the watch shows; after that until the
    watch shows what was written. Several pods may share an object: the latest to reserve it says how it is found.
    """

    def __init__(self, stored: Mapping[type[KubernetesObject], Mapping[str, KubernetesObject]]) -> None:
        self._stored = stored
        self._reserved: dict[tuple[type[KubernetesObject], str], dict[str, KubernetesObject]] = {}
        """Objects as each pod has reserved them, by the pods' UIDs."""
        self._in_flight: set[str] = set()
        self._versions: dict[str, Mapping[Written, str]] = {}
        """The versions that were written for a pod whose binding cycle has ended well, by its UID."""
        self.changed: set[type[KubernetesObject]] = set()
        """The kinds of which something was reserved or given back; whoever has seen to them clears it."""

    @property
    def kinds(self) -> Iterable[type[KubernetesObject]]:
        """The kinds of which something is reserved."""
        return (kind for kind, _ in self._reserved)

    def over(self, kind: type[KubernetesObject]) -> list[KubernetesObject]:
        """All objects of the kind, as reserved where they are."""
        reserved = {name: [*items.values()][-1] for (each, name), items in self._reserved.items() if each is kind}
        return list({**self._stored.get(kind, {}), **reserved}.values())

    def reserve(self, uid: str, objects: Iterable[KubernetesObject]) -> None:
        """The binding cycle of the pod of that uid begins, and these are its objects."""
        self._in_flight.add(uid)
        for item in objects:
            items = self._reserved.setdefault((type(item), item.key), {})
            items.pop(uid, None)
            items[uid] = item
            self.changed.add(type(item))

    def written(self, uid: str, versions: Mapping[Written, str]) -> None:
        """The binding cycle has ended well, and left its objects in these versions."""
        self._in_flight.discard(uid)
        self._versions[uid] = versions
        self.settle(uid)

    def end(self, uid: str) -> None:
        """The binding cycle has come to nothing."""
        self._in_flight.discard(uid)
        for kind, name in self._of(uid):
            self._end(uid, kind, name)

    def shown(self, item: KubernetesObject) -> None:
        """The watch has shown something new of the object."""
        for uid in [*self._reserved.get((type(item), item.key), ())]:
            self.settle(uid)
        for owner in item.metadata.owner_references:
            self.settle(owner.uid)

    def settle(self, uid: str) -> None:
        """End the pod's reservations that the watch has caught up with.

        That is where it shows what was written last or, of an object that others write, another state than the one
        reserved from; and all of them once the pod is gone.
        """
        if uid in self._in_flight:
            return
        of_pod = self._of(uid)
        gone = bool(of_pod) and all(pod.metadata.uid != uid for pod in self._stored.get(Pod, {}).values())
        for kind, name in of_pod:
            if gone or self._is_shown(uid, self._reserved[kind, name][uid]):
                self._end(uid, kind, name)
        if not self._of(uid):
            self._versions.pop(uid, None)

    def _is_shown(self, uid: str, item: KubernetesObject) -> bool:
        """Report whether the watch shows the item as it was written; if it was made, only the server knew its name."""
        stored = self._stored.get(type(item), {})
        known = stored.get(item.key) or next((each for each in stored.values() if _belongs_to(uid, each)), None)
        if known is None:
            return False
        about = Written(type(item).__name__, known.namespace, known.metadata.name)
        written, shown = self._versions.get(uid, {}).get(about, ""), known.metadata.resource_version
        if written.isdecimal() and shown.isdecimal():
            return int(shown) >= int(written)
        return shown != item.metadata.resource_version

    def _of(self, uid: str) -> list[tuple[type[KubernetesObject], str]]:
        return [each for each, items in self._reserved.items() if uid in items]

    def _end(self, uid: str, kind: type[KubernetesObject], name: str) -> None:
        items = self._reserved[kind, name]
        del items[uid]
        if not items:
            del self._reserved[kind, name]
        self.changed.add(kind)


def _belongs_to(uid: str, item: KubernetesObject) -> bool:
    return any(owner.uid == uid for owner in item.metadata.owner_references)

"""Volumes and devices that are set aside for pods whose binding the watch does not show yet.

Answers to pkg/scheduler/util/assumecache and to the in-flight allocations of the DynamicResources plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.meta import KubernetesObject


class Reservations:
    """Objects as pods have reserved them, over those that the watch shows (`stored`, by kind and key).

    While the binding cycle of its pod is under way a reservation stands, whatever the watch shows.
    """

    def __init__(self, stored: Mapping[type[KubernetesObject], Mapping[str, KubernetesObject]]) -> None:
        self._stored = stored
        self._reserved: dict[tuple[type[KubernetesObject], str], tuple[KubernetesObject, str]] = {}
        self._in_flight: set[str] = set()
        self.changed: set[type[KubernetesObject]] = set()
        """The kinds of which something was reserved or given back; whoever has seen to them clears it."""

    @property
    def kinds(self) -> Iterable[type[KubernetesObject]]:
        """The kinds of which something is reserved."""
        return (kind for kind, _ in self._reserved)

    def over(self, kind: type[KubernetesObject]) -> list[KubernetesObject]:
        """All objects of the kind, as reserved where they are."""
        reserved = {name: item for (each, name), (item, _) in self._reserved.items() if each is kind}
        return list({**self._stored.get(kind, {}), **reserved}.values())

    def reserve(self, uid: str, objects: Iterable[KubernetesObject]) -> None:
        """The binding cycle of the pod of that uid begins, and these are its objects."""
        self._in_flight.add(uid)
        for item in objects:
            self._reserved[type(item), item.key] = (item, uid)
            self.changed.add(type(item))

    def written(self, uid: str) -> None:
        """The binding cycle has ended well."""
        self._in_flight.discard(uid)
        self.settle(uid)

    def end(self, uid: str) -> None:
        """The binding cycle has come to nothing."""
        self._in_flight.discard(uid)
        for kind, name in self._of(uid):
            self._end(kind, name)

    def shown(self, item: KubernetesObject) -> None:
        """The watch has shown something new of the object."""
        reserved = self._reserved.get((type(item), item.key))
        if reserved is not None:
            self.settle(reserved[1])
        for owner in item.metadata.owner_references:
            self.settle(owner.uid)

    def settle(self, uid: str) -> None:
        """End the pod's reservations that the watch has caught up with.

        That is where it shows another state than the one reserved from, or, of an object that was made for the pod and
        whose name only the server knew, one that belongs to the pod; and all of them once the pod is gone.
        """
        of_pod = () if uid in self._in_flight else self._of(uid)
        gone = bool(of_pod) and all(pod.metadata.uid != uid for pod in self._stored.get(Pod, {}).values())
        for kind, name in of_pod:
            item, _ = self._reserved[kind, name]
            stored = self._stored.get(kind, {})
            known = stored.get(name)
            changed = known is not None and known.metadata.resource_version != item.metadata.resource_version
            made = known is None and any(_belongs_to(uid, each) for each in stored.values())
            if gone or changed or made:
                self._end(kind, name)

    def _of(self, uid: str) -> list[tuple[type[KubernetesObject], str]]:
        return [each for each, (_, owner) in self._reserved.items() if owner == uid]

    def _end(self, kind: type[KubernetesObject], name: str) -> None:
        del self._reserved[kind, name]
        self.changed.add(kind)


def _belongs_to(uid: str, item: KubernetesObject) -> bool:
    return any(owner.uid == uid for owner in item.metadata.owner_references)

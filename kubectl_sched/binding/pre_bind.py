"""PreBind: what Reserve set aside is written, volumes and claims first, the pod's status last.

Answers to bindAPIUpdate (plugins/volumebinding/binder.go) and bindClaim (plugins/dynamicresources/dynamicresources.go).
An object is read right before it is changed. If it is no longer what the cycle saw, nothing is written and the cycle
has to be run again. If it has the change already, perhaps by an earlier attempt that was killed, it is kept.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.decoders import decoder
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.binding.api_requests import collection_path, pre_bind
from kubectl_sched.binding.object_reader import find
from kubectl_sched.dynamic_resource_allocation.device_configs import device_configs
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.reserved_object import Write, renamed
from kubectl_sched.sources.live.live_errors import LostResponseError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.cancellable_binding import PodInPreBind
    from kubectl_sched.binding.writer import JSON, Writer
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.scheduler.cycle_result import CycleResult

_TRIES = 5
_PLUGIN_OF = {
    "PersistentVolume": "VolumeBinding",
    "PersistentVolumeClaim": "VolumeBinding",
    "ResourceClaim": "DynamicResources",
    "Pod": "DynamicResources",
}
"""The plugin whose PreBind writes to a kind."""


class PreBindError(SchedError):
    """PreBind fails; the text is what follows `running PreBind plugin "...": `."""

    exit_code = 3

    def __init__(self, plugin: str, text: str) -> None:
        super().__init__(text)
        self.plugin = plugin


class ChangedError(SchedError):
    """An object is no longer what the cycle saw of it."""

    exit_code = 1


class InterruptedByUserError(SchedError):
    """The binding cycle was told to stop."""

    exit_code = 3


class Written(NamedTuple):
    """The name of an object that PreBind writes."""

    kind: str
    namespace: str
    name: str


class Done(NamedTuple):
    """A write that was carried out: how, on which object, and the patch that takes it back (None: it was made new)."""

    write: Write
    uid: str
    undoing: JSON | None


class PreBind:
    """The PreBind of one pod on one node. `done` grows with each write."""

    def __init__(self, writer: Writer, result: CycleResult, stop: PodInPreBind) -> None:
        self._writer = writer
        self._result = result
        self._stop = stop
        self._names: dict[str, str] = {}
        self._made_dry: set[str] = set()
        self.done: list[Done] = []
        self.versions: dict[Written, str] = {}
        """The resourceVersion of each object after its last write, or as it was found if it needed none."""

    @property
    def pod_version(self) -> str | None:
        """The pod's resourceVersion, where its status had to tell something; None elsewhere."""
        pod = self._result.pod
        return self.versions.get(Written("Pod", pod.namespace, pod.name))

    def carry_out(self, reservations: Sequence[Reservation]) -> None:
        """Write everything. Raises PreBindError, ChangedError or InterruptedByUserError; `done` says how far it got."""
        for reservation in reservations:
            writes = reservation.writes
            for assumed, given in self._names.items():
                writes = renamed(writes, assumed, given)
            self._write_all(reservation, writes)

    def as_made(self, claim: ResourceClaim) -> ResourceClaim:
        """The claim under the name that the server gave it."""
        name = self._names.get(claim.name, claim.name)
        return replace(claim, metadata=replace(claim.metadata, name=name))

    def _write_all(self, reservation: Reservation, writes: Sequence[Write]) -> None:
        remaining = list(writes)
        while remaining:
            write = remaining.pop(0)
            if self._stop.is_set():
                raise InterruptedByUserError("interrupted")
            try:
                if write.verb == "create":
                    given = self._create(reservation, write)
                    remaining = list(renamed(remaining, reservation.item.name, given))
                elif write.name not in self._made_dry:
                    self._patch(reservation, write)
            except (ResponseError, LostResponseError) as error:
                said = error.message if isinstance(error, ResponseError) else ""
                raise PreBindError(_PLUGIN_OF[write.kind], said or str(error)) from None

    def _create(self, reservation: Reservation, write: Write) -> str:
        """The name that the server gave; an answer that was lost is looked for."""
        try:
            made = self._writer.send(pre_bind(write))
        except (ResponseError, LostResponseError) as error:
            lost = isinstance(error, LostResponseError) or error.after_lost
            found = self._own_claim(write) if lost else None
            if found is None:
                raise
            made = found
        name, uid = str(made["metadata"]["name"]), str(made["metadata"].get("uid", ""))
        self._note_version(replace(write, name=name), made)
        self._names[reservation.item.name] = name
        self.done.append(Done(replace(write, name=name, body={}), uid, None))
        if self._writer.dry_run:
            self._made_dry.add(name)
        return name

    def _own_claim(self, write: Write) -> JSON | None:
        listed = self._writer.get(collection_path(write.kind, write.namespace)) or {}
        owner = self._result.pod.metadata.uid
        return next(
            (
                claim
                for claim in listed.get("items", ())
                if any(one.get("uid") == owner for one in claim["metadata"].get("ownerReferences", ()))
                and claim["metadata"].get("annotations", {}) == write.body["metadata"]["annotations"]
            ),
            None,
        )

    def _patch(self, reservation: Reservation, write: Write) -> None:
        first: JSON | None = None
        for _ in range(_TRIES):
            found = find(self._writer, write.kind, write.name, write.namespace)
            if found is None:
                raise ChangedError(f"{write.kind} {_key(write)} is gone")
            path, current = found
            body = self._body(reservation, write, current)
            if merged(current, body) == current:
                self._note_version(write, current)
                if first is not None:
                    self._remember(write, first, body, current)
                return
            self._check(reservation, write, current)
            metadata = current["metadata"]
            pinned = write.kind != "Pod"  # whose status has other writers, none of whom touches these fields
            request = pre_bind(
                replace(write, body=body),
                path,
                metadata["uid"],
                metadata["resourceVersion"] if pinned else "",
            )
            try:
                after = self._writer.send(request)
            except (ResponseError, LostResponseError) as error:
                unknown = isinstance(error, LostResponseError) or error.after_lost
                if not unknown and not (isinstance(error, ResponseError) and error.status == HTTPStatus.CONFLICT):
                    raise
                first = first or (current if unknown else None)
                continue
            self._remember(write, first or current, body, after)
            return
        if first is not None:
            # It may have been carried out all the same.
            self.done.append(Done(write, str(first["metadata"]["uid"]), inverse(first, write.body)))
        raise ChangedError(f"{write.kind} {_key(write)} keeps changing")

    def _remember(self, write: Write, before: JSON, body: JSON, after: JSON) -> None:
        metadata = after["metadata"]
        self._note_version(write, after)
        self.done.append(Done(write, str(metadata["uid"]), inverse(before, body)))

    def _note_version(self, write: Write, stored: JSON) -> None:
        """Keep the version that the server has by now; what a dry run makes has none."""
        version = str(stored["metadata"].get("resourceVersion", ""))
        self.versions[Written(write.kind, write.namespace, write.name)] = version

    def _body(self, reservation: Reservation, write: Write, current: JSON) -> JSON:
        """The patch, up to date for a claim: others reserve it too, and its drivers are told what it asks of them."""
        if write.kind != "ResourceClaim" or write.subresource != "status":
            return write.body
        status = dict(write.body["status"])
        own = [one for one in status["reservedFor"] if one["uid"] == status["reservedFor"][-1]["uid"]]
        others = (current.get("status") or {}).get("reservedFor") or []
        status["reservedFor"] = [*(one for one in others if one["uid"] != own[0]["uid"]), *own]
        if reservation.chosen and "allocation" in status:
            status["allocation"] = self._with_configs(reservation, status["allocation"], current)
        return {**write.body, "status": status}

    def _with_configs(self, reservation: Reservation, allocation: JSON, claim: JSON) -> JSON:
        names = dict.fromkeys(one.class_name for one in reservation.chosen)
        classes = {name: found.item for name in names if (found := find(self._writer, "DeviceClass", name))}
        release = self._result.framework.handle.release
        configs = device_configs(claim, classes, reservation.chosen, release.devices)
        if not configs:
            return allocation
        return {**allocation, "devices": {**allocation.get("devices", {}), "config": configs}}

    def _check(self, reservation: Reservation, write: Write, current: JSON) -> None:
        """Raise ChangedError where the object is another one, or is not as the cycle saw it."""
        item = reservation.item
        made_here = write.name in self._names.values()
        metadata = current["metadata"]
        if not made_here and metadata["uid"] != item.metadata.uid:
            raise ChangedError(f"{write.kind} {_key(write)} is another one now")
        if metadata.get("deletionTimestamp"):
            raise ChangedError(f"{write.kind} {_key(write)} is being deleted")
        kind = type(item)
        seen = self._result.nodes.objects.get(kind, item.name, item.namespace) if not made_here else None
        if seen is not None and not _is_as_seen(decoder(kind).decode(msgspec.json.encode(current)), seen):
            raise ChangedError(f"{write.kind} {_key(write)} has changed")


def _is_as_seen(current: KubernetesObject, seen: KubernetesObject) -> bool:
    """Report whether nothing has changed of what the scheduler's choice of the object rests on."""
    if isinstance(current, PersistentVolume) and isinstance(seen, PersistentVolume):
        return current.spec == seen.spec
    if isinstance(current, PersistentVolumeClaim) and isinstance(seen, PersistentVolumeClaim):
        node = current.metadata.annotations.selected_node
        return current.spec == seen.spec and node == seen.metadata.annotations.selected_node
    if isinstance(current, ResourceClaim) and isinstance(seen, ResourceClaim):
        return current.spec == seen.spec and current.status.allocation == seen.status.allocation
    return isinstance(current, Pod) or current == seen


def _key(write: Write) -> str:
    return f"{write.namespace}/{write.name}" if write.namespace else write.name


def merged(value: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The value with the patch applied; neither is changed."""
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), change) if isinstance(change, dict) else change
    return result


def inverse(value: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that makes of the patched value the value again. Law: merged(merged(v, p), inverse(v, p)) == v."""
    undoing: dict[str, Any] = {}
    for key, change in patch.items():
        before: Any = value.get(key)
        nested = isinstance(change, dict) and isinstance(before, dict)
        undoing[key] = inverse(before, change) if nested else before
    return undoing

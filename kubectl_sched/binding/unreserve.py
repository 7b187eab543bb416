"""Takes back the writes of PreBind, the last one first, as far as nobody has built upon it.

kube-scheduler takes back reservations and the claim for extended resources (Unreserve), and leaves volumes and claims
to the next attempt. Whoever binds one pod by hand may not try again, so that these are taken back as well.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.binding.api_requests import delete, pre_bind
from kubectl_sched.binding.object_reader import find
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.reserved_object import Write
from kubectl_sched.plugins.dynamic_resources.reserve import FINALIZER
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.binding.pre_bind import Done
    from kubectl_sched.binding.writer import JSON, Request, Writer

_TRIES = 4


def unreserve(writer: Writer, pod: Pod, done: Sequence[Done]) -> tuple[str, ...]:
    """Take everything back; a sentence for each object that stays as PreBind left it."""
    if writer.dry_run:
        return ()
    left: dict[str, None] = {}
    for each in reversed(done):
        try:
            stays = _undone(writer, pod, each)
        except SchedError as error:
            stays = f"{_named(each)} stays as it was written, since it could not be taken back: {error}"
        if stays is not None:
            left[stays] = None
    return tuple(left)


def removal_of(claim: ResourceClaim) -> tuple[Request, ...]:
    """The requests that delete a claim that was made for a pod's extended resources (deleteClaim)."""
    metadata = claim.metadata
    deletion = delete("ResourceClaim", claim.name, claim.namespace, metadata.uid)
    if FINALIZER not in metadata.finalizers:
        return (deletion,)
    kept = [each for each in metadata.finalizers if each != FINALIZER]
    body = {"metadata": {"finalizers": kept or None}}
    unguarded = Write(verb="patch", kind="ResourceClaim", namespace=claim.namespace, name=claim.name, body=body)
    return pre_bind(unguarded, uid=metadata.uid, resource_version=metadata.resource_version), deletion


def _undone(writer: Writer, pod: Pod, done: Done) -> str | None:
    write = done.write
    if done.undoing is None:
        return _deleted(writer, done)
    for _ in range(_TRIES):
        found = find(writer, write.kind, write.name, write.namespace)
        if found is None or found.item["metadata"]["uid"] != done.uid:
            return None
        path, current = found
        stays, body = _undoing(current, pod, done)
        if body is None:
            return stays
        version = "" if write.kind == "Pod" else current["metadata"]["resourceVersion"]
        undoing = replace(write, verb="patch", body=body)
        try:
            writer.send(pre_bind(undoing, path, done.uid, version))
        except ResponseError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            if error.status != HTTPStatus.CONFLICT:
                raise
        else:
            return None
    return f"{_named(done)} stays as it was written, as others keep changing it"


def _undoing(current: JSON, pod: Pod, done: Done) -> tuple[str | None, JSON | None]:
    """Return the patch that takes it back, or why it stays; None if it needs no undoing."""
    write = done.write
    spec = current.get("spec") or {}
    if write.kind == "PersistentVolumeClaim" and spec.get("volumeName"):
        return f"{_named(done)} got volume {spec['volumeName']}, which it keeps", None
    if write.kind == "PersistentVolume" and (current.get("status") or {}).get("phase") == "Bound":
        claim = spec.get("claimRef") or {}
        return f"{_named(done)} is bound to claim {claim.get('namespace')}/{claim.get('name')}, and stays so", None
    if write.kind == "ResourceClaim" and write.subresource == "status":
        return None, _released(current, pod, done)
    if write.kind == "ResourceClaim" and (current.get("status") or {}).get("allocation"):
        return None, None  # the finalizer guards the allocation that others use by now
    return None, done.undoing


def _released(current: JSON, pod: Pod, done: Done) -> JSON | None:
    """The claim without the pod, and without the devices that were taken for it alone; None if it is so already."""
    status = current.get("status") or {}
    reserved = status.get("reservedFor") or []
    others = [consumer for consumer in reserved if consumer["uid"] != pod.metadata.uid]
    if len(others) == len(reserved):
        return None
    took_devices = "allocation" in (done.undoing or {}).get("status", {}) and not others
    taken_back = {"allocation": None, "devices": None} if took_devices else {}
    return {"status": {"reservedFor": others or None, **taken_back}}


def _deleted(writer: Writer, done: Done) -> str | None:
    write = done.write
    try:
        writer.send(delete(write.kind, write.name, write.namespace, done.uid))
    except ResponseError as error:
        if error.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
            raise
    except ClusterError as error:
        return f"{_named(done)} was made and could not be deleted: {error}"
    return None


_WORDS = {
    "PersistentVolume": "volume",
    "PersistentVolumeClaim": "claim",
    "ResourceClaim": "ResourceClaim",
    "Pod": "the status of pod",
}


def _named(done: Done) -> str:
    write = done.write
    return f"{_WORDS[write.kind]} {f'{write.namespace}/' if write.namespace else ''}{write.name}"

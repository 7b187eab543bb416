"""Writes what a replay needs, and nothing else: a List of the objects as they were decoded.

What the scheduler and the explanation do not read was never decoded. Of the rest a kind or a field is let through only
if it is listed (`exported_fields.txt`).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.core import Event
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.safe_output import safe_json, write_json
from kubectl_sched.sources.dump.json_lists import SnapshotMetadata
from kubectl_sched.sources.export.credential_patterns import without_credentials, without_tokens
from kubectl_sched.sources.export.kept_configuration import kept_document
from kubectl_sched.sources.export.kept_fields import FieldCutter, is_kept_kind
from kubectl_sched.sources.kinds import BY_TYPE, KINDS
from kubectl_sched.sources.pod_surroundings import KUBELET_BEGINNINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump

VERSION = "kubectl-sched/v1"
SUFFIXES = (".json", ".json.gz")

EVENT_REASONS = frozenset(
    {
        "EvictionByEvictionAPI",
        "FailedAttachVolume",
        "FailedBinding",
        "FailedCreate",
        "FailedCreatePodSandBox",
        "FailedMount",
        "FailedScheduling",
        "Nominated",
        "NotTriggerScaleUp",
        "Preempted",
        "ProvisioningFailed",
        "ResizeDeferred",
        "ResizeInfeasible",
        "Scheduled",
        "TriggeredScaleUp",
        "WaitForFirstConsumer",
    }
)
"""Reasons of events that are kept. Events of other reasons, such as failed probes, may quote an application."""

_VERSION = pattern(r"(v?\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)(?:$|[.+\-])")
"""A vendor's suffix, which is text of its own, is left out."""

_PLACE = {kind.type: place for place, kind in enumerate(KINDS)}


def check_name(path: str) -> None:
    """Raises SchedError for a name that does not say in which format to write."""
    if path != "-" and not path.endswith(SUFFIXES):
        raise SchedError(f"{path}: a snapshot is written to a file that ends in .json or .json.gz, or to - for stdout")


def write_snapshot(dump: Dump, path: str, own_reasons: Callable[[str], str]) -> int:
    """Write the dump to the file (`-`: stdout) and return how many bytes that were.

    `own_reasons` cuts a scheduler's message to the reasons that are kube-scheduler's.
    """
    check_name(path)
    data = encoded(dump, own_reasons)
    if path.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    if path == "-":
        write_json(data)
        return len(data)
    try:
        _put(data, Path(path))
    except OSError as error:
        raise SchedError(f"{path}: {error.strerror}") from None
    return len(data)


def _put(data: bytes, path: Path) -> None:
    """Write a file that its owner alone may read, beside the path, and rename it: a link there is replaced."""
    number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def encoded(dump: Dump, own_reasons: Callable[[str], str]) -> bytes:
    """Return equal bytes for equal dumps: kinds in one order, the objects of each as they were read."""
    warnings = tuple(map(without_credentials, dump.warnings))  # they quote what servers and collectors said
    said = SnapshotMetadata(
        snapshot=VERSION,
        server_version=_numbers_of(dump.server_version or ""),
        present=tuple(sorted(dump.present)),
        warnings=warnings,
        of_mixed_list=not (dump.is_live or dump.tells_absence),
        pods_of=tuple(map(without_credentials, dump.pods_of)),
    )
    metadata = msgspec.json.encode(said, order="deterministic")
    # The reader of lists recognises them by a metadata without nested braces.
    inside = metadata[1:-1].replace(b"{", b"\\u007b").replace(b"}", b"\\u007d")
    head = b'{"kind":"List","apiVersion":"v1","metadata":{' + inside + b'},"items":[\n'
    encoder = msgspec.json.Encoder(order="deterministic")
    items = [encoder.encode(item) for item in without_secrets(dump.objects, own_reasons)]
    if dump.scheduler_configuration is not None:
        items.append(
            encoder.encode({"kind": "KubeSchedulerConfiguration", **kept_document(dump.scheduler_configuration)})
        )
    return safe_json(head + without_tokens(b",\n".join(items)) + b"\n]}\n")


def _numbers_of(version: str) -> str | None:
    """Return `v1.36.2` of a version, without what a vendor appends; None if the text is no version."""
    found = _VERSION.match(version)
    return found[1] if found is not None else None


def without_secrets(
    objects: Iterable[KubernetesObject], own_reasons: Callable[[str], str]
) -> Iterator[KubernetesObject]:
    """Yield the objects by kind, with nothing in them but what is listed."""
    cutter = FieldCutter(own_reasons)
    for item in sorted(objects, key=lambda item: _PLACE[BY_TYPE[type(item)].type]):
        if not is_kept_kind(type(item)):
            continue
        if not isinstance(item, Event) or item.reason in EVENT_REASONS | KUBELET_BEGINNINGS:
            yield cutter.cut(item)

"""Writes what a replay needs, and nothing else: a List of the objects as they were decoded.

What the scheduler and the explanation do not read was never decoded. What is taken out here besides may hold what is
nobody's business, and no verdict depends on it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from kubectl_sched.api.core import ConfigMap, Event
from kubectl_sched.api.pod import ContainerStatus, Pod
from kubectl_sched.api.schedulers import SchedulerConfiguration, SchedulerLog
from kubectl_sched.cluster.json_lists import SnapshotMetadata
from kubectl_sched.cluster.kinds import BY_TYPE, KINDS
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.cluster.dump import Dump

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
"""Others, such as failed probes, may quote what an application said."""

BEGINNINGS = frozenset({"Created", "Pulled", "Pulling", "Started"})
"""They show whether a scheduler's event is missing because it is old; what they say is dropped."""

_KEY_MATERIAL = re.compile(r"""(["']?\b(?:keyData|certData|token|password)["']?\s*:\s*)(?:"[^"]*"|'[^']*'|[^\s,}]+)""")
_PLACE = {kind.type: place for place, kind in enumerate(KINDS)}


def check_name(path: str) -> None:
    """Raises SchedError for a name that does not say in which format to write."""
    if path != "-" and not path.endswith(SUFFIXES):
        raise SchedError(f"{path}: a snapshot is written to a file that ends in .json or .json.gz, or to - for stdout")


def write_snapshot(dump: Dump, path: str) -> int:
    """Write the dump to the file (`-`: stdout); returns how many bytes that were."""
    check_name(path)
    data = encoded(dump)
    if path.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    try:
        if path == "-":
            sys.stdout.buffer.write(data)
        else:
            Path(path).write_bytes(data)
    except OSError as error:
        raise SchedError(f"{path}: {error.strerror}") from None
    return len(data)


def encoded(dump: Dump) -> bytes:
    """The same bytes for the same dump: kinds in one order, the objects of each as they were read."""
    metadata = msgspec.json.encode(
        SnapshotMetadata(VERSION, dump.server_version, tuple(sorted(dump.present)), dump.warnings),
        order="deterministic",
    )
    # The reader of lists recognises them by a metadata without nested braces.
    inside = metadata[1:-1].replace(b"{", b"\\u007b").replace(b"}", b"\\u007d")
    head = b'{"kind":"List","apiVersion":"v1","metadata":{' + inside + b'},"items":[\n'
    encoder = msgspec.json.Encoder(order="deterministic")
    items = [encoder.encode(item) for item in without_secrets(dump.objects)]
    if dump.scheduler_configuration is not None:
        items.append(
            encoder.encode({"kind": "KubeSchedulerConfiguration", **_without_keys(dump.scheduler_configuration)})
        )
    return head + b",\n".join(items) + b"\n]}\n"


def without_secrets(objects: Iterable[KubernetesObject]) -> Iterator[KubernetesObject]:
    """The objects by kind, without anything that a replay does not need and that may be secret."""
    for item in sorted(objects, key=lambda item: _PLACE[BY_TYPE[type(item)].type]):
        if isinstance(item, Event):
            if item.reason in EVENT_REASONS:
                yield item
            elif item.reason in BEGINNINGS:
                yield structs.replace(item, message="", note="")
        elif isinstance(item, Pod):
            yield _without_last_words(item)
        elif isinstance(item, ConfigMap):
            keys = configuration_keys(item.data)
            yield structs.replace(item, data={key: without_key_material(item.data[key]) for key in keys})
        elif isinstance(item, SchedulerConfiguration | SchedulerLog):
            text = without_key_material(item.spec.raw_config)
            yield structs.replace(item, spec=structs.replace(item.spec, raw_config=text))
        else:
            yield item


def without_key_material(text: str) -> str:
    """A configuration's text without what an extender is spoken to with in secret."""
    return _KEY_MATERIAL.sub(r'\1""', text)


def _without_keys(value: Any) -> Any:
    if isinstance(value, dict):
        secret = {"keyData", "certData", "token", "password"}
        return {key: "" if key in secret else _without_keys(each) for key, each in value.items()}
    return [_without_keys(each) for each in value] if isinstance(value, list) else value


def _without_last_words(pod: Pod) -> Pod:
    """A container that ended may have said anything in its message."""
    status = pod.status
    if not any(each.state.terminated for each in (*status.container_statuses, *status.init_container_statuses)):
        return pod
    return structs.replace(
        pod,
        status=structs.replace(
            status,
            container_statuses=tuple(map(_silent, status.container_statuses)),
            init_container_statuses=tuple(map(_silent, status.init_container_statuses)),
        ),
    )


def _silent(status: ContainerStatus) -> ContainerStatus:
    ended = status.state.terminated
    if ended is None:
        return status
    return structs.replace(status, state=structs.replace(status.state, terminated=structs.replace(ended, message="")))

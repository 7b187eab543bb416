"""Writes what a replay needs, and nothing else: a List of the objects as they were decoded.

What the scheduler and the explanation do not read was never decoded. What is taken out here besides may hold what is
nobody's business, and no verdict depends on it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from kubectl_sched.api.core import ConfigMap, Event
from kubectl_sched.api.pod import ContainerStatus, Pod
from kubectl_sched.api.schedulers import SchedulerConfiguration, SchedulerLog
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.errors import SchedError
from kubectl_sched.output import safe_json, write_json
from kubectl_sched.sources.discovery.scheduler_configurations import parsed
from kubectl_sched.sources.dump.json_lists import SnapshotMetadata
from kubectl_sched.sources.kinds import BY_TYPE, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.meta import Condition, KubernetesObject
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
"""Others, such as failed probes, may quote what an application said."""

BEGINNINGS = frozenset({"Created", "Pulled", "Pulling", "Started"})
"""They show whether a scheduler's event is missing because it is old; what they say is dropped."""

_KEY_MATERIAL = re.compile(r"""(["']?\b(?:keyData|certData|token|password)["']?\s*:\s*)(?:"[^"]*"|'[^']*'|[^\s,}]+)""")
_SECRET = re.compile(
    r"(?:keyData|certData|token|password|passwd|secret|credentials?|(?:api|access|private)[-_]?key)\Z", re.IGNORECASE
)
_USER_IN_URL = re.compile(r"(?<=://)[^/\s@'\"]+@")
_SECRET_IN_TEXT = re.compile(r"(?i)([\w-]*(?:password|passwd|secret|token|credentials?|api[-_]?key)=)[^\s&,;'\"]+")
_TOLD_BY_SCHEDULERS = frozenset({"FailedScheduling", "Preempted", "Scheduled"})
"""Events that are compared word by word, and hold no command lines."""

_CONDITIONS_READ = frozenset({"DisruptionTarget", "PodResizePending", "PodScheduled"})
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
            write_json(data)
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
    return safe_json(head + b",\n".join(items) + b"\n]}\n")


def without_secrets(objects: Iterable[KubernetesObject]) -> Iterator[KubernetesObject]:
    """The objects by kind, without anything that a replay does not need and that may be secret."""
    for item in sorted(objects, key=lambda item: _PLACE[BY_TYPE[type(item)].type]):
        if isinstance(item, Event):
            if item.reason in EVENT_REASONS:
                yield _without_credentials(item)
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
    """A configuration's text without comments and what an extender is spoken to with in secret.

    One that cannot be read, and whose mistakes are told therefore, stays as it is but for these.
    """
    try:
        document = parsed(text, "a configuration")
    except SchedError:
        return _USER_IN_URL.sub("", _KEY_MATERIAL.sub(r'\1""', text))
    without = _without_keys(document)
    if without == document and "#" not in text:
        return text
    return msgspec.json.encode(without, order="deterministic").decode()


def _without_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "" if _SECRET.search(key) else _without_keys(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_keys(each) for each in value]
    return _told_openly(value) if isinstance(value, str) else value


def _told_openly(text: str) -> str:
    """A text without the credentials in its addresses and options."""
    return _SECRET_IN_TEXT.sub(r"\1***", _USER_IN_URL.sub("", text))


def _without_credentials(event: Event) -> Event:
    if event.reason in _TOLD_BY_SCHEDULERS:
        return event
    return structs.replace(event, message=_told_openly(event.message), note=_told_openly(event.note))


def _without_last_words(pod: Pod) -> Pod:
    """A container that ended may have said anything in its message, and so may whoever sets a condition."""
    status = pod.status
    changed = structs.replace(
        status,
        message=_told_openly(status.message),
        conditions=tuple(map(_silent_condition, status.conditions)),
        container_statuses=tuple(map(_silent, status.container_statuses)),
        init_container_statuses=tuple(map(_silent, status.init_container_statuses)),
    )
    return pod if changed == status else structs.replace(pod, status=changed)


def _silent_condition(condition: Condition) -> Condition:
    if not condition.message or condition.type in _CONDITIONS_READ:
        return condition
    return structs.replace(condition, message="")


def _silent(status: ContainerStatus) -> ContainerStatus:
    waiting, ended = status.state.waiting, status.state.terminated
    if waiting is not None:
        waiting = structs.replace(waiting, message=_told_openly(waiting.message))
    if ended is not None:
        ended = structs.replace(ended, message="")
    return structs.replace(status, state=structs.replace(status.state, waiting=waiting, terminated=ended))

"""Writes what a replay needs, and nothing else: a List of the objects as they were decoded.

What the scheduler and the explanation do not read was never decoded. What is taken out here besides may hold what is
nobody's business, and no verdict depends on it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs

from kubectl_sched.api.core import ConfigMap, Event, Node
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import ContainerStatus, Pod
from kubectl_sched.api.schedulers import SchedulerConfiguration, SchedulerLog
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.errors import SchedError
from kubectl_sched.output import safe_json, write_json
from kubectl_sched.sources.discovery.cluster_autoscalers import readable_groups, status_text
from kubectl_sched.sources.dump.json_lists import SnapshotMetadata
from kubectl_sched.sources.export.kept_configuration import kept_document, kept_text
from kubectl_sched.sources.export.kept_texts import condition_text, event_text, pod_text, without_credentials
from kubectl_sched.sources.kinds import BY_TYPE, GATE_KINDS, KINDS
from kubectl_sched.sources.pod_surroundings import KUBELET_BEGINNINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
    """The same bytes for the same dump: kinds in one order, the objects of each as they were read."""
    warnings = tuple(map(without_credentials, dump.warnings))  # they quote what servers and collectors said
    metadata = msgspec.json.encode(
        SnapshotMetadata(VERSION, dump.server_version, tuple(sorted(dump.present)), warnings), order="deterministic"
    )
    # The reader of lists recognises them by a metadata without nested braces.
    inside = metadata[1:-1].replace(b"{", b"\\u007b").replace(b"}", b"\\u007d")
    head = b'{"kind":"List","apiVersion":"v1","metadata":{' + inside + b'},"items":[\n'
    encoder = msgspec.json.Encoder(order="deterministic")
    items = [encoder.encode(item) for item in without_secrets(dump.objects, own_reasons)]
    if dump.scheduler_configuration is not None:
        items.append(
            encoder.encode({"kind": "KubeSchedulerConfiguration", **kept_document(dump.scheduler_configuration)})
        )
    return safe_json(head + b",\n".join(items) + b"\n]}\n")


def without_secrets(
    objects: Iterable[KubernetesObject], own_reasons: Callable[[str], str]
) -> Iterator[KubernetesObject]:
    """Yield the objects by kind, without anything that a replay does not need and that may be secret."""
    texts = Texts(own_reasons)
    for item in sorted(objects, key=lambda item: _PLACE[BY_TYPE[type(item)].type]):
        if isinstance(item, Event):
            if item.reason in EVENT_REASONS | KUBELET_BEGINNINGS:
                yield texts.event(item)
        elif isinstance(item, Pod):
            yield texts.pod(item)
        elif isinstance(item, Node):
            yield texts.node(item)
        elif isinstance(item, ConfigMap):
            yield structs.replace(item, data=_kept_data(item))
        elif BY_TYPE[type(item)] in GATE_KINDS:
            yield texts.holder(item)
        elif isinstance(item, SchedulerConfiguration | SchedulerLog):
            yield with_spec(item, raw_config=kept_text(item.spec.raw_config))
        else:
            yield item


def _kept_data(item: ConfigMap) -> dict[str, str]:
    """The data of a ConfigMap: scheduler configurations, and of cluster-autoscaler's status the sizes of groups."""
    if item.autoscaler_status:
        return {"status": status_text(readable_groups(item.autoscaler_status))}
    return {key: kept_text(item.data[key]) for key in configuration_keys(item.data)}


class Texts(NamedTuple):
    """Cuts the texts of objects to what is known to be harmless."""

    own_reasons: Callable[[str], str]

    def event(self, event: Event) -> Event:
        """The event with the known part of its text."""
        return structs.replace(
            event, message=self._told(event.reason, event.message), note=self._told(event.reason, event.note)
        )

    def _told(self, reason: str, text: str) -> str:
        if reason == "FailedScheduling":
            return without_credentials(self.own_reasons(text))
        return event_text(reason, text)

    def pod(self, pod: Pod) -> Pod:
        """The pod without what containers said, and with the known part of why it waits or has ended."""
        status = pod.status
        changed = structs.replace(
            status,
            message=pod_text(status.message),
            conditions=tuple(map(self._condition, status.conditions)),
            container_statuses=tuple(map(_silent, status.container_statuses)),
            init_container_statuses=tuple(map(_silent, status.init_container_statuses)),
        )
        return pod if changed == status else structs.replace(pod, status=changed)

    def node(self, node: Node) -> Node:
        """The node with the known texts of its conditions."""
        conditions = tuple(map(self._condition, node.status.conditions))
        return structs.replace(node, status=structs.replace(node.status, conditions=conditions))

    def holder(self, item: KubernetesObject) -> KubernetesObject:
        """The object with the texts of its controller, which are what it is kept for, without credentials."""
        status: Any = getattr(item, "status", None)
        changes = {
            field: tuple(
                structs.replace(each, message=without_credentials(each.message)) for each in getattr(status, field)
            )
            for field in ("conditions", "scheduling_conditions", "admission_checks")
            if getattr(status, field, ())
        }
        return structs.replace(item, status=structs.replace(status, **changes)) if changes else item

    def _condition(self, condition: Condition) -> Condition:
        if not condition.message:
            return condition
        known = condition_text(condition.message)
        if not known and condition.type == "PodScheduled":
            known = without_credentials(self.own_reasons(condition.message))
        return structs.replace(condition, message=known)


def _silent(status: ContainerStatus) -> ContainerStatus:
    waiting, ended = status.state.waiting, status.state.terminated
    if waiting is not None:
        waiting = structs.replace(waiting, message="")
    if ended is not None:
        ended = structs.replace(ended, message="")
    return structs.replace(status, state=structs.replace(status.state, waiting=waiting, terminated=ended))

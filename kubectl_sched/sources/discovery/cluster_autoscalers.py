"""The cluster autoscaler of a cluster: its pod, its flags and its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.core import ConfigMap
from kubectl_sched.api.pod import Pod
from kubectl_sched.config import KubeVersion
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions, options_of
from kubectl_sched.node_provisioning.cluster_autoscaler.status_config_map import (
    GroupStatus,
    document_of,
    groups_of_document,
    groups_of_lines,
    is_of_lines,
)
from kubectl_sched.record import CachingRecord
from kubectl_sched.sources.discovery.scheduler_configurations import configuration_of, parsed
from kubectl_sched.sources.discovery.scheduler_flags import autoscaler_flags, is_autoscaler

if TYPE_CHECKING:
    from kubectl_sched.api.containers import Container
    from kubectl_sched.sources.discovery.scheduler_configurations import ConfigurationSource
    from kubectl_sched.sources.dump.dump import Dump

_TAG = pattern(r":v?(\d{1,4}\.\d{1,4})(?:\.\d{1,4})?[^@:/]*(?:@|$)")


class FoundAutoscaler(CachingRecord, frozen=True, kw_only=True):
    """Describes the part of a cluster autoscaler that can be seen."""

    options: AutoscalerOptions = AutoscalerOptions()
    has_pod: bool = False
    version: KubeVersion | None = None
    """The minor of its image, which is that of the scheduler in it; None if the tag does not say it."""

    feature_gates: str | None = None
    configuration: ConfigurationSource | None = None
    """The configuration of its scheduler; None for the default one."""

    groups: tuple[GroupStatus, ...] | None = None
    """The groups of its status; None if there is none that can be read."""

    problem: str = ""

    @property
    def serves_requests(self) -> bool:
        """Report whether it serves ProvisioningRequests; one whose flags cannot be seen may."""
        return not self.has_pod or self.options.serves_requests


def find_autoscaler(dump: Dump) -> FoundAutoscaler | None:
    """Return what the dump shows of a cluster autoscaler; None if it shows neither a pod nor a status."""
    pod, container = next(
        (
            (item, container)
            for item in dump.objects
            if isinstance(item, Pod) and not item.has_ended
            for container in item.spec.containers
            if is_autoscaler(container)
        ),
        (None, None),
    )
    found = _of_pod(pod, container, dump) if pod is not None and container is not None else FoundAutoscaler()
    status = next(
        (text for item in dump.objects if isinstance(item, ConfigMap) and (text := item.autoscaler_status)), ""
    )
    if not status:
        return found if found.has_pod else None
    try:
        groups = groups_of_status(status)
    except SchedError as error:
        return msgspec.structs.replace(found, problem=str(error))
    return msgspec.structs.replace(found, groups=groups)


def groups_of_status(text: str) -> tuple[GroupStatus, ...]:
    """Read the groups of a status, in either format. Raises SchedError for one that cannot be read."""
    if is_of_lines(text):
        return groups_of_lines(text)
    try:
        return groups_of_document(parsed(text, "cluster-autoscaler-status"))
    except msgspec.ValidationError as error:
        raise SchedError(f"cluster-autoscaler-status: {error}") from None


def readable_groups(text: str) -> tuple[GroupStatus, ...]:
    """Read the groups of a status; none of one that cannot be read."""
    try:
        return groups_of_status(text)
    except SchedError:
        return ()


def status_text(groups: tuple[GroupStatus, ...]) -> str:
    """Return a status with these groups alone."""
    return msgspec.json.encode(document_of(groups), order="deterministic").decode()


def _of_pod(pod: Pod, container: Container, dump: Dump) -> FoundAutoscaler:
    flags = autoscaler_flags(container)
    tag = _TAG.search(container.image)
    version = KubeVersion.parse(tag[1]) if tag is not None else None
    path = flags.get("scheduler-config-file", ("",))[-1]
    return FoundAutoscaler(
        options=options_of(flags),
        has_pod=True,
        version=version,
        feature_gates=",".join(flags.get("feature-gates", ())) or None,
        configuration=configuration_of((pod,), {"config": path}, dump, version) if path else None,
    )

"""Sets up a replay from what was read: the version, the configuration and the snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.config import KubeVersion, load_configuration, parse_feature_gates
from kubectl_sched.record import Record
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.snapshot import build
from kubectl_sched.sources.discovery.kubernetes_version import detect_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources import Dump


class Replay(Record, frozen=True, kw_only=True):
    """The scheduler to replay: the flags of the same names, None for those not given.

    `config_flag` is the flag that named the configuration, for what is said of its file.
    """

    config: str | None = None
    kube_version: str | None = None
    feature_gates: str | None = None
    config_flag: str = "--config"


def configuration_for(dump: Dump, replay: Replay) -> Configuration:
    """The configuration in force: the one given, else the defaults of the version that the cluster runs."""
    overrides = parse_feature_gates(replay.feature_gates) if replay.feature_gates else None
    version = KubeVersion.parse(replay.kube_version) if replay.kube_version is not None else None
    document: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    if replay.config is not None:
        from kubectl_sched.sources.configuration_file import read_configuration  # YAML is slow to import

        document, warnings = read_configuration(replay.config, replay.config_flag)
    if version is None and not _selects_version(document):
        version = detect_version(dump)
    configuration = load_configuration(document, version, overrides)
    return replace(configuration, warnings=(*warnings, *configuration.warnings))


def _selects_version(document: Mapping[str, Any] | None) -> bool:
    """Report whether the document's own apiVersion says which minor to replay."""
    return document is not None and not str(document.get("apiVersion", "")).endswith("/v1")


def scheduler_for(
    dump: Dump, configuration: Configuration, extender_client: ExtenderClient | None = None
) -> tuple[Scheduler, tuple[str, ...]]:
    """A scheduler over the dump's objects, and a sentence for each object that had to be left out."""
    nodes, left_out = snapshot_of(dump.objects, configuration)
    return Scheduler(configuration, nodes, extender_client), left_out


def snapshot_of(objects: Iterable[KubernetesObject], configuration: Configuration) -> tuple[Snapshot, tuple[str, ...]]:
    """The objects as a scheduler of that version counts them, and a sentence for each that had to be left out."""
    options = scheduler_options(configuration.features.enabled, configuration.release)
    return build(objects, options, sidecar_ports_count=configuration.release.sidecar_ports_count)

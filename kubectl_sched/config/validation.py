"""Validation of a configuration before any profile is built.

Answers to pkg/scheduler/apis/config/validation/validation.go and component-base/config/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.config.differences_from_default import args_document
from kubectl_sched.config.duration import format_duration
from kubectl_sched.config.field_errors import (
    FieldError,
    duplicate,
    go_json,
    invalid,
    invalid_structure,
    qualified_name_errors,
    raise_aggregated,
    required,
    structure,
)
from kubectl_sched.config.plugin_table import extension_points
from kubectl_sched.config.types import NodeResourcesFitArgs, PluginSet
from kubectl_sched.config.validation_pluginargs import validate_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.config.features import Features
    from kubectl_sched.config.types import (
        Args,
        Duration,
        Extender,
        KubeSchedulerConfiguration,
        KubeSchedulerProfile,
        LeaderElectionConfiguration,
    )
    from kubectl_sched.config.versions import Release

_GO_PATH: Final = 'field.Path{name:"schedulerName", index:"", parent:(*field.Path)(0x...)}'
"""The name of the other profile as minors up to 1.33 print it; its address, which is chance, is left out."""
ONE_QUEUE: Final = (
    "all profiles share one queue, so the plugin that sorts it must have the same arguments in every profile"
)
_PLACEMENTS_NEED_GATE: Final = (
    "percentageOfPlacementsToScore requires TopologyAwareWorkloadScheduling feature gate to be enabled"
)
_RESERVED_PREFIX: Final = "requests."
_NATIVE_PREFIX: Final = "kubernetes.io/"


def validate(config: KubeSchedulerConfiguration, release: Release, features: Features) -> None:
    """Raise ConfigurationError for a configuration, with its defaults, that kube-scheduler refuses."""
    raise_aggregated(list(_errors(config, release, features)))


def _errors(config: KubeSchedulerConfiguration, release: Release, features: Features) -> Iterator[FieldError]:
    if config.client_connection.burst < 0:
        yield invalid("clientConnection.burst", config.client_connection.burst, "must be non-negative")
    yield from _leader_election(config.leader_election, release)
    if config.parallelism <= 0:
        yield invalid("parallelism", config.parallelism, "should be an integer value greater than zero")
    yield from _profiles(config, release, features)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    yield from _placements_percentage("", config.percentage_of_placements_to_score, features)
    initial, most = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if most < initial:
        yield invalid("podMaxBackoffSeconds", most, "must be greater than or equal to PodInitialBackoffSeconds")
    yield from _extenders(config.extenders, release)


def _leader_election(election: LeaderElectionConfiguration, release: Release) -> Iterator[FieldError]:
    if not election.leader_elect:
        return
    for name, duration in (
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    ):
        if duration.nanoseconds <= 0:
            yield _invalid_duration(f"leaderElection.{name}", duration, "must be greater than zero", release)
    if election.lease_duration <= election.renew_deadline:
        path = "leaderElection.leaseDuration"
        yield _invalid_duration(path, election.renew_deadline, release.lease_too_short, release)
    if release.only_leases and election.resource_lock != "leases":
        yield invalid("leaderElection.resourceLock", election.resource_lock, 'resourceLock value must be "leases"')


def _invalid_duration(path: str, duration: Duration, detail: str, release: Release) -> FieldError:
    go = f"v1.Duration{{Duration:{duration.nanoseconds}}}"
    return invalid_structure(path, structure(release, format_duration(duration.nanoseconds), go), detail)


def _profiles(config: KubeSchedulerConfiguration, release: Release, features: Features) -> Iterator[FieldError]:
    seen: dict[str, int] = {}
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
        name = profile.scheduler_name or ""
        if not name:
            advice = "" if len(config.profiles) == 1 else "with several profiles, each needs a schedulerName of its own"
            yield required(f"{path}.schedulerName", advice=advice)
        if profile.percentage_of_nodes_to_score is not None:
            yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        yield from _placements_percentage(f"{path}.", profile.percentage_of_placements_to_score, features)
        yield from _invalid_plugins(path, profile, config.api_version, release)
        yield from _plugin_config(path, profile, config.api_version, release, features)
        if name in seen:
            yield FieldError(
                f"{path}.schedulerName: Duplicate value: " + structure(release, {}, _GO_PATH),
                f"two profiles have the schedulerName {name!r}: rename or remove one",
            )
        seen[name] = index
    yield from _common_queue_sort(config.profiles, release)


def _percentage(path: str, value: int) -> Iterator[FieldError]:
    if not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _placements_percentage(prefix: str, value: int | None, features: Features) -> Iterator[FieldError]:
    """Check the percentage of placements, which only TopologyAwareWorkloadScheduling knows."""
    path = f"{prefix}percentageOfPlacementsToScore"
    if value is None:
        return
    if features.enabled("TopologyAwareWorkloadScheduling"):
        yield from _percentage(path, value)
    else:
        yield FieldError(f"{path}: Forbidden: {_PLACEMENTS_NEED_GATE}", "leave the field out, or set the gate")


def _invalid_plugins(
    path: str, profile: KubeSchedulerProfile, api_version: str, release: Release
) -> Iterator[FieldError]:
    if profile.plugins is None or not api_version.endswith("/v1"):
        return
    for point in extension_points(release.version):
        if point in {"placementGenerate", "placementScore"} and not release.placement_plugins_are_validated:
            continue
        for index, plugin in enumerate(profile.plugins.at(point).enabled):
            if plugin.name in release.invalid_plugins:
                where = f"{path}.plugins.{point}.enabled[{index}]"
                yield _invalid_plugin(where, plugin.name, api_version)


def _invalid_plugin(path: str, name: str, api_version: str) -> FieldError:
    detail = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{api_version}")'
    advice = f"the plugin {name} is gone: what it did is in NodeVolumeLimits" if name.endswith("Limits") else ""
    return invalid(path, name, detail, advice)


def _plugin_config(
    path: str, profile: KubeSchedulerProfile, api_version: str, release: Release, features: Features
) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, config in enumerate(profile.plugin_config):
        where = f"{path}.pluginConfig[{index}]"
        if config.name in seen:
            yield duplicate(where, config.name, f"pluginConfig names the plugin {config.name} twice")
        seen.add(config.name)
        if config.name in release.invalid_plugins and api_version.endswith("/v1"):
            yield _invalid_plugin(where, config.name, api_version)
        elif config.args is not None and not isinstance(config.args, NodeResourcesFitArgs):
            # NodeResourcesFit checks its own arguments, when a profile that enables it is built.
            yield from validate_args(f"{where}.args", config.args, release, features)


def _common_queue_sort(profiles: Sequence[KubeSchedulerProfile], release: Release) -> Iterator[FieldError]:
    first = _queue_sort(profiles[0])
    if len(first.enabled) > 1:
        path = "profiles[0].plugins.queueSort.Enabled"
        yield invalid(path, len(first.enabled), "only one queue sort plugin can be enabled")
    name = first.enabled[0].name if first.enabled else ""
    args = [config.args for config in profiles[0].plugin_config if name and config.name == name]
    for index, profile in enumerate(profiles[1:], start=1):
        own = _queue_sort(profile)
        if own != first:
            shown = structure(release, _plugin_set_json(own), _plugin_set_go(own))
            advice = "all profiles share one queue, so queueSort must be the same in every profile"
            path = f"profiles[{index}].plugins.queueSort"
            yield invalid_structure(path, shown, release.queue_sort_differs, advice)
        for config in profile.plugin_config:
            if config.name == name and config.args != (args[-1] if args else None):
                yield _queue_sort_args(f"profiles[{index}].pluginConfig.args", config.args, release)


def _queue_sort_args(path: str, args: Args | None, release: Release) -> FieldError:
    document, go = None, quoted("null")
    if args is not None:
        document = msgspec.json.decode(msgspec.json.encode(args_document(args), order="sorted"))
        go = _unknown_go(go_json(document).encode())
    return invalid_structure(path, structure(release, document, go), release.queue_sort_args_differ, ONE_QUEUE)


def _unknown_go(text: bytes) -> str:
    raw = ", ".join(f"{byte:#x}" for byte in text)
    meta = 'runtime.TypeMeta{APIVersion:"", Kind:""}'
    return (
        f'runtime.Unknown{{TypeMeta:{meta}, Raw:[]uint8{{{raw}}}, ContentEncoding:"", ContentType:"application/json"}}'
    )


def _queue_sort(profile: KubeSchedulerProfile) -> PluginSet:
    return PluginSet() if profile.plugins is None else profile.plugins.queue_sort


def _plugin_set_json(plugins: PluginSet) -> dict[str, list[dict[str, str | int]] | None]:
    return {
        key: [{"Name": plugin.name, "Weight": plugin.weight} for plugin in listed] or None
        for key, listed in (("Enabled", plugins.enabled), ("Disabled", plugins.disabled))
    }


def _plugin_set_go(plugins: PluginSet) -> str:
    sides = []
    for key, listed in (("Enabled", plugins.enabled), ("Disabled", plugins.disabled)):
        items = ", ".join(f"config.Plugin{{Name:{quoted(item.name)}, Weight:{item.weight}}}" for item in listed)
        sides.append(f"{key}:[]config.Plugin{f'{{{items}}}' if listed else '(nil)'}")
    return f"config.PluginSet{{{', '.join(sides)}}}"


def _extenders(extenders: Sequence[Extender], release: Release) -> Iterator[FieldError]:
    managed: set[str] = set()
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it")
        for at, resource in enumerate(extender.managed_resources):
            where = f"{path}.managedResources[{at}].name"
            yield from _extended_resource_name(where, resource.name, release)
            if resource.name in managed:
                yield invalid(where, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        yield invalid(
            "extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind"
        )


def _extended_resource_name(path: str, name: str, release: Release) -> Iterator[FieldError]:
    errors = qualified_name_errors(name, release)
    yield from (invalid_structure(path, structure(release, name, name), error) for error in errors)
    native = "/" not in name or _NATIVE_PREFIX in name
    if not errors and (
        native or name.startswith(_RESERVED_PREFIX) or qualified_name_errors(_RESERVED_PREFIX + name, release)
    ):
        yield invalid(path, name, "is an invalid extended resource name")

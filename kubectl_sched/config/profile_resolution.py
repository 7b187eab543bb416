"""A document, decoded, to the profiles that kube-scheduler would run: defaults, validation, extenders, expansion.

Answers to Options.ApplyTo in cmd/kube-scheduler/app/options/options.go, and to New and buildExtenders in
pkg/scheduler/scheduler.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.config.defaults import complete, default_args, default_plugins
from kubectl_sched.config.field_errors import raise_aggregated
from kubectl_sched.config.profiles import UNMERGED, Expansion, ResolvedProfile, merge
from kubectl_sched.config.refusal import ConfigurationError
from kubectl_sched.config.types import (
    DEFAULT_SCHEDULER_NAME,
    Args,
    ClientConnectionConfiguration,
    Duration,
    Extender,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    NodeResourcesFitArgs,
    PluginConfig,
    Plugins,
    PluginSet,
)
from kubectl_sched.config.validation import ONE_QUEUE, validate
from kubectl_sched.config.validation_pluginargs import validate_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.config.features import Features
    from kubectl_sched.config.versions import Release

_Part = TypeVar("_Part", LeaderElectionConfiguration, ClientConnectionConfiguration)

_PEM: Final = re.compile(rb"-----BEGIN ([^\n]*)-----\s.*?-----END \1-----", re.DOTALL)
_EXTENDER_TIMEOUT: Final = Duration.of(5)


def complete_configuration(
    config: KubeSchedulerConfiguration, release: Release, features: Features
) -> KubeSchedulerConfiguration:
    """Return the configuration with every default, as `kube-scheduler --write-config-to` would write it."""
    profiles = config.profiles or (KubeSchedulerProfile(),)
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return replace(
        config,
        profiles=tuple(_complete_profile(profile, config.api_version, release, features) for profile in profiles),
        leader_election=_non_zero(config.leader_election, LeaderElectionConfiguration()),
        client_connection=_non_zero(config.client_connection, ClientConnectionConfiguration()),
    )


def resolve_profiles(
    config: KubeSchedulerConfiguration, release: Release, features: Features
) -> tuple[dict[str, ResolvedProfile], list[str]]:
    """Return the profiles of a complete configuration and warnings; raise ConfigurationError for what is refused."""
    validate(config, release, features)
    _check_transports(config.extenders)
    config = _with_ignored_resources(config)
    profiles: dict[str, ResolvedProfile] = {}
    warnings: list[str] = []
    sort_args: list[Args | None] = []
    for profile in config.profiles:
        resolved, more = _resolve(profile, config, release, features)
        profiles[resolved.scheduler_name] = resolved
        warnings += more
        sort_args.append(_queue_sort_args(profile, resolved))
        if sort_args[0] != sort_args[-1]:
            named = quoted(resolved.scheduler_name)
            text = f"initializing profiles: different queue sort plugin args for profile {named}"
            raise ConfigurationError(text, ONE_QUEUE)
    return profiles, warnings


def _queue_sort_args(profile: KubeSchedulerProfile, resolved: ResolvedProfile) -> Args | None:
    (plugin,) = resolved.plugins["queueSort"]
    given = [config.args for config in profile.plugin_config if config.name == plugin.name]
    return given[-1] if given else None


def ignored_sets(written: KubeSchedulerConfiguration) -> list[str]:
    """Return a warning for each plugin set that kube-scheduler reads in this apiVersion and then ignores."""
    api = written.api_version.rpartition("/")[2]
    return [
        f"kube-scheduler ignores profiles[{index}].plugins.{point} in {api}, and so does the replay"
        for index, profile in enumerate(written.profiles)
        for field, point in (("multi_point", "multiPoint"), ("pre_enqueue", "preEnqueue"))
        if field in UNMERGED.get(api, ())
        and profile.plugins is not None
        and getattr(profile.plugins, field) != PluginSet()
    ]


def ordered_extenders(extenders: Sequence[Extender]) -> tuple[Extender, ...]:
    """Return extenders as they are asked, those that may be ignored last, with the default timeout."""
    timed = [replace(extender, http_timeout=_timeout(extender)) for extender in extenders]
    return tuple(sorted(timed, key=lambda extender: extender.ignorable))


def _timeout(extender: Extender) -> Duration:
    return extender.http_timeout if extender.http_timeout.nanoseconds else _EXTENDER_TIMEOUT


def _complete_profile(
    profile: KubeSchedulerProfile, api_version: str, release: Release, features: Features
) -> KubeSchedulerProfile:
    """Merge the default plugins in, and give every plugin that takes arguments some."""
    plugins = merge(default_plugins(release, features, api_version), profile.plugins, api_version)
    configs = [
        config if config.args is None else replace(config, args=complete(config.args, features))
        for config in profile.plugin_config
    ]
    given = {config.name for config in configs}
    defaults = ((name, default_args(name, release, features)) for name in sorted(_enabled(plugins) - given))
    configs += [PluginConfig(name=name, args=args) for name, args in defaults if args is not None]
    return replace(profile, plugins=plugins, plugin_config=tuple(configs))


def _enabled(plugins: Plugins) -> set[str]:
    """Return the names of all enabled plugins."""
    return {plugin.name for field in Plugins.__struct_fields__ for plugin in getattr(plugins, field).enabled}


def _non_zero(written: _Part, default: _Part) -> _Part:
    """Replace what is written as Go's zero value with its default, which upstream cannot tell from an absent field."""
    changes = {
        name: getattr(default, name)
        for name in written.__struct_fields__
        if name != "leader_elect" and getattr(written, name) in {"", 0, Duration()}
    }
    return replace(written, **changes)


def _check_transports(extenders: Sequence[Extender]) -> None:
    """Refuse an extender that is given a certificate authority and told not to check it."""
    for index, extender in enumerate(extenders):
        tls = extender.tls_config
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
            raise ConfigurationError(
                "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed",
                f"take insecure or the CA out of extenders[{index}].tlsConfig",
            )
        if tls is not None and (wrong := _not_pem(tls)):
            advice = f"extenders[{index}].tlsConfig wants PEM in base64; a path belongs in caFile, certFile and keyFile"
            raise ConfigurationError(f"couldn't build extenders: {wrong}", advice)


def _not_pem(tls: ExtenderTLSConfig) -> str:
    """Name the data in the configuration itself that is no PEM; what is in files is for the scheduler's machine."""
    if tls.ca_data and not _PEM.search(b64decode(tls.ca_data)):
        return "unable to load root certificates: unable to parse bytes as PEM block"
    if tls.cert_data and tls.key_data:
        for name, data in (("certificate", tls.cert_data), ("key", tls.key_data)):
            if not _PEM.search(b64decode(data)):
                return f"tls: failed to find any PEM data in {name} input"
    return ""


def _with_ignored_resources(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Let NodeResourcesFit ignore, in every profile, the resources that an extender says to ignore."""
    ignored = tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return config
    return replace(config, profiles=tuple(_ignoring(profile, ignored) for profile in config.profiles))


def _ignoring(profile: KubeSchedulerProfile, ignored: tuple[str, ...]) -> KubeSchedulerProfile:
    configs = list(profile.plugin_config)
    for index, config in enumerate(configs):
        if isinstance(config.args, NodeResourcesFitArgs):
            configs[index] = replace(config, args=replace(config.args, ignored_resources=ignored))
            return replace(profile, plugin_config=tuple(configs))
    raise ConfigurationError(
        "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config",
        "an extender with ignoredByScheduler needs the plugin NodeResourcesFit in every profile",
    )


def _resolve(
    profile: KubeSchedulerProfile, config: KubeSchedulerConfiguration, release: Release, features: Features
) -> tuple[ResolvedProfile, list[str]]:
    name, plugins = profile.scheduler_name or "", profile.plugins or Plugins()
    enabled = _enabled(plugins)
    args = {item.name: item.args for item in profile.plugin_config if item.name in enabled and item.args is not None}
    fit = args.get("NodeResourcesFit")
    if isinstance(fit, NodeResourcesFitArgs):
        _check_fit(name, fit, release, features)
    expansion = Expansion(name, plugins, release)
    rows = expansion.resolve()
    own = profile.percentage_of_nodes_to_score
    of_placements = profile.percentage_of_placements_to_score
    resolved = ResolvedProfile(
        scheduler_name=name,
        plugins=rows,
        args=args,
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score if own is None else own,
        percentage_of_placements_to_score=(config.percentage_of_placements_to_score or 0)
        if of_placements is None
        else of_placements,
        unknown_plugins=tuple(expansion.unknown.values()),
    )
    return resolved, expansion.warnings()


def _check_fit(scheduler_name: str, args: NodeResourcesFitArgs, release: Release, features: Features) -> None:
    """Refuse what NodeResourcesFit does not start with; validation leaves its arguments to the plugin itself."""
    prefix = f"initializing profiles: creating profile for scheduler name {scheduler_name}: initializing plugin"
    raise_aggregated(list(validate_args("", args, release, features)), f'{prefix} "NodeResourcesFit": ')
    strategy = args.scoring_strategy
    if strategy.type == "RequestedToCapacityRatio" and strategy.requested_to_capacity_ratio is None:
        # Only minors whose validation does not ask for the shape come here.
        raise ConfigurationError(
            "panic: runtime error: invalid memory address or nil pointer dereference",
            "it crashes: a scoringStrategy of type RequestedToCapacityRatio needs requestedToCapacityRatio.shape",
        )

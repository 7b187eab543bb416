"""KubeSchedulerConfiguration, feature gates and what differs between Kubernetes versions.

`load_configuration` is the one entry: an already parsed document, or None for the defaults, to what a scheduler runs.
Pure: it reads no file and knows no YAML.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kubectl_sched.config.defaults import default_args, default_plugins
from kubectl_sched.config.features import Features, parse_feature_gates
from kubectl_sched.config.profiles import Expansion, PluginRef, ResolvedProfile, UnknownPlugin
from kubectl_sched.config.refusal import ConfigurationError, FeatureGateError
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME, Args, Extender, LeaderElectionConfiguration
from kubectl_sched.config.versions import NEWEST, RELEASES, SUPPORTED, KubeVersion, Release, nearest

__all__ = [
    "NEWEST",
    "RELEASES",
    "SUPPORTED",
    "Configuration",
    "ConfigurationError",
    "FeatureGateError",
    "Features",
    "KubeVersion",
    "PluginRef",
    "Release",
    "ResolvedProfile",
    "UnknownPlugin",
    "load_configuration",
    "nearest",
    "parse_feature_gates",
]


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The resolved configuration of one kube-scheduler: profiles by schedulerName, version and feature gates."""

    version: KubeVersion
    release: Release
    features: Features
    profiles: Mapping[str, ResolvedProfile]
    parallelism: int = 16
    percentage_of_nodes_to_score: int = 0
    """The global value; 0 means adaptive. A profile's own is in the profile."""
    extenders: tuple[Extender, ...] = ()
    """In the order in which they are asked: those that may be ignored last."""
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    warnings: tuple[str, ...] = ()


def load_configuration(
    document: object = None,
    version: KubeVersion | None = None,
    feature_overrides: Mapping[str, bool] | None = None,
    emulated: KubeVersion | None = None,
) -> Configuration:
    """Return the configuration of a parsed KubeSchedulerConfiguration.

    None means kube-scheduler's defaults. Without `version` a document of an old apiVersion selects the newest minor
    that serves it, and else the newest released minor is taken. With `emulated` the feature gates are those of that
    minor, as with kube-scheduler's flag --emulated-version. Raises ConfigurationError or FeatureGateError where
    kube-scheduler refuses to start, except that a plugin it does not know is left out with a warning, and an
    apiVersion it no longer serves is read with one.
    """
    if document is not None:
        return _load(document, version, feature_overrides, emulated)
    chosen, warning = nearest(version or NEWEST)
    release = RELEASES[chosen]
    features = Features.for_version(_gates_of(release, emulated), feature_overrides)
    return _defaults(release, features, (warning,) if warning else ())


def _gates_of(release: Release, emulated: KubeVersion | None) -> KubeVersion:
    """Return the version whose feature gates count; none can emulate a later minor than its own."""
    minor = release.version if emulated is None else min(nearest(emulated)[0].of_minor, release.version)
    return release.patch if release.patch is not None and minor == release.version else minor


def _load(
    document: object,
    version: KubeVersion | None,
    feature_overrides: Mapping[str, bool] | None,
    emulated: KubeVersion | None,
) -> Configuration:
    # Only a document needs these, and most runs have none.
    from kubectl_sched.config import decoding, profile_resolution

    document = decoding.configuration_document(document)
    api_version = document["apiVersion"]
    chosen, warning = nearest(version or min(decoding.serving(api_version)[-1], NEWEST))
    release = RELEASES[chosen]
    features = Features.for_version(_gates_of(release, emulated), feature_overrides)
    written = decoding.decode(document, release)
    config = profile_resolution.complete_configuration(written, release, features)
    profiles, more = profile_resolution.resolve_profiles(config, release, features)
    served = decoding.serving_warning(api_version, release.version, chosen=version is not None)
    return Configuration(
        version=release.version,
        release=release,
        features=features,
        profiles=profiles,
        parallelism=config.parallelism,
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score,
        extenders=profile_resolution.ordered_extenders(config.extenders),
        leader_election=config.leader_election,
        pod_initial_backoff_seconds=config.pod_initial_backoff_seconds,
        pod_max_backoff_seconds=config.pod_max_backoff_seconds,
        warnings=tuple(filter(None, (warning, served, *profile_resolution.ignored_sets(written), *more))),
    )


def _defaults(release: Release, features: Features, warnings: tuple[str, ...]) -> Configuration:
    """Return what kube-scheduler runs without --config."""
    plugins = default_plugins(release, features, release.config_apis[0])
    resolved = Expansion(DEFAULT_SCHEDULER_NAME, plugins, release).resolve()
    names = {plugin.name for row in resolved.values() for plugin in row}
    args: dict[str, Args] = {}
    for name in sorted(names):
        if (default := default_args(name, release, features)) is not None:
            args[name] = default
    profile = ResolvedProfile(DEFAULT_SCHEDULER_NAME, resolved, args, 0)
    return Configuration(
        version=release.version,
        release=release,
        features=features,
        profiles={DEFAULT_SCHEDULER_NAME: profile},
        warnings=warnings,
    )

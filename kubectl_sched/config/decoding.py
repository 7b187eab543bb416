"""From a parsed document to KubeSchedulerConfiguration: which API version it is, and strict decoding of all of it.

Answers to cmd/kube-scheduler/app/options/configfile.go and to DecodeNestedObjects in kube-scheduler/config/v1/types.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubectl_sched.config.defaults import args_types
from kubectl_sched.config.refusal import ConfigurationError
from kubectl_sched.config.strict import StrictReader, UnknownField, WrongType, json_kind, wrong_type
from kubectl_sched.config.types import (
    ARGS,
    Args,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    OutOfTreeArgs,
    PluginConfig,
)
from kubectl_sched.config.versions import NEWEST, RELEASES, KubeVersion, Release

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUP: Final = "kubescheduler.config.k8s.io"
KIND: Final = "KubeSchedulerConfiguration"
_OLD: Final = {
    f"{_GROUP}/v1alpha1": "is older than Kubernetes 1.22",
    f"{_GROUP}/v1alpha2": "is older than Kubernetes 1.22",
    f"{_GROUP}/v1beta1": "was last served by Kubernetes 1.22, which serves v1beta2, too",
}
_POLICY_HELP: Final = (
    "a Policy was last read by kube-scheduler 1.22: write a KubeSchedulerConfiguration instead; its predicates become "
    "plugins enabled or disabled under profiles[].plugins, its priorities the weights under plugins.score, its "
    "arguments pluginConfig, and its extenders stay extenders"
)


def serving(api_version: str) -> tuple[KubeVersion, ...]:
    """Return the minors that serve an apiVersion of KubeSchedulerConfiguration, oldest first."""
    return tuple(version for version, release in RELEASES.items() if api_version in release.config_apis)


def configuration_document(document: object) -> Mapping[str, Any]:
    """Return a document that is a KubeSchedulerConfiguration of a known apiVersion; raise ConfigurationError."""
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"expected an object, got {json_kind(document)}", f"the file must hold one {KIND}")
    if (number := _first_not_a_number(document)) is not None:
        raise ConfigurationError(f"{number} is no number of JSON")
    try:
        api_version, kind = _type_meta(document, "apiVersion"), _type_meta(document, "kind")
    except WrongType as error:
        raise ConfigurationError(str(error)) from None
    for name, value, example in (("kind", kind, KIND), ("apiVersion", api_version, f"{_GROUP}/v1")):
        if not value:
            raise ConfigurationError(f"{name} is missing", f"add {name}: {example} to the file")
    if kind != KIND or not serving(api_version):
        raise _not_a_configuration(kind, api_version)
    return {**document, "apiVersion": api_version, "kind": kind}


def _type_meta(document: Mapping[str, Any], name: str) -> str:
    """Return apiVersion or kind, which is looked for before decoding is strict, and so whatever its case."""
    values = (value for key, value in document.items() if str(key).lower() == name.lower() and value is not None)
    value = next(values, "")
    if not isinstance(value, str):
        raise wrong_type(name, "a string", value)
    return value


def _first_not_a_number(value: object) -> str | None:
    """Return the first number of YAML that JSON does not have: an infinity, or `nan`."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return next((found for item in inside if (found := _first_not_a_number(item)) is not None), None)


def decode(document: Mapping[str, Any], release: Release) -> KubeSchedulerConfiguration:
    """Return a document as `release` decodes it; raise ConfigurationError for what it cannot decode.

    An apiVersion that `release` does not serve is read as the minor next to it that does.
    """
    api_version = document["apiVersion"]
    served = serving(api_version)
    release = RELEASES[min(max(release.version, served[0]), served[-1])]
    reader = StrictReader(_absent_fields(api_version, release))
    readable = {key: value for key, value in document.items() if key not in _dropped_fields(api_version)}
    try:
        config: KubeSchedulerConfiguration = reader.read(readable, KubeSchedulerConfiguration)
    except WrongType as error:
        raise ConfigurationError(str(error)) from None
    unknown = list(reader.unknown)
    profiles = []
    raw_profiles = document.get("profiles") or ()
    for index, profile in enumerate(config.profiles):
        decoded, nested = _plugin_config(index, profile, raw_profiles[index] or {}, api_version, release)
        profiles.append(decoded)
        unknown += nested
    if unknown:
        listed = ", ".join(f'"{field.path}"' for field in unknown)
        raise ConfigurationError(f"unknown field{'s' * (len(unknown) > 1)} {listed}", _nearest_names(unknown))
    return replace(config, profiles=tuple(profiles))


def _not_a_configuration(kind: str, api_version: str) -> ConfigurationError:
    group = api_version.partition("/")[0]
    advice = f"the file must hold a {KIND} of {_GROUP}/v1, v1beta3 or v1beta2"
    if serving(api_version) and kind.removesuffix("Args") in ARGS:
        advice = f"arguments of a plugin belong under profiles[].pluginConfig of a {KIND}"
    elif kind == "Policy":
        advice = _POLICY_HELP
    elif kind == KIND and group == _GROUP:
        age = _OLD.get(api_version, "is served by no Kubernetes")
        advice = f"{api_version} {age}: migrate it to {_GROUP}/v1"
    return ConfigurationError(f"{kind} of {api_version} is no configuration of kube-scheduler", advice)


def _absent_fields(api_version: str, release: Release) -> frozenset[tuple[str, str]]:
    """Return the fields that came after this apiVersion or minor."""
    minor = release.version.minor
    fields = {
        ("Plugins", "multiPoint"): minor >= 23,
        ("Plugins", "preEnqueue"): minor >= 26,
        ("Plugins", "placementGenerate"): minor >= 36,
        ("Plugins", "placementScore"): minor >= 36,
        ("Plugins", "podGroupPostFilter"): minor >= 37,
        ("Plugins", "placementFeasible"): minor >= 38,
        ("KubeSchedulerProfile", "percentageOfPlacementsToScore"): minor >= 38,
        ("KubeSchedulerConfiguration", "percentageOfPlacementsToScore"): minor >= 38,
        ("KubeSchedulerProfile", "percentageOfNodesToScore"): api_version.endswith("/v1"),
        ("KubeSchedulerConfiguration", "delayCacheUntilActive"): minor >= 27 and not api_version.endswith("/v1beta2"),
        ("DynamicResourcesArgs", "bindingTimeout"): "bindingTimeout" in release.dynamic_resources_args,
    }
    return frozenset(field for field, present in fields.items() if not present)


def _dropped_fields(api_version: str) -> tuple[str, ...]:
    """Return fields that only an old apiVersion has and that change no decision."""
    return ("healthzBindAddress", "metricsBindAddress") if api_version.endswith("/v1beta2") else ()


def _plugin_config(
    index: int, profile: KubeSchedulerProfile, raw: Mapping[str, Any], api_version: str, release: Release
) -> tuple[KubeSchedulerProfile, list[UnknownField]]:
    """Decode the arguments of one profile's plugins."""
    configs: list[PluginConfig] = []
    unknown: list[UnknownField] = []
    for at, config in enumerate(profile.plugin_config):
        path = f"profiles[{index}].pluginConfig[{at}].args"
        reader = StrictReader(_absent_fields(api_version, release))
        raw_args = (raw["pluginConfig"][at] or {}).get("args")
        try:
            args = _args(config.name, raw_args, reader, api_version, release)
        except WrongType as error:
            raise ConfigurationError(f"{path}: {error}") from None
        own = raw_args.get("apiVersion") if isinstance(raw_args, Mapping) else None
        if own and own != api_version and not isinstance(args, OutOfTreeArgs):
            raise ConfigurationError(
                f"{path}.apiVersion: {own} is not the apiVersion of the configuration",
                f"write {api_version} there too, or leave apiVersion out",
            )
        configs.append(replace(config, args=args))
        unknown += (replace(field, path=f"{path}.{field.path}") for field in reader.unknown)
    return replace(profile, plugin_config=tuple(configs)), unknown


def _args(name: str, raw: object, reader: StrictReader, expected: str, release: Release) -> Args | None:
    """Decode one plugin's arguments, which may say their own apiVersion and kind."""
    kind = args_types(release).get(name)
    if kind is None:
        return OutOfTreeArgs(document=raw) if isinstance(raw, Mapping) else None
    if raw is None:
        return kind()
    if not isinstance(raw, Mapping):
        raise wrong_type("", "an object", raw)
    own_kind, api_version = _type_meta(raw, "kind") or f"{name}Args", _type_meta(raw, "apiVersion") or expected
    if api_version not in release.config_apis:
        raise WrongType(f"apiVersion: kube-scheduler {release.version} does not serve {api_version}")
    if own_kind != f"{name}Args":
        raise WrongType(f"kind: expected {name}Args, got {own_kind}")
    args: Args = reader.read(raw, kind)
    return args


def _nearest_names(unknown: Sequence[UnknownField]) -> str:
    """Name the field that may be meant for each unknown one."""
    sentences = []
    for field in unknown:
        name = field.path.rpartition(".")[2]
        close = get_close_matches(name, field.known, n=1) or [
            known for known in field.known if known.casefold() == name.casefold()
        ]
        if close:
            sentences.append(f"did you mean {close[0]} instead of {name}?")
    return " ".join(sentences)


def serving_warning(api_version: str, version: KubeVersion, *, chosen: bool) -> str | None:
    """Return the warning for a document whose apiVersion is not what `version` would be given today."""
    served = serving(api_version)
    by = f"Kubernetes {served[0]} to {served[-1]}" if len(served) > 1 else f"Kubernetes {served[0]}"
    if version not in served:
        return f"{api_version} is served by {by}, not by {version}: kube-scheduler {version} would refuse the file"
    if not chosen and version != NEWEST:
        return f"{api_version} is served by {by}: replaying {version}, as no version was given"
    return None
